import Federation
import Linking

/// The two collections of identity providers, which differ in their ids and members.
enum ProviderCollection: String, Sendable {
    /// `google.com`, `github.com`, …: what the service knows by itself.
    case builtIn = "defaultSupportedIdpConfigs"
    /// `oidc.*`, and `oauth.*` of ours.
    case custom = "oauthIdpConfigs"

    /// The query parameter that names a new one.
    var idParameter: String {
        switch self {
        case .builtIn: "idpId"
        case .custom: "oauthIdpConfigId"
        }
    }

    /// What messages call one.
    var typeName: String {
        switch self {
        case .builtIn: "DefaultSupportedIdpConfig"
        case .custom: "OAuthIdpConfig"
        }
    }

    func contains(_ id: ProviderID) -> Bool {
        let isCustom = id.isOIDC || id.isOAuth2
        return ProviderDefinition.isKnown(id) && isCustom == (self == .custom)
    }

    /// What `updateMask` may name: members of a configuration of this collection; `name` is shown alone.
    func hasMember(_ path: String, of id: ProviderID) -> Bool {
        if path.hasPrefix("definition.") {
            return path == "definition.audiences" || ProviderDefinition.hasMember(path, of: id)
        }
        let shared = ["name", "enabled", "clientId", "clientSecret", "webhookSecret", "definition"]
        let own =
            switch self {
            case .builtIn:
                [
                    "appleSignInConfig", "appleSignInConfig.bundleIds", "appleSignInConfig.codeFlowConfig",
                    "appleSignInConfig.codeFlowConfig.teamId", "appleSignInConfig.codeFlowConfig.keyId",
                    "appleSignInConfig.codeFlowConfig.privateKey",
                ]
            case .custom: ["displayName", "issuer", "responseType", "responseType.code", "responseType.idToken"]
            }
        return (shared + own).contains(path)
    }

    /// - Parameter place: `projects/123456789012`, or one of its tenants.
    func name(of id: ProviderID, in place: String) -> String { "\(place)/\(rawValue)/\(id)" }
}
