import Domain

extension ProviderDefinition {
    /// d ACCOUNT Connect of NTT DOCOMO.
    ///
    /// Issuer, endpoints, `code` and RS256 are those of its discovery document
    /// (`https://conf.uw.docomo.ne.jp/.well-known/openid-configuration`), which lists neither scopes nor methods of
    /// client authentication; DOCOMO gives its manual to approved applicants only. Public clients (Python Social Auth,
    /// Passport) authenticate with Basic and send no PKCE challenge.
    static let dAccount = genericOIDC("oidc.daccount") { definition in
        definition.displayName = "dアカウント"
        definition.issuers = ["https://conf.uw.docomo.ne.jp/"]
        definition.discovery = .cached
        definition.endpointHosts = ["id.smt.docomo.ne.jp", "fr-end.oidc.if.cilite.docomo.ne.jp"]
        definition.fallbackEndpoints = Endpoints(
            authorization: "https://id.smt.docomo.ne.jp/cgi8/oidc/authorize",
            token: "https://conf.uw.docomo.ne.jp/token",
            userInfo: "https://conf.uw.docomo.ne.jp/userinfo",
            keys: "https://fr-end.oidc.if.cilite.docomo.ne.jp/oft/external/ofrnt/v1.0/jwksget"
        )
        definition.scopes = Scopes(["openid"])
        definition.pkce = .none
        definition.clientAuthentication = .basic
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.refresh.scopes = []
        // Nothing public says whether DOCOMO verifies addresses.
        definition.emailTrust = .never
    }
}
