import Administration
import Domain
import Federation

/// The collections of identity providers, which differ in their IDs and members.
enum ProviderCollection: String, Sendable {
    /// `google.com`, `github.com`, …: providers with built-in definitions.
    case builtIn = "defaultSupportedIdpConfigs"
    /// `oidc.*`, and `oauth.*`, which is not part of Firebase.
    case custom = "oauthIdpConfigs"
    /// `saml.*`: stored, but never used.
    case saml = "inboundSamlConfigs"

    /// The query parameter with the ID of a new one.
    var idParameter: String {
        switch self {
        case .builtIn: "idpId"
        case .custom: "oauthIdpConfigId"
        case .saml: "inboundSamlConfigId"
        }
    }

    /// The type's name in messages.
    var typeName: String {
        switch self {
        case .builtIn: "DefaultSupportedIdpConfig"
        case .custom: "OAuthIdpConfig"
        case .saml: "InboundSamlConfig"
        }
    }

    func contains(_ id: ProviderID) -> Bool {
        switch self {
        case .builtIn: ProviderDefinition.isKnown(id) && !id.isCustom
        case .custom: ProviderDefinition.isKnown(id) && id.isCustom
        case .saml: SAMLDefinition.isKnown(id)
        }
    }

    /// The paths that `updateMask` may contain: members of a configuration of this collection; `name` is output only.
    func hasMember(_ path: String, of id: ProviderID) -> Bool {
        if path.hasPrefix("definition."), self != .saml {
            return path == "definition.audiences" || ProviderDefinition.hasMember(path, of: id)
        }
        return paths.contains { $0 == path || $0.hasPrefix(path + ".") }
    }

    /// What a member is, as in ``FieldMask``.
    func kind(_ path: String, of id: ProviderID) -> FieldMask.Kind {
        guard path.hasPrefix("definition") else { return paths.contains(path) ? .value : .message }
        // Any name is one of a map's.
        return ProviderDefinition.hasMember(path + ".any-name", of: id) ? .value : .message
    }

    /// What a configuration may have; the members of `definition` are the definition's to check.
    var members: MemberNames { MemberNames(paths.map { ($0, .any) }) }

    private var paths: [String] {
        let ofClients = ["name", "enabled", "clientId", "clientSecret", "webhookSecret", "definition"]
        return switch self {
        case .builtIn:
            ofClients + [
                "appleSignInConfig.bundleIds", "appleSignInConfig.codeFlowConfig.teamId",
                "appleSignInConfig.codeFlowConfig.keyId", "appleSignInConfig.codeFlowConfig.privateKey",
            ]
        case .custom: ofClients + ["displayName", "issuer", "responseType.code", "responseType.idToken"]
        case .saml:
            [
                "name", "enabled", "displayName", "idpConfig.idpEntityId", "idpConfig.ssoUrl", "idpConfig.signRequest",
                "idpConfig.idpCertificates", "spConfig.spEntityId", "spConfig.callbackUri", "spConfig.spCertificates",
            ]
        }
    }

    /// - Parameter place: `projects/123456789012`, or one of its tenants.
    func name(of id: ProviderID, in place: String) -> String { "\(place)/\(rawValue)/\(id)" }
}
