package import Projects
import Synchronization

/// The calls of blocking functions in progress, by project and network.
///
/// One network has a part of its project's calls only: otherwise it could hold all of them while a function is slow, and
/// nobody else would sign in (threats.md, T-E39).
package final class FunctionShares: Sendable {
    private struct Share: Hashable {
        var project: ProjectID
        var network: String
    }

    private let limit: Int
    private let calls = Mutex<[Share: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// Counts a call; false, without counting it, if too many of the network are in progress.
    ///
    /// - Parameter network: nil if unknown, which only the project's share limits.
    package func enter(_ project: ProjectID, _ network: String?) -> Bool {
        guard let network else { return true }
        let share = Share(project: project, network: network)
        return calls.withLock { calls in
            guard calls[share, default: 0] < limit else { return false }
            calls[share, default: 0] += 1
            return true
        }
    }

    package func leave(_ project: ProjectID, _ network: String?) {
        guard let network else { return }
        let share = Share(project: project, network: network)
        calls.withLock { calls in
            guard let count = calls[share] else { return }
            calls[share] = count > 1 ? count - 1 : nil
        }
    }
}
