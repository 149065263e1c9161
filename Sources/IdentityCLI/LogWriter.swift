import Foundation

/// Writes lines of the log on a thread of its own, so that no request waits for the log's reader.
///
/// While the reader stalls, lines wait in memory up to a limit; further ones are dropped and counted.
///
/// `@unchecked Sendable`: `condition` guards everything that changes.
final class LogWriter: @unchecked Sendable {
    static let output = LogWriter(.standardOutput)
    static let errors = LogWriter(.standardError)

    /// Bytes that may wait.
    private static let limit = 4 << 20

    private let file: FileHandle
    private let condition = NSCondition()
    private var waiting = Data()
    private var isWriting = false
    private var dropped: UInt64 = 0

    private init(_ file: FileHandle) {
        self.file = file
        Thread.detachNewThread { [self] in
            while true { file.say(take()) }
        }
    }

    /// Lines that were dropped since the start.
    static var droppedLines: UInt64 {
        [output, errors].reduce(0) { sum, writer in sum + writer.condition.withLock { writer.dropped } }
    }

    func write(_ line: Data) {
        condition.withLock {
            guard waiting.count + line.count <= Self.limit else { return dropped += 1 }
            waiting += line
            condition.broadcast()
        }
    }

    /// Waits until everything is written, at most a second.
    static func flush() {
        for writer in [output, errors] {
            let deadline = Date(timeIntervalSinceNow: 1)
            writer.condition.withLock {
                while writer.isWriting || !writer.waiting.isEmpty, writer.condition.wait(until: deadline) {}
            }
        }
    }

    /// What waits, once there is something.
    private func take() -> Data {
        condition.withLock {
            isWriting = false
            condition.broadcast()
            while waiting.isEmpty { condition.wait() }
            isWriting = true
            defer { waiting = Data() }
            return waiting
        }
    }
}
