/// The algorithms for ID tokens: only asymmetric ones (RFC 7518 §3.1, RFC 8037 §3.1).
package enum SignatureAlgorithm: String, Sendable, Hashable, Codable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"

    /// By its name in a header or a key: that of RFC 7518 or RFC 8037, or the one of RFC 9864, which tells the curve too.
    init?(name: String) {
        switch name {
        case "Ed25519": self = .edDSA
        case "ESP256": self = .es256
        case "ESP384": self = .es384
        case "ESP512": self = .es512
        default: self.init(rawValue: name)
        }
    }
}
