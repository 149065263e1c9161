extension TenantState {
    /// OpenID Connect Discovery §3.
    func discoveryDocument() -> TestJSON {
        var document = TestJSON.object([.init("issuer", .string(documentIssuer ?? issuer))])
        document.set("authorization_endpoint", ifPresent: url(.authorization))
        document.set("token_endpoint", ifPresent: url(.token))
        document.set("userinfo_endpoint", ifPresent: url(.userinfo))
        document.set("jwks_uri", ifPresent: url(.keys))
        document.set(personality.revocationMember, ifPresent: url(.revocation))
        let types = personality.responseTypes.map { $0.sorted().joined(separator: " ") }.sorted()
        document.set("response_types_supported", .array(types.map { .string($0) }))
        document.set("response_modes_supported", ["query", "fragment", "form_post"])
        document.set("grant_types_supported", ["authorization_code", "refresh_token"])
        document.set("subject_types_supported", ["public"])
        document.set("id_token_signing_alg_values_supported", [.string(personality.signing.rawValue)])
        document.set("scopes_supported", ["openid", "email", "profile", "offline_access"])
        document.set("token_endpoint_auth_methods_supported", .array(authenticationMethods.map { .string($0) }))
        document.set(
            "claims_supported",
            ["aud", "email", "email_verified", "exp", "iat", "iss", "name", "picture", "sub"]
        )
        if personality.pkce != .refused { document.set("code_challenge_methods_supported", ["S256"]) }
        if personality.sendsIssuerInCallback {
            document.set("authorization_response_iss_parameter_supported", true)
        }
        for member in personality.discovery { document.set(member.name, member.value) }
        return document
    }

    private var authenticationMethods: [String] {
        switch personality.clientAuthentication {
        case .basic: ["client_secret_basic"]
        case .post, .appleSecret: ["client_secret_post"]
        case .basicOrPost: ["client_secret_post", "client_secret_basic"]
        case .none: ["none"]
        }
    }
}
