import Domain
import Foundation

/// The column `passkeys` of an account: a JSON array in the order of enrollment, null for none.
enum PasskeyColumn {
    static func text(of passkeys: [Passkey]) throws -> String? {
        guard !passkeys.isEmpty else { return nil }
        return String(decoding: try JSONEncoder().encode(passkeys.map(Entry.init)), as: UTF8.self)
    }

    static func passkeys(in text: String?) throws -> [Passkey] {
        guard let text else { return [] }
        return try JSONDecoder().decode([Entry].self, from: Data(text.utf8)).map(\.passkey)
    }

    private struct Entry: Codable {
        var id: String
        var userHandle: Data
        var publicKey: Data
        var signCount: UInt32
        var hasVerifiedUser: Bool
        var isBackupEligible: Bool
        var isBackedUp: Bool
        var transports: [String]
        var aaguid: Data
        var attestation: String
        var name: String?
        /// Seconds since 1970.
        var enrolledAt: Double
        var lastUsedAt: Double?

        init(_ passkey: Passkey) {
            id = passkey.id
            userHandle = Data(passkey.userHandle)
            publicKey = Data(passkey.publicKey)
            signCount = passkey.signCount
            hasVerifiedUser = passkey.hasVerifiedUser
            isBackupEligible = passkey.isBackupEligible
            isBackedUp = passkey.isBackedUp
            transports = passkey.transports
            aaguid = Data(passkey.aaguid)
            attestation = passkey.attestation
            name = passkey.name
            enrolledAt = passkey.enrolledAt.timeIntervalSince1970
            lastUsedAt = passkey.lastUsedAt?.timeIntervalSince1970
        }

        var passkey: Passkey {
            Passkey(
                id: id,
                userHandle: [UInt8](userHandle),
                publicKey: [UInt8](publicKey),
                signCount: signCount,
                hasVerifiedUser: hasVerifiedUser,
                isBackupEligible: isBackupEligible,
                isBackedUp: isBackedUp,
                transports: transports,
                aaguid: [UInt8](aaguid),
                attestation: attestation,
                name: name,
                enrolledAt: Date(timeIntervalSince1970: enrolledAt),
                lastUsedAt: lastUsedAt.map { Date(timeIntervalSince1970: $0) }
            )
        }
    }
}
