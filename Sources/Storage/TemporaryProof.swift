import Foundation
package import Linking
package import Projects
package import Secrets

/// That a user had a number a moment ago: given out when the number turns out to be another account's, and good for as
/// many sign-ins as are wanted.
///
/// Sealed for its project and tenant, and stored nowhere.
package struct TemporaryProof: Codable {
    /// Seconds for which it is good.
    package static let lifetime: Int64 = 3_600

    private var phoneNumber: String
    /// Seconds since 1970.
    private var validUntil: Int64

    /// - Returns: nil unless the evidence is of a number.
    package init?(of evidence: Evidence) {
        guard case .phone(let number) = evidence.proof else { return nil }
        phoneNumber = number.text
        validUntil = evidence.provedAt + Self.lifetime
    }

    package func sealed(_ keyRing: KeyRing, for scope: Scope) throws -> Secret {
        let json = try JSONEncoder().encode(self)
        return Secret(Base64URL.encode(try keyRing.seal([UInt8](json), for: Self.place(scope))))
    }

    /// The evidence that a text stands for, as old as it is.
    ///
    /// - Returns: nil for what is no such proof of the number, or no longer good.
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
