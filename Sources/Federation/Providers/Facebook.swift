import Crypto
import Domain
import HTTPTypes
import Outbound
import Projects
import Secrets
import StrictJSON
import Text

extension ProviderDefinition {
    /// Facebook Login, and the ID tokens of Limited Login.
    ///
    /// Access tokens are opaque, so even one received for a code is checked to be our app's and the profile's. The
    /// version of the Graph API is the variable `version`.
    static let facebook = ProviderDefinition("facebook.com", "Facebook", .oauth2) { definition in
        definition.variables = [
            "base": "https://www.facebook.com", "graph": "https://graph.facebook.com",
            "limited": "https://limited.facebook.com", "version": "v23.0",
        ]
        definition.issuers = ["{base}"]
        definition.endpoints = Endpoints(
            authorization: "{base}/{version}/dialog/oauth",
            token: "{graph}/{version}/oauth/access_token",
            keys: "{limited}/.well-known/oauth/openid/jwks/",
            revocation: "{graph}/{version}/me/permissions",
            tokenCheck: "{graph}/{version}/debug_token"
        )
        definition.scopes = Scopes(["public_profile", "email"])
        definition.scopes.separator = ","
        definition.pkce = .none
        definition.clientAuthentication = .post
        definition.token.check = .facebookDebugToken
        definition.refresh.exchange = .facebook
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.idToken.requiresNonce = true
        let fields = "fields=id,name,first_name,last_name,email,picture"
        var profile = ProfileCall(url: "{graph}/{version}/me?" + fields)
        profile.proof = .appSecret
        definition.profile = [profile]
        definition.rawUserInfo = .merged
        definition.claims = .only([
            \.subject: ["id", "sub"],
            \.email: ["email"],
            \.displayName: ["name"],
            \.firstName: ["first_name", "given_name"],
            \.lastName: ["last_name", "family_name"],
            \.photoURL: ["picture.data.url", "picture"],
        ])
        definition.directSignIn = DirectSignIn(idToken: true, accessToken: .facebookDebugToken)
        definition.revocation = RevocationRules(.facebookPermissions)
        definition.notifications = .facebook
    }
}

/// Facebook's `appsecret_proof`, without which a stolen access token is useless.
enum FacebookProof {
    /// HMAC-SHA256 of the token with the app secret, 64 lowercase hexadecimal digits.
    static func hex(of token: String, secret: Secret?) -> String {
        let key = SymmetricKey(data: Array((secret?.reveal() ?? "").utf8))
        return [UInt8](HMAC<SHA256>.authenticationCode(for: Array(token.utf8), using: key)).lowercaseHex
    }

    static func add(to request: inout OutboundRequest, token: String, secret: Secret?) {
        request.url = request.url.adding([("appsecret_proof", hex(of: token, secret: secret))])
    }
}

extension FederationService {
    /// Revokes all permissions that a user granted to the app (`DELETE /me/permissions`).
    func deleteFacebookPermissions(
        _ token: Secret,
        _ provider: ResolvedProvider,
        _ client: ProviderClient
    ) async throws(FederationError) -> OutboundResponse {
        var request = OutboundRequest(method: .delete, url: try provider.required(\.revocation, "revocation"))
        request.headers[.authorization] = "Bearer " + token.reveal()
        FacebookProof.add(to: &request, token: token.reveal(), secret: client.secret)
        let response = try await call(request, of: provider.definition)
        // The token has expired, and the permission with it; other errors are limits or wrong settings.
        let code = (try? JSONValue(parsing: response.body))?[path: "error.code"]?.scalarText
        if code == FacebookFault.deadToken { throw .codeRejected(error: "unknown_token") }
        if response.status == 400 { throw .invalidAnswer(.refused) }
        return response
    }
}

/// Facebook's `debug_token`, called with the app's own access token.
enum FacebookDebugToken: AccessTokenInspector {
    static func request(_ token: String, at endpoint: String, client: ProviderConfiguration) -> OutboundRequest {
        let app = client.clientID + "|" + (client.clientSecret?.reveal() ?? "")
        return OutboundRequest(
            url: endpoint.adding([
                ("input_token", token), ("access_token", app),
                ("appsecret_proof", FacebookProof.hex(of: app, secret: client.clientSecret)),
            ]),
            headers: [.accept: "application/json"]
        )
    }

    static func facts(_ answer: JSONValue, now: Int64) throws(FederationError) -> AccessTokenFacts {
        guard let isValid = answer[path: "data.is_valid"] else { throw .invalidAnswer(.notUnderstood) }
        guard isValid == .bool(true) else { throw .accessTokenRejected }
        guard let app = answer[path: "data.app_id"]?.scalarText,
            let end = answer[path: "data.expires_at"]?.wholeNumber
        else { throw .invalidAnswer(.notUnderstood) }
        guard let user = answer[path: "data.user_id"]?.scalarText, !user.isEmpty else {
            throw .invalidAnswer(.missingSubject)
        }
        return AccessTokenFacts(
            clients: [app],
            subject: user,
            scopes: answer[path: "data.scopes"]?.array?.compactMap(\.string),
            // 0 means never.
            expiresAt: end == 0 ? nil : end
        )
    }
}

/// The error numbers of Facebook's token endpoint.
enum FacebookFault {
    static let wrongSecret = "1"
    static let badCode = "100"
    static let unknownClient = "101"
    static let deadToken = "190"
}
