import Foundation
import IdentityCore

extension SessionKeeper {
    /// The session now, and after each change; only the newest waits for a slow reader.
    func changes() -> AsyncStream<Session?> {
        let (stream, continuation) = AsyncStream.makeStream(of: Session?.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
        }
        state.withLock {
            $0.watchers[id] = continuation
            continuation.yield($0.session)
        }
        return stream
    }

    func notify() {
        state.withLock { state in
            for watcher in state.watchers.values { watcher.yield(state.session) }
        }
    }
}
