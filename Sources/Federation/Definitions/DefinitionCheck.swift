import HTTPTypes
import Projects
import Secrets
import Text

/// The rules for a complete definition and its configuration.
struct DefinitionCheck {
    let definition: ProviderDefinition
    let allowsLoopback: Bool

    func run(_ configuration: ProviderConfiguration) throws(InvalidDefinition) {
        guard (1...1024).contains(configuration.clientID.utf8.count), configuration.clientID.consists(of: .visible)
        else {
            throw InvalidDefinition(member: "clientId", problem: "must be 1 to 1024 visible characters")
        }
        let method = definition.clientAuthentication
        guard (method != .basic && method != .post) || configuration.clientSecret?.isEmpty == false else {
            throw InvalidDefinition(
                member: "clientSecret",
                problem: "is required by the client authentication \"\(method.rawValue)\""
            )
        }
        if method == .appleSecret || method == .privateKeyJWT {
            try checkKey(configuration)
        } else if configuration.clientSecret?.reveal().contains("PRIVATE KEY") == true {
            throw InvalidDefinition(
                member: "clientSecret",
                problem: "is a private key, which the client authentication \"\(method.rawValue)\" would send"
            )
        }
        try checkSignatures(configuration)
        try checkEndpoints()
        try checkIssuers()
        try checkResponseTypes()
        try checkParameters()
        for (index, call) in definition.profile.enumerated() { try check(call, "profile[\(index)]") }
        try checkTenants()
        guard !definition.claims.subject.isEmpty else {
            throw invalid("claims.subject", "must name the claim with the provider's user ID")
        }
        for (index, uri) in definition.redirectURIs.enumerated() {
            guard RedirectURI.isAcceptable(uri) else {
                throw invalid("redirectURIs[\(index)]", "must be an absolute URI without fragment and credentials")
            }
        }
    }

    /// Refuses a key that cannot sign now, so that sign-ins do not fail later.
    private func checkKey(_ configuration: ProviderConfiguration) throws(InvalidDefinition) {
        guard let secret = configuration.clientSecret, !secret.isEmpty else {
            guard definition.clientAuthentication == .appleSecret else {
                throw InvalidDefinition(member: "clientSecret", problem: "is required: a private key in PEM")
            }
            return
        }
        guard definition.clientAuthentication == .appleSecret else {
            _ = try ClientKey(secret)
            return
        }
        if let ready = try AppleClientSecret(secret) {
            return try ready.check(clientID: configuration.clientID, definition)
        }
        guard (try? ClientKey(secret))?.algorithm == "ES256" else {
            throw InvalidDefinition(
                member: "clientSecret",
                problem: "must be a private key in PEM (P-256), or a JWT that such a key signed (ES256)"
            )
        }
        for name in ["teamId", "keyId"] where (definition.variables[name] ?? "").isEmpty {
            throw invalid("variables.\(name)", "is missing: the private key requires it")
        }
    }

    private func checkSignatures(_ configuration: ProviderConfiguration) throws(InvalidDefinition) {
        let proofs = definition.profile.map(\.proof)
        let allSigned = !proofs.isEmpty && proofs.allSatisfy { $0 == .oauth1 }
        guard definition.directSignIn.accessToken != .signedCalls || allSigned else {
            throw invalid("directSignIn.accessToken", "requires signed profile calls")
        }
        guard definition.protocolKind == .oauth1 || proofs.contains(where: { $0 != nil }) else { return }
        guard configuration.clientSecret?.isEmpty == false else {
            throw InvalidDefinition(member: "clientSecret", problem: "is required to sign requests")
        }
    }

    private func checkIssuers() throws(InvalidDefinition) {
        guard let canonical = definition.issuers.first else {
            throw InvalidDefinition(member: "issuer", problem: "is missing")
        }
        guard definition.issuers.allSatisfy({ (1...1024).contains($0.utf8.count) && $0.consists(of: .visible) }) else {
            throw invalid("issuers", "must be URLs")
        }
        if definition.protocolKind == .oidc {
            guard isCallable(canonical), URLParts(canonical)?.query == nil else {
                throw InvalidDefinition(member: "issuer", problem: "must be an https URL without query")
            }
        }
    }

    private func checkTenants() throws(InvalidDefinition) {
        guard definition.quirks.contains(.microsoftTenant) else { return }
        let isPinned = !definition.issuers.contains { $0.contains("{tid}") }
        let named = [definition.variables["tenant"] ?? ""] + (definition.variableParameters["tenant"] ?? [])
        for tenant in named where MicrosoftTenant(tenant) == nil {
            guard MicrosoftTenant.isDomain(tenant) else {
                throw invalid("variables.tenant", "must be common, organizations, consumers or a lowercase GUID")
            }
            guard isPinned else {
                throw invalid("issuers", "must contain the directory's GUID if the tenant is a domain")
            }
        }
    }

