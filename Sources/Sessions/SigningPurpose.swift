/// What a key of the deployment signs; one that signs one thing verifies no other.
package enum SigningPurpose: String, Sendable, Hashable, CaseIterable {
    case idToken = "id_token"
    case sessionCookie = "session_cookie"

    /// Admin SDKs verify cookies with RS256 alone, whatever a project chose for its ID tokens.
    package var algorithms: [SigningAlgorithm] {
        switch self {
        case .idToken: [.rs256, .es256]
        case .sessionCookie: [.rs256]
        }
    }

    /// Seconds for which the longest-lived of what its keys sign is good.
    var longestLife: Int64 {
        switch self {
        case .idToken: IDTokenClaims.lifetime
        case .sessionCookie: SessionCookie.durations.upperBound
        }
    }
}
