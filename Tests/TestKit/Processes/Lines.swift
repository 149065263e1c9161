import Foundation
import Synchronization

/// The lines that come out of a pipe, kept, for any number of waiters.
final class Lines: Sendable {
    private struct Waiter {
        var isWanted: @Sendable (String) -> Bool
        var continuation: CheckedContinuation<String?, Never>
    }

    private struct State {
        var lines: [String] = []
        var rest = Data()
        var hasEnded = false
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    /// Where the program writes.
    let end: FileHandle

    init() throws {
        // Not `Pipe`: its ends pass on to whatever another test starts meanwhile, and ours would never be closed.
        let path = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        guard unsafe mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        // Without the flag it would wait for the other end.
        let reading = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writing = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard reading >= 0, writing >= 0, fcntl(reading, F_SETFL, 0) == 0 else { throw CocoaError(.fileReadUnknown) }
        end = FileHandle(fileDescriptor: writing, closeOnDealloc: true)
        let reader = FileHandle(fileDescriptor: reading, closeOnDealloc: true)
        let thread = Thread { [self] in
            var data = Data()
            repeat {
                data = reader.availableData
                take(data)
            } while !data.isEmpty
        }
        thread.name = "lines"
        thread.start()
    }

    /// Once the program has it, or is not going to.
    func closeEnd() { try? end.close() }

    var all: [String] { state.withLock { $0.lines } }

    /// The first line of that kind, waited for; nil when the pipe ends without.
    func first(where isWanted: @escaping @Sendable (String) -> Bool) async -> String? {
        await withCheckedContinuation { continuation in
            let (line, isOver) = state.withLock { state in
                let line = state.lines.first(where: isWanted)
                if line == nil, !state.hasEnded {
                    state.waiters.append(Waiter(isWanted: isWanted, continuation: continuation))
                }
                return (line, line != nil || state.hasEnded)
            }
            if isOver { continuation.resume(returning: line) }
        }
    }

    /// All lines, once the pipe has ended.
    func whole() async -> [String] {
        _ = await first { _ in false }
        return all
    }

    private func take(_ data: Data) {
        let ready: [(CheckedContinuation<String?, Never>, String?)] = state.withLock { state in
            state.rest.append(data)
            while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
                state.lines.append(String(decoding: state.rest[..<end], as: UTF8.self))
                state.rest = Data(state.rest[state.rest.index(after: end)...])
            }
            if data.isEmpty {
                state.hasEnded = true
                if !state.rest.isEmpty { state.lines.append(String(decoding: state.rest, as: UTF8.self)) }
                state.rest = Data()
            }
            var ready: [(CheckedContinuation<String?, Never>, String?)] = []
            state.waiters.removeAll { waiter in
                let line = state.lines.first(where: waiter.isWanted)
                guard line != nil || state.hasEnded else { return false }
                ready.append((waiter.continuation, line))
                return true
            }
            return ready
        }
        for (continuation, line) in ready { continuation.resume(returning: line) }
    }
}
