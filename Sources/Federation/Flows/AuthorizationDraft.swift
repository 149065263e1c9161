import Secrets
import Text

/// An authorization request (RFC 6749 §4.1.1, OIDC Core §3.1.2.1) under construction.
struct AuthorizationDraft {
    private let options: AuthorizationOptions

    /// Refuses parameters that no definition can allow (T-B8, R-27).
    init(_ options: AuthorizationOptions) throws(FederationError) {
        var seen: Set<String> = []
        for (name, value) in options.customParameters.sorted(by: { $0.key < $1.key }) {
            let refusal = FederationError.customParameterNotAllowed(name: SafeText.short(name))
            guard Self.isName(name), !ReservedParameters.contains(name), seen.insert(name.lowercased()).inserted,
                value.utf8.count <= 2_048, !value.utf8.contains(where: { $0 < 32 || $0 == 127 })
            else { throw refusal }
            if name.lowercased() == "max_age", MaximumAge.seconds(value) == nil { throw refusal }
        }
        guard options.scopes.count <= 64, options.scopes.allSatisfy(Scope.isAcceptable) else {
            throw .customParameterNotAllowed(name: "scope")
        }
        guard RedirectURI.isAcceptable(options.redirectURI) else { throw .invalidRedirectURI }
        let query = URLParts(options.redirectURI)?.query ?? ""
        let answers: Set<String> = [
            "code", "state", "error", "id_token", "access_token", "iss", "oauth_token", "oauth_verifier", "denied",
        ]
        guard !FormFields(query).pairs.contains(where: { answers.contains($0.name) }) else {
            throw .invalidRedirectURI
        }
        self.options = options
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.consists(of: .alphanumerics + "-.:_")
    }

    /// Refuses parameters that this definition does not allow.
    func check(against definition: ProviderDefinition) throws(FederationError) {
        let redirects = definition.redirectURIs
        guard redirects.isEmpty || SafeText.isOne(options.redirectURI, of: redirects) else { throw .invalidRedirectURI }
        let known = Set(definition.extraAuthorizationParameters.keys).union(definition.variableParameters.keys)
        let fixed = Set(known.map { $0.lowercased() })
        for name in options.customParameters.keys.sorted() {
            let allowed =
                switch definition.customParameters {
                case .anyExceptReserved: true
                case .only(let names): names.contains(name)
                }
            guard allowed, !fixed.contains(name.lowercased()) || known.contains(name) else {
                throw .customParameterNotAllowed(name: SafeText.short(name))
            }
            // Without an ID token, nothing shows whether the provider complied.
            guard name.lowercased() != "max_age" || definition.protocolKind == .oidc else {
                throw .customParameterNotAllowed(name: name)
            }
        }
    }

    /// The seconds of `max_age` to send, the app's or the definition's own (OIDC Core §3.1.2.1).
    func maxAge(_ definition: ProviderDefinition) -> Int? {
        extraParameters(definition).first { $0.name.lowercased() == "max_age" }.flatMap { MaximumAge.seconds($0.value) }
    }

    /// Whether the user must authenticate again, whatever session the provider has.
    func asksForLogin(_ definition: ProviderDefinition) -> Bool {
        extraParameters(definition).contains { $0.name == "prompt" && $0.value.split(separator: " ").contains("login") }
    }

    /// The variables that the app chose, from parameters that do not go into the query.
    func variables(of definition: ProviderDefinition) throws(FederationError) -> [String: String] {
        var chosen: [String: String] = [:]
        for (name, others) in definition.variableParameters {
            guard let value = options.customParameters[name], value != definition.variables[name] else { continue }
            guard others.contains(value) else { throw .customParameterNotAllowed(name: name) }
            chosen[name] = value
        }
        return chosen
    }

    /// The requested response type, if the definition offers it; by default its first.
    func responseType(of definition: ProviderDefinition) throws(FederationError) -> ResponseType {
        guard let asked = options.responseType else { return definition.responseTypes.first ?? .code }
        guard let type = ResponseType(asked), definition.responseTypes.contains(type) else {
            throw .responseTypeNotOffered(SafeText.short(asked))
        }
        return type
    }

    /// The URL: the endpoint's own query first, then ours, without repeated names.
    func url(
        _ endpoint: String,
        definition: ProviderDefinition,
        flow: AuthorizationFlow,
        state: String
    ) -> String {
        // RFC 5849 §2.2: the provider received the rest with the request for the request token.
        if let token = flow.requestToken {
            return endpoint.adding(
                [(name: "oauth_token", value: token.token)] + extraParameters(definition),
                ignoringCase: true
            )
        }
        var parameters: [(name: String, value: String)] = [
            ("response_type", flow.responseType.text), ("client_id", flow.clientID),
        ]
        if let redirectURI = flow.redirectURI { parameters.append(("redirect_uri", redirectURI)) }
        if !flow.scopes.isEmpty {
            parameters.append(("scope", flow.scopes.joined(separator: definition.scopes.separator)))
        }
        parameters.append(("state", state))
        if let nonce = flow.nonce { parameters.append(("nonce", nonce)) }
        if let verifier = flow.pkceVerifier {
            parameters.append(("code_challenge", Base64URL.encode(SecureHash.sha256(verifier))))
            parameters.append(("code_challenge_method", "S256"))
        }
        if definition.responseMode != .automatic {
            parameters.append(("response_mode", definition.responseMode.rawValue))
        }
        if let hint = options.loginHint, options.customParameters["login_hint"] == nil {
            parameters.append(("login_hint", hint))
        }
        return endpoint.adding(parameters + extraParameters(definition), ignoringCase: true)
    }

    /// The definition's parameters and the app's, which take precedence; an empty one removes the definition's.
    private func extraParameters(_ definition: ProviderDefinition) -> [(name: String, value: String)] {
        let offline = definition.keepTokens ? definition.refresh.parameters : [:]
        let fixed = definition.extraAuthorizationParameters.merging(offline) { own, _ in own }
        return fixed.merging(options.customParameters) { $1 }
            .filter { (!$0.value.isEmpty || fixed[$0.key] == nil) && definition.variableParameters[$0.key] == nil }
            .sorted { $0.key < $1.key }
            .map { (name: $0.key, value: $0.value) }
    }
}

/// `max_age`: the maximum age of an authentication in seconds.
enum MaximumAge {
    /// Nil for anything but a number of seconds up to a year.
    static func seconds(_ text: String) -> Int? { Int(text).flatMap { (0...31_536_000).contains($0) ? $0 : nil } }
}