    private func checkResponseTypes() throws(InvalidDefinition) {
        let hybrid = definition.responseTypes.filter { $0 != .code }
        guard !hybrid.isEmpty else { return }
        guard definition.protocolKind == .oidc else { throw invalid("responseTypes", "must be code for OAuth 2.0") }
        guard definition.responseMode != .query else { throw invalid("responseMode", "would put tokens into a query") }
        guard definition.sendNonce || !hybrid.contains(where: { $0.parts.contains(.idToken) }) else {
            throw invalid("sendNonce", "must be true if id_token is requested")
        }
    }

    private func checkEndpoints() throws(InvalidDefinition) {
        let endpoints = definition.endpoints
        let named: [(String, String?)] = [
            ("endpoints.authorization", endpoints.authorization), ("endpoints.token", endpoints.token),
            ("endpoints.userInfo", endpoints.userInfo), ("endpoints.keys", endpoints.keys),
            ("endpoints.revocation", endpoints.revocation), ("endpoints.tokenCheck", endpoints.tokenCheck),
            ("endpoints.requestToken", endpoints.requestToken), ("discoveryURL", definition.discoveryURL),
        ]
        for (name, url) in named {
            if let url, !isCallable(url) {
                throw invalid(name, "must be an https URL without credentials and fragment")
            }
        }
        guard definition.discovery == .never else { return }
        guard endpoints.authorization != nil else { throw invalid("endpoints.authorization", "is missing") }
        guard endpoints.token != nil else { throw invalid("endpoints.token", "is missing") }
        if definition.protocolKind == .oidc, endpoints.keys == nil, definition.jwks == nil {
            throw invalid("endpoints.keys", "is missing")
        }
        if definition.protocolKind == .oauth1, endpoints.requestToken == nil {
            throw invalid("endpoints.requestToken", "is missing")
        }
        if definition.protocolKind != .oidc {
            guard definition.profile.contains(where: { !$0.optional && ($0.url ?? endpoints.userInfo) != nil }) else {
                throw invalid("profile", "requires a call that identifies the user")
            }
        }
    }

    private func checkParameters() throws(InvalidDefinition) {
        for name in definition.extraAuthorizationParameters.keys where ReservedParameters.contains(name) {
            throw invalid("extraAuthorizationParameters.\(name)", "is set by the service")
        }
        for (name, value) in definition.extraAuthorizationParameters where name.lowercased() == "max_age" {
            guard definition.protocolKind == .oidc, MaximumAge.seconds(value) != nil else {
                throw invalid(
                    "extraAuthorizationParameters.\(name)",
                    "must be a number of seconds, for a provider with ID tokens"
                )
            }
        }
        for name in definition.refresh.parameters.keys where ReservedParameters.contains(name) {
            throw invalid("refresh.parameters.\(name)", "is set by the service")
        }
        let query = definition.endpoints.authorization.flatMap { URLParts($0)?.query } ?? ""
        for (name, _) in FormFields(query).pairs where ReservedParameters.contains(name) {
            throw invalid("endpoints.authorization", "must not set \(name)")
        }
        let reserved: Set<String> = [
            "client_id", "client_secret", "code", "grant_type", "redirect_uri", "code_verifier",
        ]
        for name in definition.token.extraParameters.keys where reserved.contains(name.lowercased()) {
            throw invalid("token.extraParameters.\(name)", "is set by the service")
        }
        for (index, scope) in definition.refresh.scopes.enumerated() {
            guard Scope.isAcceptable(scope) else { throw invalid("refresh.scopes[\(index)]", "is not a scope") }
        }
        for (index, scope) in (definition.scopes.default + definition.scopes.whenSupported).enumerated() {
            guard Scope.isAcceptable(scope) else { throw invalid("scopes[\(index)]", "is not a scope") }
        }
        guard (1...4).contains(definition.scopes.separator.utf8.count) else {
            throw invalid("scopes.separator", "must be 1 to 4 characters")
        }
    }

    private func check(_ call: ProviderDefinition.ProfileCall, _ name: String) throws(InvalidDefinition) {
        if let url = call.url, !isCallable(url) { throw invalid(name + ".url", "must be an https URL") }
        guard !call.scheme.isEmpty, HTTPField.Name(call.scheme) != nil else {
            throw invalid(name + ".scheme", "must be one word, such as Bearer")
        }
        for (header, value) in call.headers {
            guard HTTPField.Name(header) != nil, HTTPField.isValidValue(value) else {
                throw invalid(name + ".headers", "contains an invalid header")
            }
            guard !["authorization", "host", "user-agent", "content-length"].contains(header.lowercased()) else {
                throw invalid(name + ".headers.\(header)", "is set by the service")
            }
        }
    }

    private func invalid(_ member: String, _ problem: String) -> InvalidDefinition {
        InvalidDefinition(member: "definition." + member, problem: problem)
    }

    private func isCallable(_ url: String) -> Bool {
        ProviderURL.isAcceptable(url, allowsLoopback: allowsLoopback)
    }
}
