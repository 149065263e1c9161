import Domain

extension ProviderDefinition {
    /// Yahoo! JAPAN (YConnect v2), which shares only the name with ``yahoo``.
    ///
    /// Its hybrid response types return an ID token, an access token or both in the URL's fragment. User info requires
    /// a separate approval; without it, a sign-in returns only the subject. Without a client secret, the registration
    /// is for a native app, and only the client ID is sent.
    static let yahooJapan = genericOIDC("oidc.yahoojp") { definition in
        definition.displayName = "Yahoo! JAPAN"
        definition.issuers = ["https://auth.login.yahoo.co.jp/yconnect/v2"]
        definition.discovery = .cached
        definition.endpointHosts = ["userinfo.yahooapis.jp"]
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://auth.login.yahoo.co.jp/yconnect/v2/authorization",
            token: "https://auth.login.yahoo.co.jp/yconnect/v2/token",
            userInfo: "https://userinfo.yahooapis.jp/yconnect/v2/attribute",
            keys: "https://auth.login.yahoo.co.jp/yconnect/v2/jwks"
        )
        definition.scopes = Scopes(["openid", "profile", "email"])
        definition.responseTypes = [
            .code, ResponseType([.idToken]), ResponseType([.token]), ResponseType([.idToken, .token]),
        ]
        // With it, a user who refuses is redirected back.
        definition.extraAuthorizationParameters = ["bail": "1"]
        definition.token.encodesBasic = false
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.idToken.maximumAge = 600
        // A refresh token is returned without a scope.
        definition.refresh.scopes = []
        definition.claims.screenName = ["nickname"]
    }
}
