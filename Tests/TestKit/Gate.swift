import Foundation

/// Holds the threads that come to it while it is closed.
///
/// `@unchecked Sendable`: all that changes is guarded by `condition`.
package final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen: Bool
    private var count = 0

    package init(isOpen: Bool = false) { self.isOpen = isOpen }

    /// How many threads have come so far.
    package var entered: Int { condition.withLock { count } }

    package func wait() {
        condition.withLock {
            count += 1
            while !isOpen { condition.wait() }
        }
    }

    package func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    package func close() { condition.withLock { isOpen = false } }
}
