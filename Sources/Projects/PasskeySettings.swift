package import Passkeys

/// Passkeys: `passkeyConfig` of a project or tenant.
package struct PasskeySettings: Sendable, Hashable, Codable {
    /// The domain that passkeys are bound to, `example.com`; nil turns passkeys off.
    package var relyingPartyID: String?
    /// The app's name in the browser's dialog; nil for the project's ID.
    package var relyingPartyName: String?
    /// The pages and apps that may use them, exactly as clients write their origin.
    package var origins: [String] = []
    package var userVerification = UserVerification.preferred
    /// Refuses a passkey whose signature counter did not increase: a copy of it may exist.
    package var refusesClones = true
    /// Whether a sign-in by another method asks for a passkey of the account, if it has one.
    package var isSecondFactor = false
    /// Whether authenticators are asked who made them, and whether the answer is a condition.
    package var attestation = Attestation.none
    /// The certificates of manufacturers that the project trusts, in PEM.
    package var attestationRoots: [String] = []
    /// Where users manage their passkeys, for password managers.
    package var managementURL: String?
    /// Apple's ID of the developer of the project's iOS apps, `A1B2C3D4E5`.
    package var appleTeamID: String?

    package enum Attestation: String, Sendable, Hashable, Codable, CaseIterable {
        case none
        /// Asked for and recorded; no passkey is refused for it.
        case direct
        /// Only authenticators of ``attestationRoots`` are accepted.
        case required
    }

    package init() {}

    /// Members that a stored value lacks have their defaults.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = PasskeySettings()
        func value<T: Decodable>(_ key: CodingKeys, _ path: KeyPath<PasskeySettings, T>) throws -> T {
            try values.decodeIfPresent(T.self, forKey: key) ?? defaults[keyPath: path]
        }
        relyingPartyID = try values.decodeIfPresent(String.self, forKey: .relyingPartyID)
        relyingPartyName = try values.decodeIfPresent(String.self, forKey: .relyingPartyName)
        origins = try value(.origins, \.origins)
        userVerification = try value(.userVerification, \.userVerification)
        refusesClones = try value(.refusesClones, \.refusesClones)
        isSecondFactor = try value(.isSecondFactor, \.isSecondFactor)
        attestation = try value(.attestation, \.attestation)
        attestationRoots = try value(.attestationRoots, \.attestationRoots)
        managementURL = try values.decodeIfPresent(String.self, forKey: .managementURL)
        appleTeamID = try values.decodeIfPresent(String.self, forKey: .appleTeamID)
    }

    package var attestationPolicy: AttestationPolicy {
        let roots = attestationRoots.compactMap { AttestationPolicy.Root(pem: $0) }
        return attestation == .required
            ? AttestationPolicy(accepted: [.certified], roots: roots) : AttestationPolicy(roots: roots)
    }

    /// Nil if passkeys are off.
    package var relyingParty: RelyingParty? {
        guard let relyingPartyID, !origins.isEmpty else { return nil }
        return RelyingParty(id: relyingPartyID, origins: origins)
    }

    package static func isRelyingPartyID(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { $0.wholeMatch(of: /[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?/) != nil }
            && labels.last?.contains { $0.isLetter } ?? false
    }

    /// `https://app.example.com`, `http://localhost:8080`, or the hash of an Android app's signing certificate.
    package static func isOrigin(_ text: String) -> Bool {
        text.wholeMatch(of: /https:\/\/[a-z0-9.\-]{1,253}(:[0-9]{1,5})?/) != nil
            || text.wholeMatch(of: /http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?/) != nil
            || text.wholeMatch(of: /android:apk-key-hash:[A-Za-z0-9_\-]{43}/) != nil
    }
}
