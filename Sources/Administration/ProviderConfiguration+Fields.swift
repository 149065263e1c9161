package import Domain
package import Federation
package import Projects
package import StrictJSON

extension ProviderID {
    /// `oidc.*` and `oauth.*`, which admins name.
    package var isCustom: Bool { isOIDC || isOAuth2 }
}

extension ProviderConfiguration {
    /// The response type that is in effect.
    package var shownResponseType: ResponseType { responseType ?? (clientSecret == nil ? .idToken : .code) }

    /// Chooses exactly one type; one of nil is not named, and gives way to the other one.
    package mutating func setResponseType(code: Bool?, idToken: Bool?) throws(AdministrationError) {
        let shown = shownResponseType
        let idToken = idToken ?? (code != true && shown == .idToken)
        let code = code ?? (!idToken && shown == .code)
        guard code != idToken else { throw .invalid("The response type must set exactly one of idToken and code.") }
        responseType = code ? .code : .idToken
    }

    package var saml: SAMLDefinition {
        get { SAMLDefinition(overrides) }
        set { overrides = JSONValue.object(newValue.json).jsonText }
    }

    /// `definition{}`: the overrides, after `audiences`, which are a field of their own; nil if it is empty.
    package var definition: JSONObject? {
        var members = readOverrides?.object?.members ?? []
        if !audiences.isEmpty {
            let value = JSONValue.array(audiences.map { .string($0) })
            members.insert(JSONObject.Member(name: "audiences", value: value), at: 0)
        }
        return members.isEmpty ? nil : JSONObject(members)
    }

    /// The variables of the definition.
    package var variables: JSONObject { readOverrides?.object?["variables"]?.object ?? JSONObject() }

    /// Sets the member of `definition{}` at a path, or all of it, except `audiences`.
    ///
    /// Nil removes the member, and objects that lose their last one.
    package mutating func setDefinition(_ path: [String] = [], to value: JSONValue?) {
        let definition = Self.merged(path[...], value, over: readOverrides)?.object?.members ?? []
        let members = definition.filter { $0.name != "audiences" && !$0.value.isNull }
        overrides = members.isEmpty ? nil : JSONValue.object(JSONObject(members)).jsonText
    }

    private var readOverrides: JSONValue? { overrides.flatMap { try? JSONValue(parsing: $0) } }

    private static func merged(_ path: ArraySlice<String>, _ value: JSONValue?, over old: JSONValue?) -> JSONValue? {
        guard let name = path.first else { return value }
        var object = old?.object ?? JSONObject()
        object[name] = merged(path.dropFirst(), value, over: object[name])
        guard object.members.isEmpty else { return .object(object) }
        return old?.object == nil ? old : nil
    }
}
