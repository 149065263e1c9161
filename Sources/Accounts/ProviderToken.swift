package import Domain
package import Federation
package import Projects
import Storage
import struct Foundation.Date

extension AccountsService { package var providerToken: ProviderToken { ProviderToken(service: self) } }

/// Returns a provider's access token of a linked credential, renewed if it is about to expire.
///
/// However many callers ask simultaneously on any number of nodes, the provider receives one renewal. The caller that
/// gets the lease of the credential's row calls the provider. The others check the row until the new token is there,
/// without holding a database connection. If a node dies in between, the others wait until its lease ends, then one
/// calls the provider with the same refresh token. Only a response that arrived but was not stored is lost: if the
/// provider accepts a refresh token only once, the user must consent again.
package struct ProviderToken: Sendable {
    let service: AccountsService

    /// For the signed-in account.
    package func callAsFunction(idToken: String?, provider: String?, _ caller: Caller) async throws -> FreshToken {
        let user = try await service.authenticate(idToken, caller: caller)
        return try await fresh(of: user.account.id, provider, caller)
    }

    /// For an admin.
    package func callAsFunction(
        localID: String?,
        provider: String?,
        _ project: Project
    ) async throws -> FreshToken {
        let caller = Caller(project: project)
        let account = try await service.existingAccount(localID, in: caller.scope)
        let token = try await fresh(of: account, provider, caller)
        try await service.stores.auditLog.record(
            .providerTokenRead,
            in: caller.scope,
            account: account,
            provider: token.provider,
            at: service.now()
        )
        return token
    }

    private func fresh(of account: AccountID, _ provider: String?, _ caller: Caller) async throws -> FreshToken {
        guard let provider, !provider.isEmpty else { throw AccountsError.invalidProviderID }
        let id = ProviderID(provider)
        let key = ProviderTokenStore.Key(scope: caller.scope, account: account, provider: id)
        guard let configuration = service.provider(id, caller) else { throw AccountsError.providerNotFound }
        guard configuration.enabled else { throw AccountsError.providerDisabled }
        guard service.federation.tokenKeeping(configuration) == .all else { throw AccountsError.providerTokensNotKept }
        var awaited: Int64?
        for pause in Self.pauses {
            guard let stored = try await service.providerTokens.find(key) else { throw AccountsError.providerNotLinked }
            guard stored.providerIsEnabled else { throw AccountsError.providerDisabled }
            guard !stored.needsConsent, let tokens = stored.tokens else { throw AccountsError.providerConsentRequired }
            let token = FreshToken(provider: id, tokens: tokens, now: service.seconds)
            if !token.endsSoon { return token }
            if let end = stored.leasedUntil, end > service.clock() {
                awaited = stored.generation
                try await service.options.pause(pause)
                continue
            }
            // The caller that held the lease failed, so the waiting callers do not call the provider again.
            if awaited == stored.generation, stored.leasedUntil == nil { throw AccountsError.providerUnavailable }
            let end = service.clock().addingTimeInterval(Self.leaseSeconds)
            guard
                let generation = try await service.providerTokens.lease(
                    stored,
                    of: key,
                    now: service.clock(),
                    until: end
                )
            else { continue }
            // A cancelled caller must not lose the provider's response.
            let renewal = Task { try await renew(stored, generation, of: key, with: configuration, caller) }
            if let renewed = try await renewal.value {
                return FreshToken(provider: id, tokens: renewed, now: service.seconds)
            }
        }
        throw AccountsError.providerUnavailable
    }

    /// - Returns: nil if the credential changed in the meantime.
    private func renew(
        _ stored: ProviderTokenStore.Stored,
        _ generation: Int64,
        of key: ProviderTokenStore.Key,
        with configuration: ProviderConfiguration,
        _ caller: Caller
    ) async throws -> ProviderTokens? {
        let renewed: ProviderTokens
        do throws(FederationError) {
            renewed = try await service.federation.calling(for: caller.project.id) {
                [federation = service.federation] () async throws(FederationError) in
                try await federation.refresh(
                    stored.tokens ?? ProviderTokens(),
                    of: stored.subject,
                    with: configuration
                )
            }
        } catch .consentRequired {
            guard try await service.providerTokens.requireConsent(key, generation: generation, now: service.clock())
            else {
                return nil
            }
            AccountEvent.consentRequired.log(key.account, provider: key.provider, caller)
            throw AccountsError.providerConsentRequired
        } catch {
            try? await service.providerTokens.release(key, generation: generation)
            switch error {
            case .unavailable, .issuerUnreachable, .overloaded: throw AccountsError.providerUnavailable
            default: throw AccountsError.federation(error, at: key.provider, caller)
            }
        }
        return try await keep(renewed, of: key, generation) ? renewed : nil
    }

    /// Stores the provider's response, which exists nowhere else, so a first database failure does not discard it.
    private func keep(
        _ tokens: ProviderTokens,
        of key: ProviderTokenStore.Key,
        _ generation: Int64
    ) async throws -> Bool {
        for pause in Self.pauses.prefix(6) {
            do {
                return try await service.providerTokens.store(
                    tokens,
                    of: key,
                    generation: generation,
                    now: service.clock()
                )
            } catch {
                try await service.options.pause(pause)
            }
        }
        return try await service.providerTokens.store(tokens, of: key, generation: generation, now: service.clock())
    }

    /// Longer than the provider's discovery document, response and keys may take (each `OutboundLimits.total`), plus
    /// storing the response.
    static let leaseSeconds = 40.0

    /// Pauses between checks of a row that another caller renews: growing, in total as long as a request may take.
    private static let pauses = (0..<56).map { Duration.milliseconds(min(20 << min($0, 5), 500)) }
}

/// A provider's access token for a client.
package struct FreshToken: Sendable {
    package var provider: ProviderID
    package var tokens: ProviderTokens
    /// Seconds since 1970; nil if no expiry is known.
    package var expiresAt: Int64?
    /// Remaining seconds.
    package var expiresIn: Int64?
    /// Whether it should be renewed first: a minute before it expires, or after half its lifetime if that is shorter.
    var endsSoon: Bool

    init(provider: ProviderID, tokens: ProviderTokens, now: Int64) {
        self.provider = provider
        self.tokens = tokens
        // A token that can be renewed is assumed to expire, even if the provider does not state when.
        let lifetime = tokens.expiresIn.map { Int64($0) } ?? (tokens.refreshToken == nil ? nil : 3_600)
        expiresAt = lifetime.flatMap { lifetime in tokens.issuedAt.map { $0 + lifetime } }
        expiresIn = expiresAt.map { max(0, $0 - now) }
        endsSoon = expiresIn.map { $0 <= min(60, (lifetime ?? 0) / 2) } ?? false
    }
}
