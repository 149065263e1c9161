package import Foundation
package import Outbound
package import Secrets

/// Identity providers: in goes what a client sent, out comes a ``FederatedCredential``.
///
/// Knows no accounts and stores nothing but caches of discovery documents and keys.
package final class FederationService: Sendable {
    let http: OutboundClient
    let now: @Sendable () -> Date
    let random: RandomSource
    let verifiers: [any CredentialVerifier]

    /// - Parameters:
    ///   - allowsLoopback: lets providers have http URLs on loopback; the client must allow it as well.
    ///   - verifiers: asked before the definitions; empty in production.
    package init(
        http: OutboundClient,
        now: @escaping @Sendable () -> Date,
        random: RandomSource = .system,
        verifiers: [any CredentialVerifier] = []
    ) {
        self.http = http
        self.now = now
        self.random = random
        self.verifiers = verifiers
    }
}
