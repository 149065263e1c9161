import Foundation
import IdentityCore

/// The parts of a signed JWT (RFC 7515 §3.1), before its signature is verified.
struct SignedJWT {
    let algorithm: SignatureAlgorithm
    let keyID: String
    /// What is signed: the first two parts with the full stop between them.
    let input: ArraySlice<UInt8>
    let signature: [UInt8]
    private let payload: ArraySlice<UInt8>

    init(_ text: String, algorithms: Set<SignatureAlgorithm>) throws(TokenError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 16_384, let first = bytes.firstIndex(of: Self.point),
            let last = bytes.lastIndex(of: Self.point), first < last,
            let header = Base64URL.decode(bytes[..<first]).flatMap(ClaimParser.parse),
            let signature = Base64URL.decode(bytes[(last + 1)...]),
            // RFC 7515 §4.1.11: extensions that must be understood.
            header["crit"] == nil
        else { throw .malformed }
        guard let algorithm = header["alg"]?.stringValue.flatMap({ SignatureAlgorithm(rawValue: $0) }),
            algorithms.contains(algorithm)
        else { throw .algorithm }
        guard let keyID = header["kid"]?.stringValue else { throw .unknownKey }
        self.algorithm = algorithm
        self.keyID = keyID
        self.input = bytes[..<last]
        self.signature = signature
        self.payload = bytes[(first + 1)..<last]
    }

    /// The claims; nil if they are not a JSON object.
    ///
    /// Call it after the signature was verified.
    func claims() -> [String: ClaimValue]? { Base64URL.decode(payload).flatMap(ClaimParser.parse) }

    private static let point = UInt8(ascii: ".")
}

extension VerifiedToken {
    init(_ claims: [String: ClaimValue]) throws(TokenError) {
        func time(_ name: String) throws(TokenError) -> Date {
            guard let seconds = claims[name]?.integerValue else { throw .malformed }
            return Date(timeIntervalSince1970: TimeInterval(seconds))
        }
        guard let uid = claims["sub"]?.stringValue, (1...128).contains(uid.utf16.count) else { throw .subject }
        self.uid = uid
        self.issuedAt = try time("iat")
        self.expiresAt = try time("exp")
        self.authTime = try time("auth_time")
        self.claims = claims
    }
}
