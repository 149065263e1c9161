import StrictJSON

/// The keys of the deployment: several live at once, so that one can follow another.
package struct SigningKeys: Sendable {
    package let keys: [SigningKey]
    /// A JWK set (RFC 7517 §5) of all keys, in their order.
    package let jwksJSON: String
    /// `{kid: certificate in PEM}` of the RS256 keys, in their order.
    ///
    /// Those alone: Admin SDKs verify nothing else, and the one for Go gives up on a set with an elliptic-curve key in
    /// it (`auth/token_verifier.go`, `parsePublicKey`).
    package let certificatesJSON: String
    private let byID: [String: SigningKey]

    /// - Parameter keys: the first of an algorithm signs; all verify. A key that comes twice counts once.
    package init(_ keys: [SigningKey]) {
        var byID: [String: SigningKey] = [:]
        let keys = keys.filter { byID.updateValue($0, forKey: $0.kid) == nil }
        self.keys = keys
        self.byID = byID
        self.jwksJSON = "{\"keys\":[" + keys.map(\.jwk).joined(separator: ",") + "]}"
        var certificates = JSONText(capacity: 4096)
        certificates.openObject()
        for key in keys where key.algorithm == .rs256 { certificates.member(key.kid, key.certificatePEM) }
        certificates.closeObject()
        self.certificatesJSON = certificates.text
    }

    /// The key that signs with an algorithm; nil when there is none.
    package func signer(for algorithm: SigningAlgorithm) -> SigningKey? {
        keys.first { $0.algorithm == algorithm }
    }

    package func key(_ kid: String) -> SigningKey? { byID[kid] }

    /// The key whose tokens have this header, base64url.
    func key(header: ArraySlice<UInt8>) -> SigningKey? {
        keys.first { $0.encodedHeader.elementsEqual(header) }
    }
}
