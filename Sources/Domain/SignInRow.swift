/// A row of the decision table of `docs/guide/linking.md`.
package enum SignInRow: String, Sendable, Hashable, CaseIterable {
    case s1 = "S1"
    case s2 = "S2"
    case s3 = "S3"
    case s4 = "S4"
    case s5 = "S5"
    case s6 = "S6"
    case s7 = "S7"
    case s8 = "S8"
    case s9 = "S9"
    case s10 = "S10"
    case s11 = "S11"
    case s12 = "S12"
    case s13 = "S13"
    case s14 = "S14"
    case s15 = "S15"
    case s16 = "S16"
    case d1 = "D1"
    case d2 = "D2"

    /// The reason, for an admin.
    package var reason: String {
        switch self {
        case .s1: "The identity is linked to the account."
        case .s2: "The identity is linked to a disabled account."
        case .s3: "No account has the identity, and the provider returns no email."
        case .s4: "No account has the identity or the email."
        case .s5: "The provider verifies the email, which is verified in the account."
        case .s6:
            "The provider verifies the email, which is verified in an account with another identity of this provider."
        case .s7: "The provider verifies the email, which is not verified in the account."
        case .s8: "The provider verifies the email of a disabled account."
        case .s9: "The email belongs to an account, and the provider does not verify it."
        case .s10: "No account has the identity, and none may be created or linked."
        case .s11: "No account has the identity, and sign-up is disabled."
        case .s12:
            "The provider verifies the email of an account, and the project requires users to confirm every link."
        case .s13: "The email belongs to an account, and the project never links by email."
        case .s14: "No account has the identity, and its email is a relay address, which matches no account."
        case .s15: "The identity is linked to an account without an email, and no account has the provider's."
        case .s16:
            "The provider verifies the email, which is not verified in an account that signs in with custom tokens."
        case .d1: "The identity is linked to the account."
        case .d2: "No account has the identity, and the project allows several accounts per email."
        }
    }
}
