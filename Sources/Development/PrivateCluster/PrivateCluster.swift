import Foundation
import Postgres
import ServiceLifecycle
import Synchronization

/// A PostgreSQL of our own in a folder: on a socket alone, closed to others, stopped with us even after a crash.
///
/// The server belongs to a thread that lives as long as it does: the kernel interrupts it when that thread ends.
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
    ///   - folder: made when it is missing, and kept.
    ///   - durable: off for data that a crash may take, which makes the server faster.
    ///   - settings: more settings of the server, such as `shared_preload_libraries`.
    package init(folder: String, durable: Bool = true, settings: [String: String] = [:]) {
        self.folder = folder
        self.durable = durable
        self.settings = settings
    }

    deinit { requestStop() }

    /// How to connect while the server runs.
    package var conninfo: String? { state.withLock { $0.conninfo } }

    /// Where the data is while the server runs: another folder than the wanted one when its user can't enter that.
    package var location: String? { state.withLock { $0.location } }

    /// How to connect to the server that another process runs in a folder, or nil when none does.
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

    /// Starts the server, and makes its data when the folder is new; returns when it takes connections.
    /// - Throws: ``PrivateClusterError``.
    package func start() async throws {
        guard state.withLock({ $0.processID == nil }) else { throw PrivateClusterError.alreadyRunning(folder: folder) }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { [self] in own(continuation) }
            thread.name = "private-postgres"
            thread.start()
        }
    }

    /// Stops the server, which ends open transactions and writes everything down first.
    package func stop() async {
        requestStop()
        await waitUntilEnded()
    }

    /// Runs until told to stop; ``start()`` comes before.
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
            // SIGINT asks for the fast mode.
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
        // Syncing file by file, as initdb would, takes seconds; nobody need wait for it.
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

    /// Starts the server and waits until it takes connections.
    private func launch(in folder: borrowing ClusterFolder) throws -> Process {
        let programs = try ServerPrograms.fitting(folder.data)
        try endPredecessor(data: folder.data)
        if folder.isNew { try initialize(folder, with: programs) }

        let (program, arguments) = ServerUser.dependentCommandLine(
            "\(programs.folder)/postgres",
            ["-D", folder.data, "-p", "5432"] + serverSettings(folder).flatMap { ["-c", "\($0)=\($1)"] }
        )
        let server = Command.process(program, arguments)
        // Opened by us, so that the server's user needs no right to make it.
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
        // Renamed when it is whole, as an interrupted initdb leaves what looks like a database.
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

    /// Ends a server whose owner is gone, as we have the lock now; one that was killed itself leaves a stale file.
    private func endPredecessor(data: String) throws {
        guard let postmaster = Postmaster(data: data) else { return }
        let deadline = ContinuousClock.now + .seconds(10)
        while postmaster.isAlive(data: data) {
            guard ContinuousClock.now < deadline else { throw PrivateClusterError.alreadyRunning(folder: folder) }
            kill(postmaster.processID, SIGINT)
            Thread.sleep(forTimeInterval: 0.05)
        }
        // The server would take any process of its user with that number for its predecessor.
        try? FileManager.default.removeItem(atPath: "\(data)/postmaster.pid")
    }
}
