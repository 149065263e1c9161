import Delivery
package import Domain
import Federation
package import Projects
import Secrets
import Storage
import StrictJSON
import struct Foundation.Date

/// Creates, changes and deletes the identity providers of a project or tenant.
package struct ChangeProvider: Sendable {
    let configuration: ConfigurationStore
    let outbox: OutboxStore
    /// Whether http URLs on loopback are allowed.
    let allowsLoopback: Bool

    /// - Throws: ``AdministrationError``; ``Storage/ConfigurationError/alreadyExists``,
    ///   ``Storage/ConfigurationError/tokensKept``.
    package func create(
        _ id: ProviderID,
        _ patch: Patch<ProviderConfiguration>,
        in scope: Scope
    ) async throws -> ProviderConfiguration {
        guard ProviderDefinition.isKnown(id) || SAMLDefinition.isKnown(id) else {
            throw AdministrationError.invalidProviderID
        }
        var provider = ProviderConfiguration(provider: id, enabled: false, clientID: "")
        try apply(patch, to: &provider)
        // Those of a configuration of before, which may have been deleted a moment ago (T-D32).
        guard try await !configuration.keepsTokens(of: id, in: scope) else { throw ConfigurationError.tokensKept }
        do {
            try await configuration.createProvider(provider, in: scope)
        } catch ConfigurationError.notFound {
            throw AdministrationError.invalid(
                "A project or tenant can have at most \(ConfigurationStore.providerLimit) providers."
            )
        }
        return provider
    }

    /// Applies all changes or none; simultaneous changes of other fields stay.
    ///
    /// - Parameter version: of the configuration that the admin saw; nil changes any.
    /// - Throws: ``AdministrationError``; ``Storage/ConfigurationError/notFound``,
    ///   ``Storage/ConfigurationError/tokensKept``.
    package func callAsFunction(
        _ id: ProviderID,
        _ patch: Patch<ProviderConfiguration>,
        in scope: Scope,
        ifVersion version: String? = nil
    ) async throws -> ProviderConfiguration {
        try await forgetUnkeptTokens(of: id, in: scope)
        return try await configuration.updateProvider(id, in: scope, sendsElsewhere: Self.sendsElsewhere) { provider in
            try check(version, of: provider)
            try apply(patch, to: &provider)
        }
    }

    /// Accounts stay linked, in case the provider is added again.
    ///
    /// - Throws: ``AdministrationError/changedMeanwhile``; ``Storage/ConfigurationError/notFound``.
    package func delete(_ id: ProviderID, in scope: Scope, ifVersion version: String? = nil) async throws {
        try await forgetUnkeptTokens(of: id, in: scope)
        guard let version else { return try await configuration.deleteProvider(id, in: scope) }
        try await configuration.deleteProvider(id, in: scope) { try check(version, of: $0) }
    }

    /// Deletes tokens that the new configuration no longer stores.
    ///
    /// This happens a minute later, when all nodes have the configuration and no earlier sign-in is in progress, and
    /// uses the configuration at that time.
    private func forgetUnkeptTokens(of provider: ProviderID, in scope: Scope) async throws {
        try await outbox.insert(
            kind: ForgottenTokens.kind,
            ForgottenTokens(tenant: scope.tenant.rawValue, provider: provider),
            of: provider,
            in: scope,
            due: configuration.now().addingTimeInterval(60)
        )
    }

    private func check(_ version: String?, of provider: ProviderConfiguration) throws(AdministrationError) {
        guard version == nil || version == configuration.version(of: provider) else { throw .changedMeanwhile }
    }

    /// In bytes: each node keeps the configurations of all projects in memory, and reads them at each change.
    private static let maximumSize = 65_536

    private func apply(_ patch: Patch<ProviderConfiguration>, to provider: inout ProviderConfiguration) throws {
        let before = provider
        try patch.apply(to: &provider)
        let texts =
            [
                provider.overrides, provider.clientID, provider.displayName, provider.issuer,
                provider.clientSecret?.reveal(),
                provider.webhookSecret?.reveal(),
            ] + provider.audiences
        guard texts.reduce(0, { $0 + ($1?.utf8.count ?? 0) }) <= Self.maximumSize else {
            throw AdministrationError.invalid("A provider's configuration can have at most 64 KiB.")
        }
        do {
            if provider.provider.isSAML {
                try Self.check(provider.saml)
            } else {
                try check(provider, isNewSecret: provider.clientSecret != before.clientSecret)
            }
        } catch let error as InvalidDefinition {
            throw AdministrationError.invalid(error.description)
        }
        try checkSecret(of: provider, before, patch)
    }

    /// The members of `definition{}` that say where a secret, and users' tokens, are sent.
    private static let destinations = [
        "discovery", "discoveryURL", "endpointHosts", "endpoints", "issuers", "profile", "variableParameters",
        "variables",
    ]

    /// What of these decides nothing about it: the names of Apple's key, and the keys, which are only read.
    ///
    /// The page of the browser does: a provider without an issuer is the one whose page it is.
    private static let exceptions: [String: Set<String>] = ["variables": ["teamId", "keyId"], "endpoints": ["keys"]]

    @Sendable private static func sendsElsewhere(
        _ before: ProviderConfiguration,
        _ provider: ProviderConfiguration
    ) -> Bool {
        func value(_ name: String, _ definition: JSONObject?) -> JSONValue? {
            guard let exceptions = exceptions[name], let members = definition?[name]?.object?.members else {
                return definition?[name]
            }
            let others = members.filter { !exceptions.contains($0.name) }
            return others.isEmpty ? nil : .object(JSONObject(others))
        }
        return provider.issuer != before.issuer
            || destinations.contains { value($0, provider.definition) != value($0, before.definition) }
    }

    /// Nobody can read a secret, so nobody may have it sent elsewhere without knowing it.
    ///
    /// The same applies to a private key: what it signs for one server could be used at another.
    private func checkSecret(
        of provider: ProviderConfiguration,
        _ before: ProviderConfiguration,
        _ patch: Patch<ProviderConfiguration>
    ) throws {
        guard let secret = before.clientSecret, !secret.isEmpty, Self.sendsElsewhere(before, provider) else { return }
        var changed = before
        changed.clientSecret = nil
        try patch.apply(to: &changed)
        guard changed.clientSecret != nil || provider.clientSecret == nil else {
            throw AdministrationError.invalid(
                "The client secret must be given again, because it would be sent elsewhere."
            )
        }
    }

    private func check(_ provider: ProviderConfiguration, isNewSecret: Bool) throws {
        guard provider.responseType != .code || provider.clientSecret != nil else {
            throw AdministrationError.invalid("client_secret cannot be empty for code flow.")
        }
        guard !provider.clientID.isEmpty else { throw AdministrationError.missingClientID }
        if ProviderDefinition.needsIssuer(provider.provider), provider.issuer?.isEmpty ?? true {
            throw AdministrationError.missingIssuer
        }
        try ProviderDefinition.validate(
            provider,
            allowsLoopback: allowsLoopback,
            now: isNewSecret ? Int64(configuration.now().timeIntervalSince1970) : nil
        )
    }

    private static func check(_ saml: SAMLDefinition) throws {
        guard !saml.ownEntityID.isEmpty || !saml.callbackURI.isEmpty else {
            throw AdministrationError.missingRelyingParty
        }
        try saml.validate()
    }
}
