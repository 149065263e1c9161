import Foundation
import Linking
import Projects
import Secrets
import Storage

/// That somebody had a number a moment ago: given out when the number turns out to be another account's, and good for as
/// many sign-ins as are wanted.
///
/// Sealed for its project and tenant, and stored nowhere.
struct TemporaryProof: Codable {
    /// Seconds for which it is good.
    static let lifetime: Int64 = 3_600

    private var phoneNumber: String
    /// Seconds since 1970.
    private var validUntil: Int64

    init(of number: PhoneNumber, now: Int64) {
        phoneNumber = number.text
        validUntil = now + Self.lifetime
    }

    func sealed(_ keyRing: KeyRing, for scope: Scope) throws -> Secret {
        let json = try JSONEncoder().encode(self)
        return Secret(Base64URL.encode(try keyRing.seal([UInt8](json), for: Self.place(scope))))
    }

    /// Whether a text is such a proof of the number, and still good.
    static func isGood(_ text: String, of number: PhoneNumber, _ keyRing: KeyRing, for scope: Scope, now: Int64) -> Bool
    {
        guard text.utf8.count <= 1024, let sealed = Base64URL.decode(text),
            let json = try? keyRing.open(sealed, for: place(scope)),
            let proof = try? JSONDecoder().decode(TemporaryProof.self, from: Data(json))
        else { return false }
        return proof.phoneNumber == number.text && proof.validUntil > now
    }

    private static func place(_ scope: Scope) -> String {
        "temporary_proofs/\(scope.project)/\(scope.tenant.rawValue)"
    }
}
