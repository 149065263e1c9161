import StrictJSON

extension TenantState {
    /// OpenID Connect Discovery §3.
    func discoveryDocument() -> JSONObject {
        let types = personality.responseTypes.map { $0.sorted().joined(separator: " ") }.sorted()
        var document: JSONObject = [
            "issuer": .string(documentIssuer ?? issuer),
            "response_types_supported": .array(types.map { .string($0) }),
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(personality.signing.rawValue)],
            "scopes_supported": ["openid", "email", "profile", "offline_access"],
            "token_endpoint_auth_methods_supported": .array(authenticationMethods.map { .string($0) }),
            "claims_supported": ["aud", "email", "email_verified", "exp", "iat", "iss", "name", "picture", "sub"],
        ]
        let endpoints: [(String, ProviderEndpoint)] = [
            ("authorization_endpoint", .authorization), ("token_endpoint", .token), ("userinfo_endpoint", .userinfo),
            ("jwks_uri", .keys), (personality.revocationMember, .revocation),
        ]
        for (name, endpoint) in endpoints { document[name] = url(endpoint).map { .string($0) } }
        if personality.pkce != .refused { document["code_challenge_methods_supported"] = ["S256"] }
        if personality.sendsIssuerInCallback {
            document["authorization_response_iss_parameter_supported"] = true
        }
        return document.changed(set: personality.discovery)
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
