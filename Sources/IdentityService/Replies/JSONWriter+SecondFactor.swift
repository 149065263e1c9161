package import Accounts
import Domain
import Secrets

extension JSONWriter {
    /// Tokens, or the request for a second factor: never both.
    package mutating func firstFactor(_ result: FirstFactorResult) {
        switch result {
        case .signedIn(let tokens): self.tokens(tokens)
        case .needsSecondFactor(let challenge):
            member("mfaPendingCredential", challenge.pendingCredential.reveal())
            array("mfaInfo") { json in
                for factor in challenge.factors { json.object { $0.secondFactor(factor, masked: true) } }
                guard challenge.offersPasskey else { return }
                json.object { json in
                    json.member("mfaEnrollmentId", SignInWithSecondFactor.passkeyEnrollment)
                    // Not part of Firebase: its SDKs leave such an entry out.
                    json.object("passkeyInfo") { _ in }
                }
            }
        }
    }

    /// `mfaInfo` of an account; absent if there is none.
    mutating func secondFactors(_ factors: [SecondFactor]) {
        guard !factors.isEmpty else { return }
        array("mfaInfo") { json in
            for factor in factors { json.object { $0.secondFactor(factor, masked: false) } }
        }
    }

    /// - Parameter masked: before the second factor is proved, a caller sees only four digits of a number.
    mutating func secondFactor(_ factor: SecondFactor, masked: Bool) {
        member("mfaEnrollmentId", factor.id)
        member("displayName", factor.displayName)
        member("enrolledAt", factor.enrolledAt.wireText)
        // SDKs distinguish the kinds by which of the two is present.
        if let number = factor.phoneNumber {
            member("phoneInfo", masked ? Self.masked(number) : number)
        } else {
            object("totpInfo") { _ in }
        }
    }

    /// `+*******0101`.
    static func masked(_ number: String) -> String {
        let digits = number.dropFirst()
        return "+" + String(repeating: "*", count: max(0, digits.count - 4)) + digits.suffix(4)
    }
}
