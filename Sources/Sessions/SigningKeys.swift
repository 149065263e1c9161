import StrictJSON

/// The published keys of the deployment; several at a time, so that keys can rotate.
package struct SigningKeys: Sendable {
    /// The maximum time in seconds for which verifiers may cache the published documents.
    ///
    /// Below or at one hour, Ruby's firebase_id_token refuses them. A new key is published a day before it signs.
    package static let cacheSeconds: Int64 = 7200

    /// A key and the time from which it signs, in seconds since 1970.
    package struct Entry: Sendable {
        package var key: SigningKey
        package var activeFrom: Int64

        package init(_ key: SigningKey, activeFrom: Int64) {
            self.key = key
            self.activeFrom = activeFrom
        }
    }

    package let keys: [SigningKey]
    private let jwksByAlgorithms: [Set<SigningAlgorithm>: String]
    /// `{kid: certificate in PEM}` of the RS256 keys, in their order.
    ///
    /// Only those: Admin SDKs verify nothing else, and the Go SDK fails on a set with an elliptic-curve key
    /// (`auth/token_verifier.go`, `parsePublicKey`).
    package let certificatesJSON: String
    private let entries: [Entry]
    private let byID: [String: SigningKey]

    /// - Parameter entries: in the order in which they sign; all verify.
    ///
    /// Duplicates are ignored.
    package init(_ entries: [Entry]) {
        var byID: [String: SigningKey] = [:]
        let entries = entries.filter { byID.updateValue($0.key, forKey: $0.key.kid) == nil }
        let keys = entries.map(\.key)
        self.entries = entries
        self.keys = keys
        self.byID = byID
        let sets: [Set<SigningAlgorithm>] = [[.rs256], [.es256], [.rs256, .es256]]
        jwksByAlgorithms = Dictionary(
            uniqueKeysWithValues: sets.map { algorithms in
                let jwks = keys.filter { algorithms.contains($0.algorithm) }.map(\.jwk)
                return (algorithms, "{\"keys\":[" + jwks.joined(separator: ",") + "]}")
            }
        )
        var certificates = JSONText(capacity: 4096)
        certificates.openObject()
        for key in keys where key.algorithm == .rs256 { certificates.member(key.kid, key.certificatePEM) }
        certificates.closeObject()
        self.certificatesJSON = certificates.text
    }

    /// Creates a set of keys that have always signed.
    package init(_ keys: [SigningKey]) { self.init(keys.map { Entry($0, activeFrom: 0) }) }

    /// A JWK set (RFC 7517 §5) of all keys with these algorithms, in their order.
    ///
    /// Rust's firebase-auth does not start with a set that has a key of a kind that it does not know.
    package func jwksJSON(of algorithms: Set<SigningAlgorithm> = Set(SigningAlgorithm.allCases)) -> String {
        jwksByAlgorithms[algorithms] ?? #"{"keys":[]}"#
    }

    /// The key that signs with an algorithm at a time: the latest one whose time has come.
    ///
    /// A node whose clock is behind that of the node that created the only key uses it too. Nil if there is none.
    package func signer(for algorithm: SigningAlgorithm, at seconds: Int64) -> SigningKey? {
        let isSigner = { (index: Int) in entries[index].key.algorithm == algorithm && entries[index].key.signs }
        let index =
            entries.indices.last { isSigner($0) && entries[$0].activeFrom <= seconds }
            ?? entries.indices.first(where: isSigner)
        return index.map { entries[$0].key }
    }

    /// Whether any key signs tokens with an algorithm.
    package func sign(with algorithm: SigningAlgorithm) -> Bool {
        keys.contains { $0.algorithm == algorithm && $0.signs }
    }

    package func key(_ kid: String) -> SigningKey? { byID[kid] }

    /// The key whose tokens have this header, in base64url.
    func key(header: ArraySlice<UInt8>) -> SigningKey? {
        keys.first { $0.encodedHeader.elementsEqual(header) }
    }
}
