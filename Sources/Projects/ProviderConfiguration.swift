package import Linking
package import Secrets

/// What an admin entered for one identity provider of a project.
///
/// Together with the built-in definition of the same id (`Federation`) it is all that a sign-in needs. Members that
/// only our own definitions have stand in ``overrides``.
package struct ProviderConfiguration: Sendable, Hashable {
    package var provider: ProviderID
    package var enabled: Bool
    package var displayName: String?
    package var clientID: String
    package var clientSecret: Secret?
    /// With which the provider signs its webhooks.
    package var webhookSecret: Secret?
    /// Client ids besides ``clientID`` that an ID token may name in `aud`: native apps, bundle ids.
    package var audiences: [String]
    /// The issuer of `oidc.*`; nil for built-in providers.
    package var issuer: String?
    /// What Firebase's consoles and SDKs configured and want to see again; nil for what follows from the secret.
    ///
    /// The service runs the code flow either way.
    package var responseType: ResponseType?
    /// Overrides of the definition as JSON (`definition{}` on the wire); nil for none.
    package var overrides: String?

    package enum ResponseType: String, Sendable, Hashable { case code, idToken }

    package init(
        provider: ProviderID,
        enabled: Bool,
        displayName: String? = nil,
        clientID: String,
        clientSecret: Secret? = nil,
        webhookSecret: Secret? = nil,
        audiences: [String] = [],
        issuer: String? = nil,
        overrides: String? = nil
    ) {
        self.provider = provider
        self.enabled = enabled
        self.displayName = displayName
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.webhookSecret = webhookSecret
        self.audiences = audiences
        self.issuer = issuer
        self.overrides = overrides
    }

    /// Of what tells most of them apart: every sign-in looks its provider's definition up by its configuration.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        hasher.combine(clientID)
    }
}
