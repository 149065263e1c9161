import Domain
import StrictJSON

extension ProviderDefinition {
    /// Merges `definition{}` over this definition, key by key; a list replaces a list.
    ///
    /// - Throws: ``InvalidDefinition`` for an unknown member, a wrong type, or a value that is not one of the choices.
    mutating func apply(_ overrides: JSONObject) throws(InvalidDefinition) {
        var reader = DefinitionReader(overrides, path: "definition")
        try reader.read("displayName", into: &displayName)
        try applyLocation(&reader)
        try applyAuthorization(&reader)
        try applyTokens(&reader)
        try applyProfile(&reader)
        try reader.read("claims") { (reader) throws(InvalidDefinition) in
            for member in ClaimMap.members { try reader.read(member.name, into: &claims[keyPath: member.path]) }
        }
        try reader.read("rawUserInfo", into: &rawUserInfo)
        try applyEmailTrust(&reader)
        try reader.read("directSignIn") { (reader) throws(InvalidDefinition) in
            try reader.read("idToken", into: &directSignIn.idToken)
            try reader.read("accessToken", into: &directSignIn.accessToken)
        }
        if reader.has("revocation") {
            var rules = revocation ?? RevocationRules()
            try reader.read("revocation") { (reader) throws(InvalidDefinition) in
                try reader.read("style", into: &rules.style)
                try reader.read("duty", into: &rules.duty)
            }
            revocation = rules
        }
        try reader.read("federatedIDPrefix", into: &federatedIDPrefix)
        try reader.read("quirks", into: &quirks)
        try reader.finish()
    }

    /// The provider's addresses, names and keys.
    private mutating func applyLocation(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        let moves = ["endpoints", "issuers", "variables", "discoveryURL"].contains(where: reader.has)
        if moves { fallbackEndpoints = Endpoints() }
        try reader.read("endpoints") { (reader) throws(InvalidDefinition) in
            try reader.read("authorization", into: &endpoints.authorization)
            try reader.read("token", into: &endpoints.token)
            try reader.read("userInfo", into: &endpoints.userInfo)
            try reader.read("keys", into: &endpoints.keys)
            try reader.read("revocation", into: &endpoints.revocation)
            try reader.read("tokenCheck", into: &endpoints.tokenCheck)
            try reader.read("requestToken", into: &endpoints.requestToken)
        }
        try reader.read("issuers", into: &issuers)
        try reader.read("discovery", into: &discovery)
        try reader.read("discoveryURL", into: &discoveryURL)
        try reader.read("endpointHosts", into: &endpointHosts)
        if let value = reader.raw("jwks") {
            guard value == .null || ProviderKeySet(value).map({ !$0.keys.isEmpty }) == true else {
                throw reader.problem("jwks", "must be a JWK set with a usable key, or null")
            }
            jwks = value == .null ? nil : value.jsonText
        }
    }

    /// The authorization request, and how the client authenticates.
    private mutating func applyAuthorization(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        try reader.read("variables", into: &variables)
        try reader.read("scopes") { (reader) throws(InvalidDefinition) in
            try reader.read("default", into: &scopes.default)
            try reader.read("separator", into: &scopes.separator)
            try reader.read("answerSeparator", into: &scopes.answerSeparator)
            try reader.read("whenSupported", into: &scopes.whenSupported)
        }
        try applyResponseTypes(&reader)
        try reader.read("responseMode", into: &responseMode)
        try reader.read("pkce", into: &pkce)
        try reader.read("sendNonce", into: &sendNonce)
        try reader.read("clientAuth", into: &clientAuthentication)
        try reader.read("extraAuthorizationParameters", into: &extraAuthorizationParameters)
        try applyCustomParameters(&reader)
        try reader.read("variableParameters") { (reader) throws(InvalidDefinition) in
            for name in reader.names { try reader.read(name, into: &variableParameters[name, default: []]) }
        }
        try reader.read("redirect", into: &redirect)
        try reader.read("redirectURIs", into: &redirectURIs)
    }

