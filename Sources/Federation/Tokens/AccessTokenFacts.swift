import Outbound
import Projects
import StrictJSON

/// A provider's statement about an access token.
struct AccessTokenFacts: Sendable {
    /// IDs of the clients that it was issued to and by: all must be ours.
    var clients: [String]
    /// Nil if the provider does not state the user.
    var subject: String?
    /// Nil if the provider does not state them.
    var scopes: [String]?
    /// Seconds since 1970; nil if no expiry is known.
    var expiresAt: Int64?
}

/// A provider's method of stating for which client an access token was issued (T-C3).
protocol AccessTokenInspector {
    /// - Parameter endpoint: ``ProviderDefinition/Endpoints/tokenCheck``.
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest

    /// Reads a response with status 200.
    ///
    /// - Parameter now: seconds since 1970.
    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts
}

extension ProviderDefinition.AccessTokenCheck {
    /// Nil if the profile calls prove it.
    var inspector: (any AccessTokenInspector.Type)? {
        switch self {
        case .signedCalls: nil
        case .discordAuthorization: DiscordAuthorization.self
        case .facebookDebugToken: FacebookDebugToken.self
        case .githubToken: GitHubTokenCheck.self
        case .googleTokenInfo: GoogleTokenInfo.self
        case .lineVerify: LINEVerify.self
        }
    }
}
