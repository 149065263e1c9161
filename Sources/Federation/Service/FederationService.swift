package import struct Foundation.Date
package import struct Foundation.TimeInterval
package import Outbound
package import Secrets

/// Identity providers: in goes what a client sent, out comes a ``FederatedCredential``.
///
/// Knows no accounts and stores nothing but caches of discovery documents and keys.
package final class FederationService: Sendable {
    let http: OutboundClient
    let now: @Sendable () -> Date
    let random: RandomSource
    /// How the calls on providers went, since the start.
    package let calls = ProviderCalls()
    let verifiers: [any CredentialVerifier]
    let definitions: DefinitionStore
    let documents: FetchCache<LoadedDiscovery>
    let keySets: FetchCache<ProviderKeySet>

    /// - Parameters:
    ///   - http: decides whether providers may be on this machine.
    ///   - verifiers: asked before the definitions; empty in production.
    ///   - refetchInterval: seconds between two loads of a provider's keys that an unknown key id asks for, and between
    ///     two tries while a provider is down.
    package init(
        http: OutboundClient,
        now: @escaping @Sendable () -> Date,
        random: RandomSource = .system,
        verifiers: [any CredentialVerifier] = [],
        refetchInterval: TimeInterval = 60
    ) {
        self.http = http
        self.now = now
        self.random = random
        self.verifiers = verifiers
        definitions = DefinitionStore(allowsLoopback: http.allowsLoopback)
        var documentSettings = FetchCache<LoadedDiscovery>.Settings()
        documentSettings.minimumInterval = refetchInterval
        documents = FetchCache(settings: documentSettings, now: now)
        var keySettings = FetchCache<ProviderKeySet>.Settings()
        keySettings.minimumInterval = refetchInterval
        keySets = FetchCache(settings: keySettings, now: now)
    }

    /// Whether providers may have http URLs on loopback.
    package var allowsLoopback: Bool { http.allowsLoopback }

    /// Seconds since 1970.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }
}
