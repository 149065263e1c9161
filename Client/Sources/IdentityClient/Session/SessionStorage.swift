public import Foundation
import IdentityCore

/// Where a session is kept between launches.
///
/// ``Auth`` writes one record, and only while it holds ``lockFile``. Processes that share a store (an app and its
/// widget) share the lock file.
public protocol SessionStorage: Sendable {
    /// Returns nil if there is no record.
    func read() throws(SessionStorageError) -> Data?
    /// Replaces the record. After a power failure, the store has the old record or the new one.
    func write(_ record: Data) throws(SessionStorageError)
    /// Removes the record; does nothing if there is none.
    func remove() throws(SessionStorageError)
    /// A file that processes lock with `flock` before they change the record; nil if no other process has the store.
    var lockFile: URL? { get }
}

/// Why a session could not be read or stored.
///
/// The session in memory continues.
public enum SessionStorageError: Error, Sendable, Hashable {
    case diskFull
    /// Another error of a system call, with `errno`.
    case system(code: Int32)
    /// An error of the Keychain, with its `OSStatus`.
    case keychain(status: Int32)
    /// A newer version of this package wrote the record. It is left as it is.
    case newerVersion(Int)
    /// The record belongs to another service, API key or tenant. Use one store for each.
    case otherProject
    /// The record cannot be decoded. It is left as it is; a sign-in replaces it.
    case unreadable
    /// Another process held the lock for a minute.
    case lockTimeout
}

/// Keeps the session in memory: it ends with the process.
public final class MemorySessionStorage: SessionStorage {
    private let record = Protected<Data?>(nil)

    public init() {}

    public func read() -> Data? { record.withLock { $0 } }
    public func write(_ record: Data) { self.record.withLock { $0 = record } }
    public func remove() { record.withLock { $0 = nil } }
    public var lockFile: URL? { nil }
}
