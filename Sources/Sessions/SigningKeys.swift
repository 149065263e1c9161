import StrictJSON

/// The published keys of the deployment: several live at once, so that one can follow another.
package struct SigningKeys: Sendable {
    /// Seconds that copies of the published documents may be kept.
    package static let cacheSeconds: Int64 = 3600

    /// A key, and since when it signs, in seconds since 1970.
    package struct Entry: Sendable {
        package var key: SigningKey
        package var activeFrom: Int64

        package init(_ key: SigningKey, activeFrom: Int64) {
            self.key = key
            self.activeFrom = activeFrom
        }
    }

    package let keys: [SigningKey]
    /// A JWK set (RFC 7517 §5) of all keys, in their order.
    package let jwksJSON: String
    /// `{kid: certificate in PEM}` of the RS256 keys, in their order.
    ///
    /// Those alone: Admin SDKs verify nothing else, and the one for Go gives up on a set with an elliptic-curve key in
    /// it (`auth/token_verifier.go`, `parsePublicKey`).
    package let certificatesJSON: String
    private let entries: [Entry]
    private let byID: [String: SigningKey]

    /// - Parameter entries: in the order in which they sign; all verify. A key that comes twice counts once.
    package init(_ entries: [Entry]) {
        var byID: [String: SigningKey] = [:]
        let entries = entries.filter { byID.updateValue($0.key, forKey: $0.key.kid) == nil }
        let keys = entries.map(\.key)
        self.entries = entries
        self.keys = keys
        self.byID = byID
        self.jwksJSON = "{\"keys\":[" + keys.map(\.jwk).joined(separator: ",") + "]}"
        var certificates = JSONText(capacity: 4096)
        certificates.openObject()
        for key in keys where key.algorithm == .rs256 { certificates.member(key.kid, key.certificatePEM) }
        certificates.closeObject()
        self.certificatesJSON = certificates.text
    }

    /// Keys that have signed since ever.
    package init(_ keys: [SigningKey]) { self.init(keys.map { Entry($0, activeFrom: 0) }) }

    /// The key that signs with an algorithm at some time: the last one whose turn has come.
    ///
    /// A node whose clock is behind that of the one that made the only key signs with it too. Nil when there is none.
    package func signer(for algorithm: SigningAlgorithm, at seconds: Int64) -> SigningKey? {
        let isSigner = { (entry: Entry) in entry.key.algorithm == algorithm && entry.key.signs }
        let entry = entries.last { isSigner($0) && $0.activeFrom <= seconds } ?? entries.first(where: isSigner)
        return entry?.key
    }

    /// Whether tokens are signed with an algorithm.
    package func sign(with algorithm: SigningAlgorithm) -> Bool {
        keys.contains { $0.algorithm == algorithm && $0.signs }
    }

    package func key(_ kid: String) -> SigningKey? { byID[kid] }

    /// The key whose tokens have this header, base64url.
    func key(header: ArraySlice<UInt8>) -> SigningKey? {
        keys.first { $0.encodedHeader.elementsEqual(header) }
    }
}
