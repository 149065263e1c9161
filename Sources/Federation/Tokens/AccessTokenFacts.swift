import Outbound
import Projects
import StrictJSON

/// What a provider says about an access token when it is asked.
struct AccessTokenFacts: Sendable {
    /// Ids of the clients that it was made for and by: all must be ours.
    var clients: [String]
    /// Nil where the provider does not say whose it is.
    var subject: String?
    /// Nil where the provider does not say.
    var scopes: [String]?
    /// Seconds since 1970; nil for no end that is known.
    var expiresAt: Int64?
}

/// One provider's way to say for whom an access token was made (T-C3).
protocol AccessTokenInspector {
    /// - Parameter endpoint: ``ProviderDefinition/Endpoints/tokenCheck``.
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest

    /// Reads the answer, which had status 200.
    ///
    /// - Parameter now: seconds since 1970.
    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts
}

extension ProviderDefinition.AccessTokenCheck {
    /// Nil where the profile calls show it.
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
