/// What the authenticator says and signs (WebAuthn §6.1).
package struct AuthenticatorData: Sendable, Equatable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// UP.
        package static let userPresent = Flags(rawValue: 1 << 0)
        /// UV.
        package static let userVerified = Flags(rawValue: 1 << 2)
        /// BE.
        package static let backupEligible = Flags(rawValue: 1 << 3)
        /// BS.
        package static let backedUp = Flags(rawValue: 1 << 4)
        /// AT.
        static let attestedCredential = Flags(rawValue: 1 << 6)
        /// ED.
        static let extensions = Flags(rawValue: 1 << 7)

        /// Only what may be backed up can be backed up (WebAuthn §6.1.3).
        var haveValidBackupState: Bool { contains(.backupEligible) || !contains(.backedUp) }
    }

    /// A new credential (WebAuthn §6.5.1).
    package struct AttestedCredential: Sendable, Equatable {
        package let aaguid: AAGUID
        /// Up to 65,535 bytes as far as the format goes.
        package let id: [UInt8]
        /// COSE, not yet interpreted.
        package let publicKey: [UInt8]
    }

    package let bytes: [UInt8]
    package let relyingPartyHash: [UInt8]
    package let flags: Flags
    package let signCount: UInt32
    package let credential: AttestedCredential?
    /// The outputs of authenticator extensions by their identifiers.
    package let extensions: [CBOR.Entry]

    /// - Throws: `malformedAuthenticatorData`, also if anything is left over.
    package init(_ bytes: [UInt8]) throws(PasskeyError) {
        guard (37...CBORReader.limit).contains(bytes.count) else { throw .malformedAuthenticatorData }
        self.bytes = bytes
        relyingPartyHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var end = 37
        credential = flags.contains(.attestedCredential) ? try Self.credential(in: bytes, end: &end) : nil
        extensions = flags.contains(.extensions) ? try Self.extensions(in: bytes, end: &end) : []
        guard end == bytes.count else { throw .malformedAuthenticatorData }
    }

    private static func credential(in bytes: [UInt8], end: inout Int) throws(PasskeyError) -> AttestedCredential {
        let id = end + 18
        guard bytes.count >= id, let aaguid = AAGUID(bytes: bytes[end..<end + 16]) else {
            throw .malformedAuthenticatorData
        }
        let key = id + Int(bytes[end + 16]) << 8 + Int(bytes[end + 17])
        guard bytes.count > key else { throw .malformedAuthenticatorData }
        _ = try item(in: bytes, from: key, end: &end)
        return AttestedCredential(aaguid: aaguid, id: Array(bytes[id..<key]), publicKey: Array(bytes[key..<end]))
    }

    private static func extensions(in bytes: [UInt8], end: inout Int) throws(PasskeyError) -> [CBOR.Entry] {
        guard let outputs = try item(in: bytes, from: end, end: &end).map, outputs.allSatisfy({ $0.key.text != nil })
        else { throw .malformedAuthenticatorData }
        return outputs
    }

    private static func item(in bytes: [UInt8], from start: Int, end: inout Int) throws(PasskeyError) -> CBOR {
        do throws(CBORError) {
            var reader = try CBORReader(bytes, at: start)
            let item = try reader.item()
            end = reader.position
            return item
        } catch {
            throw .malformedAuthenticatorData
        }
    }
}
