import Foundation
import Logging

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
    /// Whether journald reads it, as systemd says (systemd.exec(5), `JOURNAL_STREAM`).
    private let isJournal: Bool
    private let condition = NSCondition()
    private var waiting = Data()
    private var isWriting = false
    private var dropped: UInt64 = 0

    private init(_ file: FileHandle) {
        self.file = file
        isJournal = file.isStream(ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
        Thread.detachNewThread { [self] in
            while true { file.say(take()) }
        }
    }

    /// Lines that were dropped since the start.
    static var droppedLines: UInt64 {
        [output, errors].reduce(0) { sum, writer in sum + writer.condition.withLock { writer.dropped } }
    }

    /// - Parameter level: by which journald sorts the line.
    func write(_ line: Data, at level: Logger.Level? = nil) {
        let line = level.map { isJournal ? Data("<\($0.journalPriority)>".utf8) + line : line } ?? line
        condition.withLock {
            guard waiting.count + line.count <= Self.limit else { return dropped += 1 }
            waiting += line
            condition.broadcast()
        }
    }

    /// Waits until everything is written, at most five seconds.
    static func flush() {
        for writer in [output, errors] {
            let deadline = Date(timeIntervalSinceNow: 5)
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

extension FileHandle {
    /// - Parameter stream: the `device:inode` of a socket or pipe, which are all of one device.
    fileprivate func isStream(_ stream: String?) -> Bool {
        guard let inode = stream?.split(separator: ":").last else { return false }
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(fileDescriptor)")
        return target?.hasSuffix(":[\(inode)]") ?? false
    }
}

extension Logger.Level {
    /// sd-daemon(3).
    fileprivate var journalPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