    private mutating func applyTokens(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        try reader.read("token") { (reader) throws(InvalidDefinition) in
            try reader.read("accept", into: &token.accept)
            try reader.read("body", into: &token.body)
            try reader.read("errorInOK", into: &token.errorMembers)
            try reader.read("okMember", into: &token.okMember)
            try reader.read("extraParameters", into: &token.extraParameters)
            try reader.read("encodesBasic", into: &token.encodesBasic)
            try reader.read("check", into: &token.check)
        }
        try reader.read("idToken") { (reader) throws(InvalidDefinition) in
            var algorithms = idToken.algorithms ?? []
            try reader.read("algorithms", into: &algorithms)
            if reader.has("algorithms") { idToken.algorithms = algorithms }
            try reader.read("keyFormat", into: &idToken.keyFormat)
            try reader.read("nonce", into: &idToken.clientNonce)
            try reader.read("rawNonce", into: &idToken.rawNonce)
            try reader.read("maximumAge", into: &idToken.maximumAge)
            try reader.read("lenientBooleans", into: &idToken.lenientBooleans)
            try reader.read("requiresNonce", into: &idToken.requiresNonce)
        }
        try reader.read("refresh") { (reader) throws(InvalidDefinition) in
            try reader.read("supported", into: &refresh.supported)
            try reader.read("keepOldIfMissing", into: &refresh.keepOldIfMissing)
            try reader.read("resendScope", into: &refresh.resendScope)
            try reader.read("scopes", into: &refresh.scopes)
            try reader.read("parameters", into: &refresh.parameters)
            try reader.read("exchange", into: &refresh.exchange)
        }
        try reader.read("keepTokens", into: &keepTokens)
    }

    private mutating func applyResponseTypes(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        var texts = responseTypes.map(\.text)
        try reader.read("responseTypes", into: &texts)
        responseTypes = texts.compactMap(ResponseType.init)
        guard !texts.isEmpty, responseTypes.count == texts.count else {
            throw reader.problem("responseTypes", "must be a list of code, alone or with id_token and token")
        }
    }

    private mutating func applyCustomParameters(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        let name = "allowedCustomParameters"
        guard let value = reader.raw(name) else { return }
        if value == .string("anyExceptReserved") {
            customParameters = .anyExceptReserved
        } else if let names = value.array?.compactMap(\.string), names.count == value.array?.count {
            customParameters = .only(Set(names))
        } else {
            throw reader.problem(name, "must be \"anyExceptReserved\" or a list of names")
        }
    }

    private mutating func applyProfile(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        guard let calls = try reader.readList("profile") else { return }
        var profile: [ProfileCall] = []
        for var reader in calls {
            var call = ProfileCall()
            try reader.read("url", into: &call.url)
            try reader.read("name", into: &call.name)
            try reader.read("scheme", into: &call.scheme)
            try reader.read("headers", into: &call.headers)
            try reader.read("proof", into: &call.proof)
            try reader.read("optional", into: &call.optional)
            try reader.finish()
            profile.append(call)
        }
        self.profile = profile
    }

    private mutating func applyEmailTrust(_ reader: inout DefinitionReader) throws(InvalidDefinition) {
        let name = "emailTrust"
        switch reader.raw(name) {
        case nil: return
        case .null: emailTrust = nil
        case .string("always"): emailTrust = .always
        case .string("never"): emailTrust = .never
        case .string("claim"): emailTrust = .claim
        case .object:
            var domains: [String] = []
            var orAuthority = false
            try reader.read(name) { (reader) throws(InvalidDefinition) in
                try reader.read("domains", into: &domains)
                try reader.read("orAuthority", into: &orAuthority)
            }
            // As emails have them: in ASCII.
            let names = domains.map { EmailAddress("x@" + $0)?.domain ?? $0.lowercased() }
            emailTrust = .domains(Set(names), orAuthority: orAuthority)
        default:
            throw reader.problem(name, "must be always, never, claim or {\"domains\": […], \"orAuthority\": …}")
        }
    }
}
