package import Domain
package import Secrets

/// An admin's configuration of one identity provider of a project.
///
/// Together with the built-in definition of the same ID (`Federation`), it is everything that a sign-in needs. Members
/// that only our definitions have are in ``overrides``.
package struct ProviderConfiguration: Sendable, Hashable {
    package var provider: ProviderID
    package var enabled: Bool
    package var displayName: String?
    package var clientID: String
    package var clientSecret: Secret?
    /// The secret with which the provider signs its webhooks.
    package var webhookSecret: Secret?
    /// Additional client IDs that an ID token may contain in `aud`: native apps, bundle IDs.
    package var audiences: [String]
    /// The issuer of `oidc.*`; nil for built-in providers.
    package var issuer: String?
    /// The value that Firebase's consoles and SDKs set and expect to read again; nil for the default, which depends on
    /// the secret.
    ///
    /// The service uses the code flow in either case.
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

    /// Hashes the members that usually differ: every sign-in looks up its provider's definition by its configuration.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(provider)
        hasher.combine(clientID)
    }
}
