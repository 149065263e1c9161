// Not built on Linux: Client/scripts/check-apple type-checks it there.
#if canImport(Security)
public import Foundation
import Security

/// Keeps the session in the Keychain.
///
/// The record is readable after the first unlock, so that a refresh in the background works, and stays on the device.
public struct KeychainSessionStorage: SessionStorage {
    private let account: String
    private let service: String
    private let accessGroup: String?
    public let lockFile: URL?

    /// - Parameters:
    ///   - service: names the record, for example the bundle ID of the app.
    ///   - account: for apps with several sessions, one name for each.
    ///   - accessGroup: an access group that the app shares with its extensions.
    ///   - lockFile: a file in their app group's container; nil if only one process uses the record. iOS may end an app
    ///     that it suspends while the lock is held. Extend the app's time with
    ///     `ProcessInfo.performExpiringActivity` around calls in the background.
    public init(service: String, account: String = "session", accessGroup: String? = nil, lockFile: URL? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
        self.lockFile = lockFile
    }

    public func read() throws(SessionStorageError) -> Data? {
        var query = record
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = result as? Data else { throw .keychain(status: status) }
        return data
    }

    public func write(_ data: Data) throws(SessionStorageError) {
        let values: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(record as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(record.merging(values) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw .keychain(status: status) }
    }

    public func remove() throws(SessionStorageError) {
        let status = SecItemDelete(record as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw .keychain(status: status) }
    }

    private var record: [String: Any] {
        var record: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { record[kSecAttrAccessGroup as String] = accessGroup }
        return record
    }
}
#endif
