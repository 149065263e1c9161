import Domain
import Foundation
import HTTPTypes
import Outbound
import Projects
import Secrets
import StrictJSON

extension ProviderDefinition {
    /// GitHub; for GitHub Enterprise Server, set `base` and `api` in `variables` (`https://host/api/v3`).
    static let github = ProviderDefinition(.github, "GitHub", .oauth2) { definition in
        definition.variables = ["base": "https://github.com", "api": "https://api.github.com"]
        definition.issuers = ["{base}", "{base}/login/oauth"]
        definition.endpoints = Endpoints(
            authorization: "{base}/login/oauth/authorize",
            token: "{base}/login/oauth/access_token",
            revocation: "{api}/applications/{clientId}/grant",
            tokenCheck: "{api}/applications/{clientId}/token"
        )
        definition.scopes = Scopes(["read:user", "user:email"])
        definition.scopes.answerSeparator = ","
        definition.clientAuthentication = .post
        var user = ProfileCall(url: "{api}/user", scheme: "token")
        var emails = ProfileCall(url: "{api}/user/emails", name: GitHubEmails.call, scheme: "token", optional: true)
        user.headers = ["Accept": "application/vnd.github+json"]
        emails.headers = user.headers
        definition.profile = [user, emails]
        definition.claims = .only([
            \.subject: ["id"], \.displayName: ["name", "login"], \.screenName: ["login"], \.photoURL: ["avatar_url"],
        ])
        definition.directSignIn = DirectSignIn(accessToken: .githubToken)
        definition.revocation = RevocationRules(.githubGrant)
        definition.notifications = .github
        definition.quirks = [.githubEmails]
    }
}

/// GitHub's "Check a token", which only knows tokens of the calling client.
enum GitHubTokenCheck: AccessTokenInspector {
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest {
        let pair = client.clientID + ":" + (client.clientSecret?.reveal() ?? "")
        let body = JSONObject([JSONObject.Member(name: "access_token", value: .string(token))])
        return OutboundRequest(
            method: .post,
            url: endpoint,
            headers: [
                .accept: "application/vnd.github+json", .contentType: "application/json",
                .authorization: "Basic " + Data(pair.utf8).base64EncodedString(),
            ],
            body: Array(JSONValue.object(body).jsonText.utf8)
        )
    }

    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts {
        guard let client = answer[path: "app.client_id"]?.string else { throw .invalidAnswer(.notUnderstood) }
        guard let user = answer[path: "user.id"]?.scalarText else { throw .invalidAnswer(.missingSubject) }
        return AccessTokenFacts(
            clients: [client],
            subject: user,
            scopes: answer[path: "scopes"]?.array?.compactMap(\.string)
        )
    }
}

/// The email of a GitHub user: the one that `/user/emails` marks as primary and verified, never that of `/user`, which
/// is whatever the user shows publicly.
enum GitHubEmails {
    /// The name of the profile call.
    static let call = "emails"

    static func primary(_ emails: JSONValue?) -> String? {
        emails?.array?.first { $0[path: "primary"] == .bool(true) && $0[path: "verified"] == .bool(true) }?[
            path: "email"
        ]?
        .string
    }
}
