import StrictJSON
import Linking

extension ProviderDefinition {
    /// GitHub; GitHub Enterprise Server by its `variables`: `base` and `api` (`https://host/api/v3`).
    static let github: ProviderDefinition = {
        var definition = ProviderDefinition(id: .github, displayName: "GitHub", protocolKind: .oauth2)
        definition.variables = ["base": "https://github.com", "api": "https://api.github.com"]
        definition.issuers = ["{base}", "{base}/login/oauth"]
        definition.endpoints = Endpoints(
            authorization: "{base}/login/oauth/authorize",
            token: "{base}/login/oauth/access_token"
        )
        definition.scopes = Scopes(["read:user", "user:email"])
        definition.scopes.answerSeparator = ","
        definition.clientAuthentication = .post
        var user = ProfileCall(url: "{api}/user", scheme: "token")
        var emails = ProfileCall(url: "{api}/user/emails", name: "emails", scheme: "token", optional: true)
        user.headers = ["Accept": "application/vnd.github+json"]
        emails.headers = user.headers
        definition.profile = [user, emails]
        definition.claims = ClaimMap.none
        definition.claims.subject = ["id"]
        definition.claims.displayName = ["name", "login"]
        definition.claims.screenName = ["login"]
        definition.claims.photoURL = ["avatar_url"]
        definition.quirks = [.githubEmails]
        return definition
    }()
}

/// The address of a GitHub user: the one that `/user/emails` flags as primary and verified, never that of `/user`,
/// which is whatever the person shows publicly.
enum GitHubEmails {
    static func primary(_ emails: JSONValue?) -> String? {
        emails?.array?.first { $0[path: "primary"] == .bool(true) && $0[path: "verified"] == .bool(true) }?[
            path: "email"
        ]?
        .string
    }
}
