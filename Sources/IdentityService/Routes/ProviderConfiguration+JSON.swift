import Administration
import Domain
import Federation
import Projects
import Secrets
import StrictJSON

extension Patch<ProviderConfiguration> {
    /// The members of a request that are in the mask.
    ///
    /// A secret that the request omits stays.
    init(_ body: WireObject, _ mask: FieldMask, of id: ProviderID, in collection: ProviderCollection) throws {
        self.init()
        if mask.contains("enabled") { set(\.enabled, to: try body.bool("enabled") ?? false) }
        if collection != .builtIn, mask.contains("displayName") {
            set(\.displayName, to: try body.string("displayName"))
        }
        switch collection {
        case .builtIn:
            try setClient(body, mask, of: id)
            if id == .apple { try setApple(body, mask) }
        case .custom:
            try setClient(body, mask, of: id)
            if mask.contains("issuer") { set(\.issuer, to: try body.string("issuer")) }
            try setResponseType(body, mask)
        case .saml: try setSAML(body, mask)
        }
    }

    private mutating func setClient(_ body: WireObject, _ mask: FieldMask, of id: ProviderID) throws {
        if mask.contains("clientId") { set(\.clientID, to: try body.string("clientId") ?? "") }
        setSecret(\.clientSecret, to: try body.string("clientSecret"), at: "clientSecret", mask)
        setSecret(\.webhookSecret, to: try body.string("webhookSecret"), at: "webhookSecret", mask)
        // Not part of Firebase.
        let sent = try body.object("definition")
        if mask.contains("definition") {
            try setDefinition(sent, of: id)
        } else {
            let definition = sent.map { JSONValue.object(JSONObject($0.members)) }
            for (path, value) in try mask.members(of: "definition", in: definition) {
                change { $0.setDefinition(path, to: value) }
            }
        }
        if mask.names("definition.audiences") { set(\.audiences, to: try sent?.strings("audiences") ?? []) }
    }

    /// The whole `definition{}`, with `audiences`.
    ///
    /// Apple's audiences are also in `appleSignInConfig`: omitting them here does not remove them.
    mutating func setDefinition(_ definition: WireObject?, of id: ProviderID) throws {
        if try id != .apple || definition?.has("audiences") ?? false {
            set(\.audiences, to: try definition?.strings("audiences") ?? [])
        }
        let value = definition.map { JSONValue.object(JSONObject($0.members)) }
        change { $0.setDefinition(to: value) }
    }

    /// An empty secret removes the stored one, as does omitting one that the mask names.
    private mutating func setSecret(
        _ field: any WritableKeyPath<ProviderConfiguration, Secret?> & Sendable,
        to text: String?,
        at path: String,
        _ mask: FieldMask
    ) {
        guard text != nil && mask.contains(path) || mask.names(path) else { return }
        set(field, to: text.flatMap { $0.isEmpty ? nil : Secret($0) })
    }

    private mutating func setResponseType(_ body: WireObject, _ mask: FieldMask) throws {
        let sent = try body.object("responseType")
        if mask.contains("responseType"), sent == nil { return set(\.responseType, to: nil) }
        let code = try mask.contains("responseType.code") ? sent?.bool("code") ?? false : nil
        let idToken = try mask.contains("responseType.idToken") ? sent?.bool("idToken") ?? false : nil
        guard code != nil || idToken != nil else { return }
        change { try $0.setResponseType(code: code, idToken: idToken) }
    }

    /// Firebase's format for the definition's `audiences`, `variables` and the client secret.
    ///
    /// They can be set in it alone: omitting the whole object removes nothing.
    private mutating func setApple(_ body: WireObject, _ mask: FieldMask) throws {
        let (name, codeFlowName) = ("appleSignInConfig", "appleSignInConfig.codeFlowConfig")
        let sent = try body.object(name)
        if mask.contains(name + ".bundleIds"), sent != nil || mask.names(name) {
            set(\.audiences, to: try sent?.strings("bundleIds") ?? [])
        }
        let codeFlow = try sent?.object("codeFlowConfig")
        let key = try codeFlow?.string("privateKey").flatMap { $0.isEmpty ? nil : $0 }
        setSecret(\.clientSecret, to: key, at: codeFlowName + ".privateKey", mask)
        for variable in ["teamId", "keyId"] {
            let path = codeFlowName + "." + variable
            let value = try codeFlow?.string(variable)
            guard value != nil && mask.contains(path) || mask.names(path) else { continue }
            change { $0.setDefinition(["variables", variable], to: value.map { .string($0) }) }
        }
    }

    /// `spCertificates` cannot be set.
    private mutating func setSAML(_ body: WireObject, _ mask: FieldMask) throws {
        let provider = try body.object("idpConfig") ?? WireObject()
        if mask.contains("idpConfig.idpEntityId") { set(\.saml.entityID, to: try provider.string("idpEntityId") ?? "") }
        if mask.contains("idpConfig.ssoUrl") { set(\.saml.ssoURL, to: try provider.string("ssoUrl") ?? "") }
        if mask.contains("idpConfig.signRequest") {
            set(\.saml.signsRequests, to: try provider.bool("signRequest") ?? false)
        }
        if mask.contains("idpConfig.idpCertificates") {
            let certificates = try provider.objects("idpCertificates").map { try $0.string("x509Certificate") ?? "" }
            set(\.saml.certificates, to: certificates)
        }
        let own = try body.object("spConfig") ?? WireObject()
        if mask.contains("spConfig.spEntityId") { set(\.saml.ownEntityID, to: try own.string("spEntityId") ?? "") }
        if mask.contains("spConfig.callbackUri") { set(\.saml.callbackURI, to: try own.string("callbackUri") ?? "") }
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
            for part in provider.saml.json.members {
                name(part.name)
                value(part.value)
            }
            return
        }
        member("clientId", provider.clientID)
        if case .custom = collection {
            member("displayName", provider.displayName)
            member("issuer", provider.issuer)
            // What nobody set is not shown: Terraform would want it away.
            if let type = provider.responseType { object("responseType") { $0.member(type.rawValue, true) } }
        }
        if provider.provider == .apple { appleSignIn(provider) }
        if let definition = provider.definition {
            name("definition")
            value(.object(definition))
        }
    }

    private mutating func appleSignIn(_ provider: ProviderConfiguration) {
        let variables = provider.variables
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
