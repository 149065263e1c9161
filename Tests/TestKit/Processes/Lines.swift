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

    init(reading pipe: Pipe) {
        pipe.fileHandleForReading.readabilityHandler = { [self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            take(data)
        }
    }

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
