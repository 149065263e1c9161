import Federation
import Linking
import Projects
import Secrets
import StrictJSON

extension ProviderConfiguration {
    /// Applies the request's members in the mask.
    ///
    /// A secret that the request omits stays.
    mutating func apply(_ body: WireObject, _ mask: FieldMask, _ collection: ProviderCollection) throws {
        if mask.contains("enabled") { enabled = try body.bool("enabled") ?? false }
        if collection != .builtIn, mask.contains("displayName") { displayName = try body.string("displayName") }
        switch collection {
        case .builtIn:
            try applyClient(body, mask)
            if provider == .apple { try applyApple(body, mask) }
        case .custom:
            try applyClient(body, mask)
            if mask.contains("issuer") { issuer = try body.string("issuer") }
            try applyResponseType(body, mask)
        case .saml: try applySAML(body, mask)
        }
    }

    private mutating func applyClient(_ body: WireObject, _ mask: FieldMask) throws {
        if mask.contains("clientId") { clientID = try body.string("clientId") ?? "" }
        if let secret = try body.string("clientSecret"), mask.contains("clientSecret") {
            clientSecret = secret.isEmpty ? nil : Secret(secret)
        } else if mask.names("clientSecret") {
            clientSecret = nil
        }
        if let secret = try body.string("webhookSecret"), mask.contains("webhookSecret") {
            webhookSecret = secret.isEmpty ? nil : Secret(secret)
        } else if mask.names("webhookSecret") {
            webhookSecret = nil
        }
        try applyDefinition(body, mask)
    }

    /// Not part of Firebase: `audiences` is next to the definition's own members, which are stored as received.
    private mutating func applyDefinition(_ body: WireObject, _ mask: FieldMask) throws {
        let name = "definition"
        guard mask.contains(name) || mask.names(name) else { return }
        let sent = try body.object(name).map { JSONValue.object(JSONObject($0.members)) }
        let merged = try mask.merge(sent, over: writtenDefinition.map { .object($0) }, at: name)
        let definition = WireObject(merged?.object?.members ?? [], path: name)
        // Apple's audiences are also in `appleSignInConfig`: omitting the definition does not remove them.
        if try provider != .apple || definition.has("audiences") || mask.names("definition.audiences") {
            audiences = try definition.strings("audiences")
        }
        write(JSONObject(definition.members.filter { $0.name != "audiences" && !$0.value.isNull }))
    }

    private mutating func write(_ definition: JSONObject) {
        overrides = definition.members.isEmpty ? nil : JSONValue.object(definition).jsonText
    }

    /// Exactly one of `code`, which needs a secret, and `idToken`; one that the mask does not contain is replaced.
    private mutating func applyResponseType(_ body: WireObject, _ mask: FieldMask) throws {
        let sent = try body.object("responseType")
        let names = (code: mask.contains("responseType.code"), idToken: mask.contains("responseType.idToken"))
        if mask.contains("responseType"), sent == nil {
            responseType = nil
        } else if names.code || names.idToken {
            let shown = shownResponseType
            var code = try names.code && sent?.bool("code") ?? false
            let idToken = try names.idToken ? sent?.bool("idToken") ?? false : !code && shown == .idToken
            if !names.code { code = !idToken && shown == .code }
            guard code != idToken else {
                throw WireError("INVALID_CONFIG", "The response type must set exactly one of idToken and code.")
            }
            responseType = code ? .code : .idToken
        }
        guard responseType != .code || clientSecret != nil else {
            throw WireError("INVALID_CONFIG", "client_secret cannot be empty for code flow.")
        }
    }

    fileprivate var shownResponseType: ResponseType { responseType ?? (clientSecret == nil ? .idToken : .code) }

    /// Firebase's format for the definition's `audiences`, `variables` and the client secret.
    ///
    /// They can be set in it alone: omitting the whole object removes nothing.
    private mutating func applyApple(_ body: WireObject, _ mask: FieldMask) throws {
        let (name, codeFlowName) = ("appleSignInConfig", "appleSignInConfig.codeFlowConfig")
        let sent = try body.object(name)
        if mask.contains(name + ".bundleIds"), sent != nil || mask.names(name) {
            audiences = try sent?.strings("bundleIds") ?? []
        }
        let codeFlow = try sent?.object("codeFlowConfig")
        if let key = try codeFlow?.string("privateKey"), !key.isEmpty, mask.contains(codeFlowName + ".privateKey") {
            clientSecret = Secret(key)
        } else if mask.names(codeFlowName + ".privateKey") {
            clientSecret = nil
        }
        var variables = definitionVariables
        for variable in ["teamId", "keyId"] {
            let path = codeFlowName + "." + variable
            if let value = try codeFlow?.string(variable), mask.contains(path) {
                variables[variable] = .string(value)
            } else if mask.names(path) {
                variables[variable] = nil
            }
        }
        guard variables != definitionVariables else { return }
        var members = overrides.flatMap { try? JSONValue($0) }?.object ?? JSONObject()
        members["variables"] = variables.members.isEmpty ? nil : .object(variables)
        write(members)
    }

    var definitionVariables: JSONObject { writtenDefinition?["variables"]?.object ?? JSONObject() }

    /// `definition{}` as it is returned; nil if it is empty.
    var writtenDefinition: JSONObject? {
        var members = overrides.flatMap { try? JSONValue($0) }?.object?.members ?? []
        if !audiences.isEmpty {
            let value = JSONValue.array(audiences.map { .string($0) })
            members.insert(JSONObject.Member(name: "audiences", value: value), at: 0)
        }
        return members.isEmpty ? nil : JSONObject(members)
    }
}

extension JSONWriter {
    /// A provider's configuration without its secret.
    ///
    /// - Parameter place: the project or tenant, as the start of its resource name.
    mutating func provider(_ provider: ProviderConfiguration, _ collection: ProviderCollection, _ place: String) {
        member("name", collection.name(of: provider.provider, in: place))
        member("enabled", ifTrue: provider.enabled)
        if case .saml = collection {
            member("displayName", provider.displayName)
            for part in SAMLDefinition(provider.overrides).json.members {
                name(part.name)
                value(part.value)
            }
            return
        }
        member("clientId", provider.clientID)
        if case .custom = collection {
            member("displayName", provider.displayName)
            member("issuer", provider.issuer)
            object("responseType") { $0.member(provider.shownResponseType.rawValue, true) }
        }
        if provider.provider == .apple { appleSignIn(provider) }
        if let definition = provider.writtenDefinition {
            name("definition")
            value(.object(definition))
        }
    }

    private mutating func appleSignIn(_ provider: ProviderConfiguration) {
        let variables = provider.definitionVariables
        let (team, key) = (variables["teamId"]?.string, variables["keyId"]?.string)
        guard !provider.audiences.isEmpty || team != nil || key != nil else { return }
        object("appleSignInConfig") { json in
            if team != nil || key != nil {
                json.object("codeFlowConfig") { json in
                    json.member("teamId", team)
                    json.member("keyId", key)
                }
            }
            if !provider.audiences.isEmpty { json.member("bundleIds", strings: provider.audiences) }
        }
    }
}
