import Foundation
import Outbound
import Synchronization
import Text

/// A name server that never answers for names under `stalled.example`, or for any name while it is silent.
///
/// Such a lookup holds its thread until the test is over. Other names lead to this machine.
final class StalledNames: Sendable {
    private struct State {
        var lookups: [String: Int] = [:]
        var isSilent = false
    }

    private let state = Mutex(State())
    private let over = NSConditionLock(condition: 0)

    var isSilent: Bool {
        get { state.withLock { $0.isSilent } }
        set { state.withLock { $0.isSilent = newValue } }
    }

    func lookups(_ host: String) -> Int { state.withLock { $0.lookups[host, default: 0] } }

    var resolver: AddressResolver {
        AddressResolver { host in
            let isSilent = self.state.withLock { state in
                state.lookups[host, default: 0] += 1
                return state.isSilent
            }
            guard isSilent || host.hasSuffix("stalled.example") else {
                return [IPAddress("127.0.0.1")].compactMap(\.self)
            }
            if self.over.lock(whenCondition: 1, before: Date(timeIntervalSinceNow: 600)) { self.over.unlock() }
            return []
        }
    }

    /// Ends all lookups.
    func release() {
        over.lock()
        over.unlock(withCondition: 1)
    }
}
