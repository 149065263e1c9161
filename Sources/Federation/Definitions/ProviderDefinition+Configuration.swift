package import Domain
package import Projects
import StrictJSON
import Text

extension ProviderDefinition {
    /// Checks an admin's configuration without calling the provider.
    ///
    /// - Parameters:
    ///   - allowsLoopback: whether http URLs on loopback are allowed.
    ///   - now: seconds since 1970, for a secret that expires; nil if the configuration had it before, because a secret
    ///     that has expired must not keep an admin from other changes.
    /// - Throws: ``InvalidDefinition``, whose text is for the admin.
    package static func validate(
        _ configuration: ProviderConfiguration,
        allowsLoopback: Bool,
        now: Int64? = nil
    ) throws(InvalidDefinition) {
        let definition = try make(for: configuration, allowsLoopback: allowsLoopback)
        guard definition.clientAuthentication == .appleSecret, let now, let text = configuration.clientSecret else {
            return
        }
        try AppleClientSecret(text)?.checkTime(now: now)
    }

    /// Whether an ID can be configured: built in, or `oidc.` or `oauth.` and 1 to 64 of `[A-Za-z0-9_-]`.
    package static func isKnown(_ id: ProviderID) -> Bool {
        builtIn.keys.contains(id) || hasName(id) && (id.isOIDC || id.isOAuth2)
    }

    /// Whether an ID can be a provider's, configured or not, here or in Firebase: any other is the app's mistake.
    package static func exists(_ id: ProviderID) -> Bool {
        isKnown(id) || SAMLDefinition.isKnown(id) || ["gc.apple.com", "playgames.google.com"].contains(id)
    }

    /// Whether a configuration must contain the issuer, because no built-in definition has one.
    package static func needsIssuer(_ id: ProviderID) -> Bool { id.isOIDC && builtIn[id] == nil }

    /// Whether a configuration has a member at a path such as `definition.endpoints.token`; a list is one member.
    package static func hasMember(_ path: String, of id: ProviderID) -> Bool {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        guard names.count > 1, names.first == "definition", !names.contains(""), var definition = template(for: id)
        else { return false }
        let probe = names.dropFirst().reversed().reduce(JSONValue.null) { value, name in
            .object(JSONObject([JSONObject.Member(name: name, value: value)]))
        }
        do throws(InvalidDefinition) {
            try definition.apply(probe.object ?? JSONObject())
            return true
        } catch {
            // An existing member may still not allow null.
            return error.member == path && error.problem != InvalidDefinition.unknownMember
        }
    }

    /// The definition that results from a configuration, with its variables filled in.
    ///
    /// - Parameter chosen: variables that an app chose; ``variableParameters`` must allow them.
    package static func make(
        for configuration: ProviderConfiguration,
        choosing chosen: [String: String] = [:],
        allowsLoopback: Bool
    ) throws(InvalidDefinition) -> ProviderDefinition {
        guard var definition = template(for: configuration.provider) else {
            throw InvalidDefinition(member: "providerId", problem: "is not a provider that can be configured")
        }
        if let issuer = configuration.issuer, definition.issuers.first != issuer {
            definition.issuers = [issuer]
            definition.fallbackEndpoints = Endpoints()
        }
        if let text = configuration.overrides {
            let overrides: JSONValue
            do throws(JSONError) {
                overrides = try JSONValue(parsing: text)
            } catch {
                throw InvalidDefinition(member: "definition", problem: "is not valid JSON: \(error)")
            }
            guard let object = overrides.object else {
                throw InvalidDefinition(member: "definition", problem: "must be an object")
            }
            try definition.apply(object)
        }
        definition.variables["clientId"] = PercentEncoding.encode(configuration.clientID)
        for (name, value) in chosen {
            guard definition.variables[name] == value || definition.variableParameters[name]?.contains(value) == true
            else { throw InvalidDefinition(member: "definition.variableParameters", problem: "does not allow this") }
            definition.variables[name] = value
        }
        try definition.fillVariables()
        if definition.protocolKind != .oidc, definition.issuers.isEmpty,
            let endpoint = definition.endpoints.authorization.flatMap(URLParts.init), let host = endpoint.host
        {
            // As the configuration writes it: the name is stored with each subject, so it must never change.
            definition.issuers = [endpoint.scheme + "://" + host + (endpoint.port.map { ":\($0)" } ?? "")]
        }
        try DefinitionCheck(definition: definition, allowsLoopback: allowsLoopback).run(configuration)
        return definition
    }

    /// The definition of a provider without a configuration; nil for an ID that cannot be configured.
    static func unconfigured(_ id: ProviderID) -> ProviderDefinition? {
        guard var definition = template(for: id) else { return nil }
        definition.variables["clientId"] = ""
        return (try? definition.fillVariables()) == nil ? nil : definition
    }

    /// Replaces `{name}` with its variable.
    private mutating func fillVariables() throws(InvalidDefinition) {
        func fill(_ text: String, _ member: String, leaving kept: String = "") throws(InvalidDefinition) -> String {
            var filled = text
            for (name, value) in variables { filled = filled.replacing("{\(name)}", with: value) }
            let rest = kept.isEmpty ? filled : filled.replacing(kept, with: "")
            guard !rest.contains("{"), !rest.contains("}") else {
                throw InvalidDefinition(member: "definition." + member, problem: "names an unknown variable")
            }
            return filled
        }
        let paths: [(String, WritableKeyPath<Self, String?>)] = [
            ("endpoints.authorization", \.endpoints.authorization), ("endpoints.token", \.endpoints.token),
            ("endpoints.userInfo", \.endpoints.userInfo), ("endpoints.keys", \.endpoints.keys),
            ("endpoints.revocation", \.endpoints.revocation), ("endpoints.tokenCheck", \.endpoints.tokenCheck),
            ("endpoints.requestToken", \.endpoints.requestToken), ("discoveryURL", \.discoveryURL),
        ]
        for (name, path) in paths {
            if let text = self[keyPath: path] { self[keyPath: path] = try fill(text, name) }
        }
        let claim = quirks.contains(.microsoftTenant) ? "{tid}" : ""
        for index in issuers.indices {
            issuers[index] = try fill(issuers[index], "issuers[\(index)]", leaving: claim)
        }
        for index in profile.indices {
            if let url = profile[index].url { profile[index].url = try fill(url, "profile[\(index)].url") }
        }
    }
}
