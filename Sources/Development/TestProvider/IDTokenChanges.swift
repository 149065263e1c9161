package import StrictJSON

/// How an ID token differs from the one that a correct provider would issue.
package struct IDTokenChanges: Sendable {
    /// Claims to put in or to replace.
    package var set: JSONObject
    package var remove: Set<String>
    /// The whole payload as text, for repeated members and invalid JSON; wins over ``set`` and ``remove``.
    package var payload: String?
    /// Header parameters to put in or to replace.
    package var header: JSONObject
    package var removeHeader: Set<String>
    /// The whole header as text.
    package var rawHeader: String?
    /// Signs with this key, and names it in the header.
    package var key: TestSigningKey?
    package var signature: Signature
    /// Rewrites the finished token.
    package var rewrite: (@Sendable (String) -> String)?

    package enum Signature: Sendable {
        case valid
        /// The token ends with its second dot.
        case empty
        /// HMAC-SHA256 under these bytes.
        case hmac([UInt8])
        case bytes([UInt8])
        /// ECDSA in DER instead of r ‖ s.
        case der
    }

    package init(
        set: JSONObject = [:],
        remove: Set<String> = [],
        payload: String? = nil,
        header: JSONObject = [:],
        removeHeader: Set<String> = [],
        rawHeader: String? = nil,
        key: TestSigningKey? = nil,
        signature: Signature = .valid,
        rewrite: (@Sendable (String) -> String)? = nil
    ) {
        self.set = set
        self.remove = remove
        self.payload = payload
        self.header = header
        self.removeHeader = removeHeader
        self.rawHeader = rawHeader
        self.key = key
        self.signature = signature
        self.rewrite = rewrite
    }

    package static let none = IDTokenChanges()

    /// `alg` as given (`none`, `NONE`, …) and no signature.
    package static func unsigned(algorithm: String = "none") -> IDTokenChanges {
        IDTokenChanges(header: ["alg": .string(algorithm)], signature: .empty)
    }

    /// HS256 under bytes that an attacker could know, such as the public key.
    package static func hmac(_ key: [UInt8]) -> IDTokenChanges {
        IDTokenChanges(header: ["alg": "HS256"], signature: .hmac(key))
    }
}
