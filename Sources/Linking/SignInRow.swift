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
    case d1 = "D1"
    case d2 = "D2"

    /// Why, for an admin.
    package var reason: String {
        switch self {
        case .s1: "The identity is linked to the account."
        case .s2: "The identity is linked to an account that is disabled."
        case .s3: "Nobody has the identity, and the provider gives no address."
        case .s4: "Nobody has the identity or the address."
        case .s5: "The provider proves the verified address of the account."
        case .s6: "The provider proves the verified address of an account that has another identity of this provider."
        case .s7: "The provider proves an address that the account never did."
        case .s8: "The provider proves the address of an account that is disabled."
        case .s9: "The address belongs to an account, and the provider does not prove it."
        case .s10: "Nobody has the identity, and no account may be opened or linked."
        case .s11: "Nobody has the identity, and sign-up is closed."
        case .s12: "The provider proves the address of an account, and the project lets people confirm every link."
        case .s13: "The address belongs to an account, and the project links nothing by address."
        case .s14: "Nobody has the identity, and its address is a relay's, which finds no account."
        case .d1: "The identity is linked to the account."
        case .d2: "Nobody has the identity, and the project allows several accounts per email."
        }
    }
}
