package import Domain
import Foundation
package import Projects
package import Secrets

/// Proof that a user had a phone number recently: returned if another account has the number, and valid for one sign-in.
///
/// Sealed for its project and tenant. Its hash takes the place of the code for which it is exchanged, and ends like it
/// (threats.md, T-E2).
package struct TemporaryProof: Codable {
    /// The lifetime in seconds.
    package static let lifetime: Int64 = 3_600

    private var phoneNumber: String
    /// Seconds since 1970.
    private var validUntil: Int64

    /// - Returns: nil unless the evidence is about a number.
    package init?(of evidence: Evidence) {
        guard case .phone(let number) = evidence.proof else { return nil }
        phoneNumber = number.text
        validUntil = evidence.provedAt + Self.lifetime
    }

    package func sealed(_ keyRing: KeyRing, for scope: Scope) throws -> Secret {
        let json = try JSONEncoder().encode(self)
        return Secret(Base64URL.encode(try keyRing.seal([UInt8](json), for: Self.place(scope))))
    }

    /// What ends with the proof's use.
    package static func code(of proof: Secret) -> OneTimeCode { .sms(SecureHash.sha256(proof.reveal())) }

    /// The evidence of a proof, with its original time.
    ///
    /// - Returns: nil if it is not a valid proof of the number, or has expired.
    package static func open(
        _ text: String,
        of number: PhoneNumber,
        _ keyRing: KeyRing,
        for scope: Scope,
        now: Int64
    ) -> Evidence? {
        guard text.utf8.count <= 1024, let sealed = Base64URL.decode(text),
            let json = try? keyRing.open(sealed, for: place(scope)),
            let proof = try? JSONDecoder().decode(TemporaryProof.self, from: Data(json)),
            proof.phoneNumber == number.text, proof.validUntil > now
        else { return nil }
        return Evidence(.phone(number), at: proof.validUntil - Self.lifetime)
    }

    private static func place(_ scope: Scope) -> String {
        "temporary_proofs/\(scope.project)/\(scope.tenant.rawValue)"
    }
}
