#if canImport(os)
import os
#else
import Synchronization
#endif

/// Guards a value with a lock.
///
/// `Mutex` itself requires iOS 18 and macOS 15.
package final class Protected<Value: Sendable>: Sendable {
    #if canImport(os)
    private let lock: OSAllocatedUnfairLock<Value>

    package init(_ value: Value) { self.lock = OSAllocatedUnfairLock(initialState: value) }

    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLockUnchecked(body)
    }
    #else
    private let mutex: Mutex<Value>

    package init(_ value: Value) { self.mutex = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try mutex.withLock { value in try body(&value) }
    }
    #endif
}
