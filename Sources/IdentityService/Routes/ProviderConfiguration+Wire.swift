import Linking
import Projects
import Secrets
import StrictJSON

extension ProviderConfiguration {
    /// Takes over the members of a request that the mask names.
    ///
    /// The secret stays when the request is silent about it.
    mutating func apply(_ body: WireObject, _ mask: FieldMask, _ collection: ProviderCollection) throws {
        if mask.contains("enabled") { enabled = try body.bool("enabled") ?? false }
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
        if mask.contains("definition") || mask.names("definition") { try apply(definition: body.object("definition")) }
        switch collection {
        case .builtIn: try applyApple(body, mask)
        case .custom:
            if mask.contains("displayName") { displayName = try body.string("displayName") }
            if mask.contains("issuer") { issuer = try body.string("issuer") }
            if mask.contains("responseType") || mask.names("responseType") {
                try check(responseType: body.object("responseType"))
            }
        }
    }

    /// Ours: `audiences` stands beside the definition's own members, which are kept as they came.
    private mutating func apply(definition: WireObject?) throws {
        // Apple's stand in `appleSignInConfig` as well: silence here takes none away.
        if try provider != .apple || definition?.has("audiences") == true {
            audiences = try definition?.strings("audiences") ?? []
        }
        let members = (definition?.members ?? []).filter { $0.name != "audiences" && !$0.value.isNull }
        overrides = members.isEmpty ? nil : JSONValue.object(JSONObject(members)).jsonText
    }

    /// Exactly one of `code`, which needs a secret, and `idToken`.
    ///
    /// The service runs the code flow either way.
    private func check(responseType: WireObject?) throws {
        guard let responseType else { return }
        let code = try responseType.bool("code") ?? false
        let idToken = try responseType.bool("idToken") ?? false
        guard code != idToken else {
            throw WireError("INVALID_CONFIG", "The response type must set exactly one of idToken and code.")
        }
        guard !code || clientSecret != nil else {
            throw WireError("INVALID_CONFIG", "client_secret cannot be empty for code flow.")
        }
    }

    /// Firebase's shape of what the definition calls `audiences`, `variables` and the client secret.
    private mutating func applyApple(_ body: WireObject, _ mask: FieldMask) throws {
        guard mask.contains("appleSignInConfig") || mask.names("appleSignInConfig"),
            let apple = try body.object("appleSignInConfig")
        else { return }
        audiences = try apple.strings("bundleIds")
        guard let codeFlow = try apple.object("codeFlowConfig") else { return }
        if let key = try codeFlow.string("privateKey"), !key.isEmpty { clientSecret = Secret(key) }
        var variables = definitionVariables
        for name in ["teamId", "keyId"] {
            if let value = try codeFlow.string(name) { variables[name] = .string(value) }
        }
        var members = overrides.flatMap { try? JSONValue($0) }?.object ?? JSONObject()
        members["variables"] = .object(variables)
        overrides = JSONValue.object(members).jsonText
    }

    fileprivate var definitionVariables: JSONObject {
        overrides.flatMap { try? JSONValue($0) }?.object?["variables"]?.object ?? JSONObject()
    }
}

extension JSONWriter {
    /// A provider's configuration; its secret is never shown.
    mutating func provider(_ provider: ProviderConfiguration, _ collection: ProviderCollection, _ project: Project) {
        member("name", collection.name(of: provider.provider, in: project))
        member("enabled", ifTrue: provider.enabled)
        member("clientId", provider.clientID)
        if case .custom = collection {
            member("displayName", provider.displayName)
            member("issuer", provider.issuer)
            object("responseType") { $0.member(provider.clientSecret == nil ? "idToken" : "code", true) }
        }
        if provider.provider == .apple { appleSignIn(provider) }
        definition(of: provider)
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

    private mutating func definition(of provider: ProviderConfiguration) {
        let overrides = provider.overrides.flatMap { try? JSONValue($0) }
        guard overrides != nil || !provider.audiences.isEmpty else { return }
        object("definition") { json in
            if !provider.audiences.isEmpty { json.member("audiences", strings: provider.audiences) }
            for member in overrides?.object?.members ?? [] {
                json.name(member.name)
                json.value(member.value)
            }
        }
    }
}
