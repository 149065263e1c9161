import Text

extension TenantState {
    mutating func checkEncoding(_ request: RecordedRequest) -> ProviderAnswer? {
        if let fault = request.encodingFault {
            violate(.encoding, .authorization, fault)
            return refusal(400, "The request is not encoded as it should be.")
        }
        if let name = request.fields.repeatedNames.first {
            violate(.repeatedParameter, .authorization, name)
            return refusal(400, "A parameter is repeated.")
        }
        return nil
    }

    /// The fault of the request, as the error to send back; nil when there is none.
    mutating func checkParameters(_ fields: FormFields) -> (error: String, description: String)? {
        func isAbsent(_ name: String) -> Bool { fields[name]?.isEmpty ?? true }

        if fields["client_secret"] != nil || fields["code_verifier"] != nil {
            violate(.clientAuthentication, .authorization, "a secret in the authorization request")
            return ("invalid_request", "a secret was sent through the browser")
        }
        if isAbsent("state") { violate(.state, .authorization, "no state") }
        // GitHub's documentation has no response_type.
        let types = fields.words("response_type")
        if personality.isOpenID || !types.isEmpty, !personality.responseTypes.contains(Set(types)) {
            violate(.responseType, .authorization, fields["response_type"] ?? "none")
            return ("unsupported_response_type", "it is not offered")
        }
        guard types.count <= 1 || fields["response_mode"] != "query" else {
            violate(.responseType, .authorization, "tokens in a query")
            return ("invalid_request", "tokens do not go into a query")
        }
        if personality.isOpenID {
            if personality.wantsOpenIDScope, !fields.words("scope").contains("openid") {
                violate(.scope, .authorization, fields["scope"] ?? "none")
                return ("invalid_scope", "openid is missing")
            }
            if personality.wantsNonce, isAbsent("nonce") { violate(.nonce, .authorization, "no nonce") }
        }
        let scopes = Set(fields.words("scope"))
        if let registered = personality.registeredScopes, !scopes.isSubset(of: registered) {
            return ("invalid_scope", "the app was not given \(scopes.subtracting(registered).sorted())")
        }
        if personality.followsPrompt, let description = checkPrompt(fields) { return ("invalid_request", description) }
        if !personality.formPostScopes.isDisjoint(with: fields.words("scope")), fields["response_mode"] != "form_post" {
            violate(.responseType, .authorization, "response_mode \(fields["response_mode"] ?? "none")")
            return ("invalid_request", "response_mode must be form_post when name or email scope is requested")
        }
        return checkProofKey(fields)
    }

    /// OIDC Core §3.1.2.1, with the `inapp` of Yahoo! JAPAN's own SDK.
    private func checkPrompt(_ fields: FormFields) -> String? {
        let prompts = fields.words("prompt")
        guard Set(prompts).isSubset(of: ["login", "consent", "select_account", "none"]),
            prompts.count == 1 || !prompts.contains("none")
        else { return "prompt" }
        if let display = fields["display"], !["page", "popup", "touch", "inapp"].contains(display) { return "display" }
        if let maxAge = fields["max_age"], Int(maxAge) ?? -1 < 0 { return "max_age" }
        return nil
    }

    private mutating func checkProofKey(_ fields: FormFields) -> (error: String, description: String)? {
        let challenge = fields["code_challenge"]
        switch personality.pkce {
        case .refused:
            guard challenge == nil, fields["code_challenge_method"] == nil else {
                violate(.pkce, .authorization, "PKCE is not offered")
                return ("unauthorized_client", "")
            }
            return nil
        case .required where challenge == nil:
            violate(.pkce, .authorization, "no code_challenge")
            return ("invalid_request", "code_challenge is required")
        case .required, .optional:
            guard let challenge else { return nil }
            guard fields["code_challenge_method"] == "S256", challenge.utf8.count == 43 else {
                violate(.pkce, .authorization, "method \(fields["code_challenge_method"] ?? "plain")")
                return ("invalid_request", "S256 is the only method")
            }
            return nil
        }
    }
}
