package import Projects
package import StrictJSON

/// The document by which clients find a project's endpoints: OpenID Connect Discovery 1.0 §3 and RFC 8414 §2, which are
/// the same here.
package enum ProviderMetadata {
    /// - Parameters:
    ///   - issuer: the project's, without a trailing `/`.
    ///   - keys: the URL of the JWK set.
    ///   - algorithms: those of the signing keys.
    ///   - clientAlgorithms: those that clients may sign with.
    package static func document(
        issuer: String,
        keys: String,
        algorithms: [String],
        clientAlgorithms: [String],
        _ settings: OAuthSettings
    ) -> JSONObject {
        func texts(_ values: [String]) -> JSONValue { .array(values.map { .string($0) }) }
        let authentication = texts(ClientMetadata.Authentication.allCases.map(\.rawValue))
        var document: JSONObject = [
            "issuer": .string(issuer),
            "authorization_endpoint": .string(issuer + Endpoint.authorize.rawValue),
            "token_endpoint": .string(issuer + Endpoint.token.rawValue),
            "userinfo_endpoint": .string(issuer + Endpoint.userInfo.rawValue),
            "introspection_endpoint": .string(issuer + Endpoint.introspect.rawValue),
            "end_session_endpoint": .string(issuer + Endpoint.signOut.rawValue),
            "revocation_endpoint": .string(issuer + Endpoint.revoke.rawValue),
            "pushed_authorization_request_endpoint": .string(issuer + Endpoint.push.rawValue),
            "device_authorization_endpoint": .string(issuer + Endpoint.beginDevice.rawValue),
            "jwks_uri": .string(keys),
            "scopes_supported": texts(Scopes.standard + settings.scopes.keys.sorted()),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": texts(ClientMetadata.GrantType.allCases.map(\.rawValue)),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": authentication,
            "token_endpoint_auth_signing_alg_values_supported": texts(clientAlgorithms),
            "dpop_signing_alg_values_supported": texts(clientAlgorithms),
            "introspection_endpoint_auth_methods_supported": authentication,
            "revocation_endpoint_auth_methods_supported": authentication,
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": texts(algorithms),
            "claims_supported": texts([
                "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "amr", "sid", "name", "picture",
                "preferred_username", "birthdate", "locale", "zoneinfo", "email", "email_verified", "phone_number",
                "phone_number_verified",
            ]),
            "prompt_values_supported": texts(AuthorizationRequest.Prompt.allCases.map(\.rawValue)),
            "authorization_response_iss_parameter_supported": true,
            "backchannel_logout_supported": true,
            "backchannel_logout_session_supported": true,
            "claims_parameter_supported": false,
            "request_parameter_supported": false,
            "request_uri_parameter_supported": false,
        ]
        if settings.allowsRegistration {
            document["registration_endpoint"] = .string(issuer + Endpoint.register.rawValue)
        }
        if settings.allowsDocuments { document["client_id_metadata_document_supported"] = true }
        return document
    }

    /// The paths below an issuer.
    package enum Endpoint: String, Sendable, CaseIterable {
        case authorize = "/oauth/authorize"
        /// Where the sign-in page leads back to.
        case goOn = "/oauth/continue"
        case token = "/oauth/token"
        case userInfo = "/oauth/userinfo"
        case introspect = "/oauth/introspect"
        case revoke = "/oauth/revoke"
        case signOut = "/oauth/logout"
        case register = "/oauth/register"
        case push = "/oauth/par"
        case beginDevice = "/oauth/device_authorization"
        /// Where a user types a device's code.
        case device = "/oauth/device"
        /// Where users see what they granted, and withdraw it.
        case grants = "/oauth/grants"

        /// Where clients authenticate.
        package static let ofClients: [Endpoint] = [.token, .push, .beginDevice, .introspect, .revoke]
    }
}
