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
            let header = Base64URL.decode(bytes[..<first]).flatMap({ Claims($0) }),
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
    func claims() -> Claims? { Base64URL.decode(payload).flatMap { Claims($0) } }

    private static let point = UInt8(ascii: ".")
}
