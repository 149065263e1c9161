import Foundation

/// A mutex with condition variables, which `Mutex` does not have.
///
/// `@unchecked Sendable`: the pointer never changes, and the object behind it is thread-safe.
final class Lock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let failure = pthread_mutex_init(mutex, nil)
        precondition(failure == 0, "no mutex")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<T>(_ body: () throws -> T) rethrows -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// A condition variable for the lock, for one waiting thread at a time.
    ///
    /// `@unchecked Sendable` for the same reason as the lock.
    final class Signal: @unchecked Sendable {
        private let condition: UnsafeMutablePointer<pthread_cond_t>
        private let lock: Lock

        init(_ lock: Lock) {
            self.lock = lock
            condition = .allocate(capacity: 1)
            condition.initialize(to: pthread_cond_t())
            let failure = pthread_cond_init(condition, nil)
            precondition(failure == 0, "no condition variable")
        }

        deinit {
            pthread_cond_destroy(condition)
            condition.deallocate()
        }

        func send() {
            pthread_cond_signal(condition)
        }

        /// Releases the lock until a signal arrives; may return early, so the caller checks its condition again.
        func wait() {
            pthread_cond_wait(condition, lock.mutex)
        }

        /// As `wait()`, but with a maximum time.
        func wait(atMost limit: Duration) {
            guard limit > .zero else { return }
            var until = timespec()
            clock_gettime(CLOCK_REALTIME, &until)
            let (seconds, attoseconds) = limit.components
            let nanoseconds = Int(until.tv_nsec) + Int(attoseconds / 1_000_000_000)
            until.tv_sec += Int(clamping: seconds) + nanoseconds / 1_000_000_000
            until.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, lock.mutex, &until)
        }
    }
}
