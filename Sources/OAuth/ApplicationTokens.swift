package import Domain
import Secrets
package import StrictJSON

/// The payloads of an application's tokens.
package struct ApplicationTokens: Sendable {
    package var issuer: String
    package var client: String
    package var account: AccountID
    /// The session's ID: `sid` of OpenID Connect Back-Channel Logout 1.0.
    package var session: String
    package var grant: ApplicationGrant
    /// Seconds since 1970; likewise the others.
    package var authTime: Int64
    package var issuedAt: Int64
    /// RFC 8176 §2.
    package var methods: [String]
    /// Whether the client acts for the user with a token that another application had (RFC 8693 §4.1).
    package var isExchanged = false
    /// The JWK thumbprint of the key that its sender must have (RFC 9449 §6.1).
    package var keyThumbprint: String?

    package init(
        issuer: String,
        client: String,
        account: AccountID,
        session: String,
        grant: ApplicationGrant,
        authTime: Int64,
        issuedAt: Int64,
        methods: [String]
    ) {
        self.issuer = issuer
        self.client = client
        self.account = account
        self.session = session
        self.grant = grant
        self.authTime = authTime
        self.issuedAt = issuedAt
        self.methods = methods
    }

    /// `typ` of access tokens (RFC 9068 §2.1), which no verifier of ID tokens accepts.
    package static let accessTokenType = "at+jwt"

    /// An access token (RFC 9068 §2.2).
    ///
    /// - Parameters:
    ///   - audience: a resource; nil for the service itself, where alone it reads the user's claims.
    ///   - lifetime: in seconds.
    package func accessToken(for audience: String?, id: String, lifetime: Int64) -> [UInt8] {
        var json = JSONText(capacity: 512)
        json.openObject()
        json.member("iss", issuer)
        json.member("sub", account.rawValue)
        json.member("aud", audience ?? issuer)
        json.member("client_id", client)
        // A list of scopes has at least one (RFC 6749 §3.3).
        if !grant.scopes.isEmpty { json.member("scope", grant.scopes.joined(separator: " ")) }
        json.member("iat", issuedAt)
        json.member("exp", issuedAt + lifetime)
        json.member("jti", id)
        json.member("auth_time", authTime)
        json.member("sid", session)
        if !methods.isEmpty { json.member("amr", methods) }
        if let keyThumbprint {
            json.openObject("cnf")
            json.member("jkt", keyThumbprint)
            json.closeObject()
        }
        if isExchanged {
            json.openObject("act")
            json.member("sub", client)
            json.closeObject()
        }
        json.closeObject()
        return json.bytes
    }

    /// An ID token (OpenID Connect Core 1.0 §2).
    ///
    /// - Parameters:
    ///   - nonce: the request's; nil for tokens of a refresh (§12.2).
    ///   - accessToken: for `at_hash` (§3.1.3.6).
    ///   - lifetime: in seconds.
    package func idToken(of user: Account, nonce: String?, accessToken: String, lifetime: Int64) -> [UInt8] {
        var json = JSONText(capacity: 768)
        json.openObject()
        json.member("iss", issuer)
        json.member("sub", account.rawValue)
        json.member("aud", client)
        json.member("iat", issuedAt)
        json.member("exp", issuedAt + lifetime)
        json.member("auth_time", authTime)
        json.member("sid", session)
        if let nonce { json.member("nonce", nonce) }
        json.member("at_hash", Base64URL.encode(SecureHash.sha256(accessToken).prefix(16)))
        if !methods.isEmpty { json.member("amr", methods) }
        for member in UserClaims.members(of: user, for: grant.scopes) { json.member(member.name, member.value) }
        json.closeObject()
        return json.bytes
    }
}

/// Tells an application that a user's session with it has ended (OpenID Connect Back-Channel Logout 1.0 §2.4).
package struct LogoutToken: Sendable {
    package var issuer: String
    package var client: String
    package var account: AccountID
    package var session: String

    package init(issuer: String, client: String, account: AccountID, session: String) {
        self.issuer = issuer
        self.client = client
        self.account = account
        self.session = session
    }

    /// `typ`, which no verifier of another kind of token accepts.
    package static let type = "logout+jwt"
    /// In seconds, as the standard recommends.
    private static let lifetime: Int64 = 120

    /// - Parameters:
    ///   - id: the same at each attempt, so that the application recognizes a repetition.
    ///   - date: of the attempt, in seconds since 1970.
    package func payload(id: String, at date: Int64) -> [UInt8] {
        var json = JSONText(capacity: 512)
        json.openObject()
        json.member("iss", issuer)
        json.member("sub", account.rawValue)
        json.member("aud", client)
        json.member("iat", date)
        json.member("exp", date + Self.lifetime)
        json.member("jti", id)
        json.member("sid", session)
        json.openObject("events")
        json.openObject("http://schemas.openid.net/event/backchannel-logout")
        json.closeObject()
        json.closeObject()
        json.closeObject()
        return json.bytes
    }
}

/// An access token whose signature and times were verified.
package struct AccessTokenContent: Sendable {
    package let issuer: String
    package let account: AccountID
    package let audiences: [String]
    package let client: String
    package let scopes: [String]
    package let session: String
    package let issuedAt: Int64
    package let expiresAt: Int64
    package let id: String
    /// Whether its session is that of the user's own app.
    package let isExchanged: Bool
    /// The JWK thumbprint of the key that its sender must have; nil for a bearer token.
    package let keyThumbprint: String?

    /// Nil if a claim that all our tokens have is absent or of another type.
    package init?(_ payload: JSONObject) {
        let audience = payload["aud"]
        guard let issuer = payload["iss"]?.string, let subject = payload["sub"]?.string, !subject.isEmpty,
            let audiences = audience?.string.map({ [$0] }) ?? audience?.array?.compactMap(\.string),
            let client = payload["client_id"]?.string, let scope = (payload["scope"] ?? "").string,
            let session = payload["sid"]?.string, let issuedAt = payload["iat"]?.integer,
            let expiresAt = payload["exp"]?.integer, let id = payload["jti"]?.string
        else { return nil }
        self.issuer = issuer
        account = AccountID(subject)
        self.audiences = audiences
        self.client = client
        scopes = Scopes.list(scope)
        self.session = session
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.id = id
        isExchanged = payload["act"] != nil
        keyThumbprint = payload["cnf"]?.object?["jkt"]?.string
    }
}
