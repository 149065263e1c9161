import Secrets

/// The identifier of an authenticator's model, such as a password manager (WebAuthn §6.5.1).
///
/// It proves nothing without a verified attestation. All zeros means that the authenticator does not say.
package struct AAGUID: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Nil unless there are 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// 36 lowercase characters (RFC 9562 §4).
    package var description: String {
        [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]].map { Array($0).lowercaseHex }
            .joined(separator: "-")
    }

    /// What users call the authenticator; nil for one that is not in our list.
    package var name: String? { Self.names[description] }

    /// Password managers with many users, from
    /// [the community's list](https://github.com/passkeydeveloper/passkey-authenticator-aaguids) (August 2026).
    private static let names = [
        "08987058-cadc-4b81-b6e1-30de50dcbe96": "Windows Hello",
        "0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6": "Keeper",
        "50726f74-6f6e-5061-7373-50726f746f6e": "Proton Pass",
        "531126d6-e717-415c-9320-3d9aa6981239": "Dashlane",
        "53414d53-554e-4700-0000-000000000000": "Samsung Pass",
        "6028b017-b1d4-4c02-b4b3-afcdafc96bb2": "Windows Hello",
        "771b48fd-d3d4-4f74-9232-fc157ab0507a": "Edge on Mac",
        "9ddd1817-af5a-4672-a2b9-3e3dd95000a9": "Windows Hello",
        "adce0002-35bc-c60a-648b-0b25f1f05503": "Chrome on Mac",
        "b5397666-4885-aa6b-cebf-e52262a439a2": "Chromium Browser",
        "b78a0a55-6ef8-d246-a042-ba0f6d55050c": "LastPass",
        "b84e4048-15dc-4dd0-8640-f4f60813c8af": "NordPass",
        "bada5566-a7aa-401f-bd96-45619a55120d": "1Password",
        "d3452668-01fd-4c12-926c-83a4204853aa": "Microsoft Password Manager",
        "d548826e-79b4-db40-a3d8-11116f7e8349": "Bitwarden",
        "dd4ec289-e01d-41c9-bb89-70fa845d4bf2": "iCloud Keychain (Managed)",
        "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4": "Google Password Manager",
        "eaecdef2-1c31-5634-8639-f1cbd9c00a08": "KeePassDX",
        "f3809540-7f14-49c1-a8b3-8f813b225541": "Enpass",
        "fbfc3007-154e-4ecc-8c0b-6e020557d7bd": "Apple Passwords",
        "fdb141b2-5d84-443e-8a35-4698c205a502": "KeePassXC",
    ]
}
