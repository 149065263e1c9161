public import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Keeps the session in a file that only its owner can read (mode 0600).
///
/// A write goes to a file beside it, which is synced and then renamed.
public struct FileSessionStorage: SessionStorage {
    private let file: URL

    /// - Parameter file: its folder must exist, belong to the user, and be on a local disk.
    public init(file: URL) { self.file = file }

    public var lockFile: URL? { file.appendingPathExtension("lock") }

    public func read() throws(SessionStorageError) -> Data? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw SessionStorageError(errno)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do { return try handle.read(upToCount: Self.maximumSize) ?? Data() } catch { throw .system(code: EIO) }
    }

    public func write(_ record: Data) throws(SessionStorageError) {
        let draft = file.appendingPathExtension("new").path
        // A crash may have left one, with any mode.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SessionStorageError(errno) }
        let failure = fill(descriptor, with: record)
        close(descriptor)
        guard failure == 0, rename(draft, file.path) == 0 else {
            let failure = failure == 0 ? errno : failure
            unlink(draft)
            throw SessionStorageError(failure)
        }
        syncFolder()
    }

    public func remove() throws(SessionStorageError) {
        guard unlink(file.path) == 0 || errno == ENOENT else { throw SessionStorageError(errno) }
        syncFolder()
    }

    /// Returns `errno`, or 0.
    private func fill(_ descriptor: Int32, with record: Data) -> Int32 {
        let isWritten = record.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                guard let start = bytes.baseAddress else { return true }
                let count = write(descriptor, start: start + done, count: bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        return isWritten && fsync(descriptor) == 0 ? 0 : errno
    }

    /// Calls `write` of the C library, which a method of this type hides.
    private func write(_ descriptor: Int32, start: UnsafeRawPointer, count: Int) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, start, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, start, count)
        #else
        Darwin.write(descriptor, start, count)
        #endif
    }

    /// Makes the renaming survive a power failure.
    ///
    /// A file system that cannot do that still has one of the two records.
    private func syncFolder() {
        let descriptor = open(file.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Far more than a session needs.
    private static let maximumSize = 1 << 20
}

extension SessionStorageError {
    init(_ code: Int32) { self = code == ENOSPC || code == EDQUOT ? .diskFull : .system(code: code) }
}
