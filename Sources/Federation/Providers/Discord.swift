import HTTPTypes
import Linking
import Outbound
import Projects
import StrictJSON

extension ProviderDefinition {
    /// Discord, whose pictures have a hash instead of a URL.
    static let discord: ProviderDefinition = {
        var definition = genericOAuth2("oauth.discord")
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
        definition.claims = .none
        definition.claims.subject = ["id"]
        definition.claims.email = ["email"]
        definition.claims.emailVerified = ["verified"]
        definition.claims.displayName = ["global_name", "username"]
        definition.claims.screenName = ["username"]
        definition.claims.language = ["locale"]
        definition.directSignIn = DirectSignIn(accessToken: .discordAuthorization)
        definition.quirks = [.discordAvatar]
        return definition
    }()
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
        !text.isEmpty
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
