import Foundation
import Synchronization

/// A program that runs beside the tests: what it writes, line by line, and how it ends.
package final class Program: Sendable {
    package let processID: Int32
    private let output: Lines
    private let errors: Lines
    private let ending: Ending

    /// Starts a program and hands it over; whatever becomes of `body`, it has ended afterwards.
    package static func with<R>(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        _ body: (Program) async throws -> R
    ) async throws -> R {
        let program = try await Program(path, arguments, environment: environment)
        do {
            let result = try await body(program)
            await program.stop()
            return result
        } catch {
            await program.stop()
            throw error
        }
    }

    /// Runs a program to its end.
    ///
    /// - Parameter limit: after which it is killed, so that one that does not end is a failure and nothing hangs.
    package static func run(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        within limit: Duration = Patience.limit
    ) async throws -> Result {
        let program = try await Program(path, arguments, environment: environment)
        return await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                program.crash()
            }
            let result = await program.result()
            tasks.cancelAll()
            return result
        }
    }

    package struct Result: Sendable, CustomStringConvertible {
        package var status: Int32
        package var output: String
        package var errors: String

        package var description: String { "status \(status)\n\(output)\n\(errors)" }
    }

    /// - Parameter environment: besides the few variables that every program needs.
    private init(_ path: String, _ arguments: [String], environment: [String: String]) async throws {
        let (output, errors, ending) = (try Lines(), try Lines(), Ending())
        defer {
            output.closeEnd()
            errors.closeEnd()
        }
        let environment = Self.inherited.merging(environment) { $1 }
        let (outputEnd, errorsEnd) = (output.end.fileDescriptor, errors.end.fileDescriptor)
        // The kernel ends the program with the thread that started it: that one waits for it.
        processID = try await withCheckedThrowingContinuation { started in
            let thread = Thread {
                do {
                    let processID = try Spawn.start(
                        path,
                        arguments,
                        environment: environment,
                        output: outputEnd,
                        errors: errorsEnd
                    )
                    started.resume(returning: processID)
                    ending.end(with: Spawn.wait(for: processID))
                } catch {
                    started.resume(throwing: error)
                }
            }
            thread.name = "program"
            thread.start()
        }
        (self.ending, self.output, self.errors) = (ending, output, errors)
    }

    /// Nothing that configures the service, or libpq.
    private static var inherited: [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in
            ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"].contains(name)
        }
    }

    /// All that it has written to standard output, and to standard error.
    package var written: (output: [String], errors: [String]) { (output.all, errors.all) }

    /// The first line of standard output that begins so.
    /// - Throws: ``ProgramEnded`` when the program ends without it.
    package func line(beginningWith prefix: String) async throws -> String {
        try await line { $0.hasPrefix(prefix) }
    }

    /// - Throws: ``ProgramEnded`` when the program ends without such a line.
    package func line(where isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
        if let line = await output.first(where: isWanted) { return line }
        throw ProgramEnded(result: await result())
    }

    /// As Ctrl-C does.
    package func interrupt() { send(SIGINT) }
    package func terminate() { send(SIGTERM) }
    /// Leaves it no time for anything.
    package func crash() { send(SIGKILL) }

    private func send(_ signal: Int32) {
        guard !ending.hasCome else { return }
        _ = kill(processID, signal)
    }

    /// Waits for the end, and all that was written until then.
    package func result() async -> Result {
        let status = await ending.status()
        return Result(
            status: status,
            output: await output.whole().joined(separator: "\n"),
            errors: await errors.whole().joined(separator: "\n")
        )
    }

    private func stop() async {
        terminate()
        _ = await ending.status()
    }
}

/// A program ended before it did what was waited for.
package struct ProgramEnded: Error, CustomStringConvertible {
    package var result: Program.Result
    package var description: String { "ended early: \(result)" }
}

/// How a process ended, for any number of waiters.
private final class Ending: Sendable {
    private struct State {
        var status: Int32?
        var waiters: [CheckedContinuation<Int32, Never>] = []
    }

    private let state = Mutex(State())

    var hasCome: Bool { state.withLock { $0.status != nil } }

    func end(with status: Int32) {
        let waiters = state.withLock { state in
            state.status = status
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: status) }
    }

    func status() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state in
                if state.status == nil { state.waiters.append(continuation) }
                return state.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }
}
