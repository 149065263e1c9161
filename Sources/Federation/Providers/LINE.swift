import Domain
import HTTPTypes
import Outbound
import Projects
import StrictJSON
import Text

extension ProviderDefinition {
    /// LINE Login v2.1, which signs ID tokens with ES256 if the token request asks for it, otherwise with the client's
    /// secret.
    static let line = genericOIDC("oidc.line") { definition in
        definition.displayName = "LINE"
        definition.issuers = ["https://access.line.me"]
        definition.discovery = .cached
        definition.endpointHosts = ["api.line.me"]
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://access.line.me/oauth2/v2.1/authorize",
            token: "https://api.line.me/oauth2/v2.1/token",
            userInfo: "https://api.line.me/oauth2/v2.1/userinfo",
            keys: "https://api.line.me/oauth2/v2.1/certs",
            revocation: "https://api.line.me/oauth2/v2.1/revoke",
            tokenCheck: "https://api.line.me/oauth2/v2.1/verify"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.pkce = .required
        definition.clientAuthentication = .post
        definition.token.extraParameters = ["id_token_key_type": "JWK"]
        definition.idToken = IDTokenRules(algorithms: [.es256])
        definition.profile = []
        definition.rawUserInfo = .merged
        definition.directSignIn = DirectSignIn(idToken: true, accessToken: .lineVerify)
        definition.emailTrust = .never
        definition.variables["api"] = "https://api.line.me"
        definition.revocation = RevocationRules(.lineDeauthorize)
    }
}

/// LINE's "Verify access token validity": returns the channel and the remaining seconds, not the user.
enum LINEVerify: AccessTokenInspector {
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest {
        OutboundRequest(
            url: endpoint.adding([("access_token", token)]),
            headers: [.accept: "application/json"]
        )
    }

    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts {
        guard let channel = answer[path: "client_id"]?.scalarText,
            let left = answer[path: "expires_in"]?.wholeNumber, (0...315_360_000).contains(left)
        else { throw .invalidAnswer(.notUnderstood) }
        return AccessTokenFacts(
            clients: [channel],
            scopes: answer[path: "scope"]?.string?.split(separator: " ").map(String.init),
            expiresAt: now + left
        )
    }
}
