import Foundation
import Synchronization

/// Holds the threads that come to it until it is opened.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false
    private var count = 0

    /// How many threads have come so far.
    var entered: Int { condition.withLock { count } }

    func wait() {
        condition.withLock {
            count += 1
            while !isOpen { condition.wait() }
        }
    }

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }
}
