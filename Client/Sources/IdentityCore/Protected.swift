#if canImport(os)
package import os
#else
package import Synchronization
#endif

/// Guards a value with a lock.
///
/// `Mutex` itself requires iOS 18 and macOS 15. Inlinable, because a generic call across modules takes longer than the
/// lock.
package final class Protected<Value: Sendable>: Sendable {
    #if canImport(os)
    @usableFromInline let lock: OSAllocatedUnfairLock<Value>

    package init(_ value: Value) { self.lock = OSAllocatedUnfairLock(initialState: value) }

    @inlinable
    @inline(__always)
    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLockUnchecked(body)
    }
    #else
    @usableFromInline let mutex: Mutex<Value>

    package init(_ value: Value) { self.mutex = Mutex(value) }

    @inlinable
    @inline(__always)
    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try mutex.withLock { value in try body(&value) }
    }
    #endif
}
