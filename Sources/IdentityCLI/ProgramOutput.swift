import Foundation

/// The output of another program, within limits of time and size.
enum ProgramOutput {
    /// Why there is none, without anything from the output.
    struct Failure: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    private enum Event: Sendable {
        case failed
        case started(Int32)
        case ended(Data, status: Int32)
        case late
    }

    private static let timeLimit = Duration.seconds(10)

    /// Runs a program without a shell until it exits; its standard error is dropped.
    ///
    /// A program that takes too long or prints too much is killed.
    static func read(_ command: [String], upTo limit: Int) async throws(Failure) -> Data {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        // It blocks, so it must not run on a cooperative thread.
        Thread.detachNewThread {
            run(command, upTo: limit) { continuation.yield($0) }
            continuation.finish()
        }
        async let _: Void = {
            try? await Task.sleep(for: timeLimit)
            continuation.yield(.late)
        }()
        var running: Int32?
        for await event in events {
            switch event {
            case .failed: throw Failure("cannot run \(command[0])")
            case .started(let process): running = process
            case .ended(let data, _) where data.count > limit: throw Failure("\(command[0]) printed too much")
            case .ended(let data, 0): return data
            case .ended(_, let status): throw Failure("\(command[0]) exited with \(status)")
            case .late:
                if let running { kill(running, SIGKILL) }
                throw Failure("\(command[0]) took longer than \(timeLimit.components.seconds) seconds")
            }
        }
        throw Failure("\(command[0]) was interrupted")
    }

    private static func run(_ command: [String], upTo limit: Int, _ report: (Event) -> Void) {
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return report(.failed) }
        report(.started(process.processIdentifier))
        let data = (try? output.fileHandleForReading.read(upToCount: limit + 1)) ?? Data()
        if data.count > limit { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        report(.ended(data, status: process.terminationReason == .exit ? process.terminationStatus : -1))
    }
}
