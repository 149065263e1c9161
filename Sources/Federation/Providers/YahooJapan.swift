import Linking

extension ProviderDefinition {
    /// Yahoo! JAPAN (YConnect v2), which has nothing in common with ``yahoo`` but the name.
    ///
    /// Its hybrid response types bring an ID token, an access token or both in the URL's fragment. User info needs an
    /// approval of its own; without it a sign-in tells the subject alone. Without a client secret the registration is an
    /// app's own, and the client id is all that is sent.
    static let yahooJapan: ProviderDefinition = {
        var definition = genericOIDC("oidc.yahoojp")
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
        // So that a person who refuses comes back.
        definition.extraAuthorizationParameters = ["bail": "1"]
        definition.token.encodesBasic = false
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.idToken.maximumAge = 600
        // A refresh token comes unasked.
        definition.refresh.scopes = []
        definition.claims.screenName = ["nickname"]
        return definition
    }()
}
