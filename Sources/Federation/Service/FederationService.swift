package import struct Foundation.Date
package import struct Foundation.TimeInterval
package import Outbound
package import Secrets

/// Identity providers: verifies what a client sent and returns a ``FederatedCredential``.
///
/// It has no access to accounts and stores only caches of discovery documents and keys.
package final class FederationService: Sendable {
    let http: OutboundClient
    let now: @Sendable () -> Date
    let random: RandomSource
    /// The results of calls to providers, since the start.
    package let calls = ProviderCalls()
    let verifiers: [any CredentialVerifier]
    let definitions: DefinitionStore
    let documents: FetchCache<LoadedDiscovery>
    let keySets: FetchCache<ProviderKeySet>
    let clients: ClientCaches

    /// - Parameters:
    ///   - http: determines whether providers may be on this machine.
    ///   - verifiers: run before the definitions; empty in production.
    ///   - refetchInterval: seconds between two loads of a provider's keys because of an unknown key ID, and between
    ///     two attempts while a provider is down.
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
        clients = ClientCaches(refetchInterval: refetchInterval, now: now)
    }

    /// Whether providers may have http URLs on loopback.
    package var allowsLoopback: Bool { http.allowsLoopback }

    /// Whether the documents of applications may have such URLs too.
    package var letsStrangersUseLoopback: Bool { http.letsStrangersUseLoopback }

    /// Seconds since 1970.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }
}
