import Foundation
import Postgres
import ServiceLifecycle
import Synchronization

/// Our own PostgreSQL in a folder: reachable only through a socket, closed to other users, and stopped with us even
/// after a crash.
///
/// The server belongs to a thread with the same lifetime: the kernel interrupts the server when that thread ends.
package final class PrivateCluster: Service {
    private let folder: String
    private let durable: Bool
    private let settings: [String: String]

    private struct State {
        var conninfo: String?
        var location: String?
        var processID: Int32?
        var isStopping = false
        var log = ""
        var whenEnded: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - folder: created when missing, and kept.
    ///   - durable: false for data that may be lost in a crash, which makes the server faster.
    ///   - settings: further settings of the server, such as `shared_preload_libraries`.
    package init(folder: String, durable: Bool = true, settings: [String: String] = [:]) {
        self.folder = folder
        self.durable = durable
        self.settings = settings
    }

    deinit { requestStop() }

    /// The connection string while the server runs.
    package var conninfo: String? { state.withLock { $0.conninfo } }

    /// The data folder while the server runs: not the wanted folder when the server's user cannot enter that.
    package var location: String? { state.withLock { $0.location } }

    /// The connection string of the server that another process runs in a folder, or nil when none runs.
    package static func conninfo(ofRunningIn folder: String) -> String? {
        let path = URL(fileURLWithPath: folder).standardizedFileURL.path
        for path in [path, ClusterFolder.substitute(for: path)] {
            guard let postmaster = Postmaster(data: "\(path)/data"), postmaster.isAlive(data: "\(path)/data") else {
                continue
            }
            return postmaster.conninfo
        }
        return nil
    }

    /// Starts the server, creates its data if the folder is new, and returns when the server accepts connections.
    ///
    /// - Throws: ``PrivateClusterError``.
    package func start() async throws {
        guard state.withLock({ $0.processID == nil }) else { throw PrivateClusterError.alreadyRunning(folder: folder) }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { [self] in own(continuation) }
            thread.name = "private-postgres"
            thread.start()
        }
    }

    /// Stops the server, which rolls open transactions back and writes everything to disk first.
    package func stop() async {
        requestStop()
        await waitUntilEnded()
    }

    /// Runs until told to stop; call ``start()`` first.
    ///
    /// - Throws: ``PrivateClusterError/ended(log:)`` when the server ends by itself.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await waitUntilEnded()
        } onCancelOrGracefulShutdown: {
            self.requestStop()
        }
        let (isStopping, log) = state.withLock { ($0.isStopping, $0.log) }
        guard isStopping else { throw PrivateClusterError.ended(log: log) }
    }

    private func requestStop() {
        state.withLock { state in
            state.isStopping = true
            // SIGINT asks for the fast shutdown mode.
            if let processID = state.processID { kill(processID, SIGINT) }
        }
    }

    private func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.processID != nil { state.whenEnded.append(continuation) }
                return state.processID == nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: On the server's thread

    private func own(_ continuation: CheckedContinuation<Void, any Error>) {
        let server: Process
        let folder: ClusterFolder
        let isNew: Bool
        do {
            folder = try ClusterFolder(self.folder)
        } catch {
            return continuation.resume(throwing: error)
        }
        do {
            isNew = folder.isNew
            server = try launch(in: folder)
        } catch {
            folder.close()
            return continuation.resume(throwing: error)
        }
        continuation.resume()
        // Replaces initdb's own sync, which goes file by file and takes seconds; `start()` does not wait for this one.
        if isNew, durable { _ = try? Command.run("/usr/bin/env", ["sync", "-f", folder.data]) }
        server.waitUntilExit()
        let log = ClusterFolder.tail(of: folder.log)
        folder.close()
        let waiting = state.withLock { state in
            state.processID = nil
            state.conninfo = nil
            state.location = nil
            state.log = log
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Starts the server and waits until it accepts connections.
    private func launch(in folder: borrowing ClusterFolder) throws -> Process {
        let programs = try ServerPrograms.fitting(folder.data)
        try endPredecessor(data: folder.data)
        if folder.isNew { try initialize(folder, with: programs) }

        let (program, arguments) = ServerUser.dependentCommandLine(
            "\(programs.folder)/postgres",
            ["-D", folder.data, "-p", "5432"] + serverSettings(folder).flatMap { ["-c", "\($0)=\($1)"] }
        )
        let server = Command.process(program, arguments)
        // We create it, so that the server's user needs no right to do so.
        _ = FileManager.default.createFile(atPath: folder.log, contents: nil, attributes: [.posixPermissions: 0o600])
        let log = FileHandle(forWritingAtPath: folder.log)
        server.standardOutput = log
        server.standardError = log
        try server.run()

        let conninfo = "host=\(Postmaster.quote(folder.socketFolder)) port=5432 user=postgres dbname=postgres"
        let deadline = ContinuousClock.now + .seconds(60)
        while ServerState.ask(conninfo) != .accepting {
            guard server.isRunning, ContinuousClock.now < deadline else {
                server.interrupt()
                server.waitUntilExit()
                throw PrivateClusterError.failed(program: "postgres", log: ClusterFolder.tail(of: folder.log))
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        let path = folder.path
        state.withLock { state in
            state.processID = server.processIdentifier
            state.conninfo = conninfo
            state.location = path
            state.isStopping = false
        }
        return server
    }

    private func serverSettings(_ folder: borrowing ClusterFolder) -> [(String, String)] {
        var settings = ["listen_addresses": "", "unix_socket_directories": folder.socketFolder, "jit": "off"]
        if !durable {
            settings.merge(["fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"]) { $1 }
        }
        settings.merge(self.settings) { $1 }
        return settings.sorted { $0.key < $1.key }
    }

    private func initialize(_ folder: borrowing ClusterFolder, with programs: ServerPrograms) throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: folder.data) else {
            throw PrivateClusterError.unusableFolder(folder.data, reason: "it exists but contains no database")
        }
        // Renamed only when complete, as an interrupted initdb leaves something that looks like a database.
        let unfinished = "\(folder.path)/data.new"
        if files.fileExists(atPath: unfinished) { try files.removeItem(atPath: unfinished) }
        let (program, arguments) = ServerUser.commandLine(
            "\(programs.folder)/initdb",
            [
                "-D", unfinished, "-U", "postgres", "--auth=trust", "--no-instructions", "-E", "UTF8",
                "--locale=C.UTF-8", "--no-sync",
            ]
        )
        let answer = try Command.run(program, arguments)
        guard answer.succeeded else { throw PrivateClusterError.failed(program: "initdb", log: answer.output) }
        try files.moveItem(atPath: unfinished, toPath: folder.data)
    }

    /// Stops a server whose owner is gone, as we hold the lock now; a server that was killed leaves a stale file.
    private func endPredecessor(data: String) throws {
        guard let postmaster = Postmaster(data: data) else { return }
        let deadline = ContinuousClock.now + .seconds(10)
        while postmaster.isAlive(data: data) {
            guard ContinuousClock.now < deadline else { throw PrivateClusterError.alreadyRunning(folder: folder) }
            kill(postmaster.processID, SIGINT)
            Thread.sleep(forTimeInterval: 0.05)
        }
        // The server would mistake any process of its user with that number for its predecessor.
        try? FileManager.default.removeItem(atPath: "\(data)/postmaster.pid")
    }
}
