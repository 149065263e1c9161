import Projects

/// What a key of the deployment signs; a key for one purpose never verifies another.
package enum SigningPurpose: String, Sendable, Hashable, CaseIterable {
    case idToken = "id_token"
    case sessionCookie = "session_cookie"

    /// Admin SDKs verify cookies only with RS256, whichever algorithm a project uses for ID tokens.
    package var algorithms: [SigningAlgorithm] {
        switch self {
        case .idToken: [.rs256, .es256]
        case .sessionCookie: [.rs256]
        }
    }

    /// The longest lifetime in seconds of anything that its keys sign.
    var longestLife: Int64 {
        switch self {
        // Applications' access tokens too.
        case .idToken: max(IDTokenClaims.lifetime, OAuthSettings.accessTokenLifetimes.upperBound)
        case .sessionCookie: SessionCookie.durations.upperBound
        }
    }
}
