import Domain
import HTTPTypes
import Outbound
import Projects
import StrictJSON
import Text

extension ProviderDefinition {
    /// Google, for web flows and for ID tokens of its own SDKs.
    static let google = ProviderDefinition(.google, "Google", .oidc) { definition in
        definition.variables = ["base": "https://accounts.google.com"]
        definition.issuers = ["{base}", "accounts.google.com"]
        definition.discovery = .cached
        definition.endpointHosts = ["oauth2.googleapis.com", "openidconnect.googleapis.com", "www.googleapis.com"]
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://accounts.google.com/o/oauth2/v2/auth",
            token: "https://oauth2.googleapis.com/token",
            userInfo: "https://openidconnect.googleapis.com/v1/userinfo",
            keys: "https://www.googleapis.com/oauth2/v3/certs",
            revocation: "https://oauth2.googleapis.com/revoke",
            tokenCheck: "https://oauth2.googleapis.com/tokeninfo"
        )
        definition.scopes = Scopes(["openid", "email", "profile"])
        definition.clientAuthentication = .automatic
        definition.pkce = .required
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        // GoogleSignIn for iOS adds a nonce of its own, and apps send the token alone.
        definition.idToken.rawNonce = .ifSent
        definition.refresh.parameters = ["access_type": "offline"]
        definition.claims.emailAuthority = ["hd"]
        definition.profile = []
        definition.rawUserInfo = .merged
        definition.directSignIn = DirectSignIn(idToken: true, accessToken: .googleTokenInfo)
        definition.federatedIDPrefix = "https://accounts.google.com/"
        definition.revocation = RevocationRules()
        definition.notifications = .googleRISC
        definition.quirks = [.googleLegacyProfileNames]
    }
}

/// Google's tokeninfo, which returns numbers as text.
enum GoogleTokenInfo: AccessTokenInspector {
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest {
        OutboundRequest(
            url: endpoint.adding([("access_token", token)]),
            headers: [.accept: "application/json"]
        )
    }

    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts {
        guard let audience = answer[path: "aud"]?.string,
            let end = answer[path: "exp"]?.scalarText.flatMap({ Int64($0) })
        else { throw .invalidAnswer(.notUnderstood) }
        return AccessTokenFacts(
            clients: [audience] + [answer[path: "azp"]?.string].compactMap(\.self),
            subject: answer[path: "sub"]?.string,
            scopes: answer[path: "scope"]?.string?.split(separator: " ").map(String.init),
            expiresAt: end
        )
    }
}

/// Google's `rawUserInfo` as Firebase's clients expect it, from before OpenID Connect named the claims.
enum GoogleProfile {
    private static let scope = "https://www.googleapis.com/auth/userinfo."
    private static let kept = ["name", "given_name", "family_name", "email", "picture", "locale", "hd"]

    /// - Parameter scopes: those that Google named; empty for an ID token alone, whose claims show what was granted.
    static func legacy(_ claims: JSONObject, scopes: [String]) -> JSONObject {
        var profile = JSONObject()
        profile["id"] = claims["sub"]
        for name in kept { profile[name] = claims[name] }
        profile["verified_email"] = claims["email_verified"] ?? claims["email"].map { _ in .bool(false) }
        let granted = scopes.isEmpty ? shown(by: claims) : scopes
        profile["granted_scopes"] = .string(granted.joined(separator: " "))
        return profile
    }

    private static func shown(by claims: JSONObject) -> [String] {
        var scopes = ["openid"]
        if claims["email"] != nil { scopes.append(scope + "email") }
        if claims["name"] != nil || claims["picture"] != nil { scopes.append(scope + "profile") }
        return scopes
    }
}
