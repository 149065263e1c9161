import Domain
import HTTPTypes
import Outbound
import Projects
import StrictJSON
import Text

extension ProviderDefinition {
    /// Discord, whose pictures have a hash instead of a URL.
    static let discord = genericOAuth2("oauth.discord") { definition in
        definition.displayName = "Discord"
        definition.variables = ["base": "https://discord.com", "publicKey": ""]
        definition.revocation = RevocationRules()
        definition.notifications = .discord
        definition.endpoints = Endpoints(
            authorization: "{base}/oauth2/authorize",
            token: "{base}/api/oauth2/token",
            revocation: "{base}/api/oauth2/token/revoke",
            tokenCheck: "{base}/api/oauth2/@me"
        )
        definition.scopes = Scopes(["identify", "email"])
        definition.pkce = .none
        definition.clientAuthentication = .post
        definition.profile = [ProfileCall(url: "{base}/api/users/@me")]
        definition.claims = .only([
            \.subject: ["id"],
            \.email: ["email"],
            \.emailVerified: ["verified"],
            \.displayName: ["global_name", "username"],
            \.screenName: ["username"],
            \.language: ["locale"],
        ])
        definition.directSignIn = DirectSignIn(accessToken: .discordAuthorization)
        definition.quirks = [.discordAvatar]
    }
}

/// Discord's "Get Current Authorization Information", which refuses an expired token.
enum DiscordAuthorization: AccessTokenInspector {
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest {
        OutboundRequest(url: endpoint, headers: [.accept: "application/json", .authorization: "Bearer " + token])
    }

    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts {
        guard let application = answer[path: "application.id"]?.scalarText else { throw .invalidAnswer(.notUnderstood) }
        // Absent if the token may not reveal the user.
        guard let user = answer[path: "user.id"]?.scalarText else { throw .invalidAnswer(.missingSubject) }
        return AccessTokenFacts(
            clients: [application],
            subject: user,
            scopes: answer[path: "scopes"]?.array?.compactMap(\.string)
        )
    }
}

/// The picture of a Discord user (Discord's "Image Formatting"): a hash, which starts with `a_` for an animated
/// picture.
enum DiscordAvatar {
    static func url(_ user: JSONObject) -> String? {
        guard let id = user["id"]?.scalarText, let hash = user["avatar"]?.string, isPart(id), isPart(hash) else {
            return nil
        }
        return "https://cdn.discordapp.com/avatars/\(id)/\(hash).\(hash.hasPrefix("a_") ? "gif" : "png")"
    }

    /// Refuses anything that could leave its segment of the path.
    private static func isPart(_ text: String) -> Bool {
        !text.isEmpty && text.consists(of: .lowercase + .digits + "_")
    }
}
