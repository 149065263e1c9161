import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock on a file, held by at most one process; the system releases it when the process ends.
struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// Waits for the lock, at most a minute.
    ///
    /// Asks again and again instead of blocking a thread, so that a wait can end.
    /// - Throws: ``SessionStorageError/lockTimeout``, or the error that prevented opening the file.
    static func acquire(_ file: URL) async throws(SessionStorageError) -> FileLock {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SessionStorageError(errno) }
        let lock = FileLock(descriptor: descriptor)
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        var pause = 1
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SessionStorageError(errno) }
            guard .now < deadline else { throw .lockTimeout }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 1...pause)))
            pause = min(pause * 2, 32)
        }
        return lock
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    consuming func release() {}

    deinit { close(descriptor) }
}
