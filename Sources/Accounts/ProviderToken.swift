import Delivery
package import Federation
package import Linking
package import Projects
import Storage
import struct Foundation.Date

/// Hands out a provider's access token of a linked credential, renewed when it is about to end.
///
/// However many callers ask at once, on however many nodes, the provider sees one renewal: whoever gets the lease of the
/// credential's row asks it, the others look at the row again until the new token is there, without a connection to the
/// database in the meantime. A node that dies in between is waited for until its lease ends; the next one then asks again,
/// with the same refresh token. What is lost is an answer that came and was not stored: if the provider takes a refresh
/// token once alone, the person must consent again.
package struct ProviderToken: Sendable {
    let parts: Parts

    /// For the signed-in account.
    package func callAsFunction(idToken: String?, provider: String?, _ caller: Caller) async throws -> FreshToken {
        let user = try await parts.authenticate(idToken, caller: caller)
        return try await fresh(of: user.account.id, provider, caller)
    }

    /// For an admin.
    package func callAsFunction(
        localID: String?,
        provider: String?,
        _ project: Project,
        _ tenant: TenantID
    ) async throws -> FreshToken {
        let caller = Caller(project: project, tenant: tenant)
        let account = try await parts.existingAccount(localID, in: caller.scope)
        let token = try await fresh(of: account, provider, caller)
        try await parts.stores.auditLog.record(
            .providerTokenRead,
            in: caller.scope,
            account: account,
            provider: token.provider,
            at: parts.now()
        )
        return token
    }

    /// Has the tokens deleted that a provider's configuration, which is about to change, keeps no more.
    ///
    /// That is done in a minute, when every node knows the configuration and no sign-in from before is under way, and
    /// by the configuration as it is then.
    package func forgetUnkept(of provider: ProviderID, in scope: Scope) async throws {
        try await parts.stores.outbox.insert(
            kind: ForgottenTokens.kind,
            ForgottenTokens(tenant: scope.tenant.rawValue, provider: provider),
            of: provider,
            in: scope,
            due: parts.now().addingTimeInterval(60)
        )
    }

    private func fresh(of account: AccountID, _ provider: String?, _ caller: Caller) async throws -> FreshToken {
        guard let provider, !provider.isEmpty else { throw AccountsError.invalidProviderID }
        let id = ProviderID(provider)
        let key = ProviderTokenStore.Key(scope: caller.scope, account: account, provider: id)
        guard let configuration = parts.provider(id, caller) else { throw AccountsError.providerNotFound }
        guard configuration.enabled else { throw AccountsError.providerDisabled }
        guard parts.federation.tokenKeeping(configuration) == .all else { throw AccountsError.providerTokensNotKept }
        var awaited: Int64?
        for pause in Self.pauses {
            guard let stored = try await parts.providerTokens.find(key) else { throw AccountsError.providerNotLinked }
            guard stored.providerIsEnabled else { throw AccountsError.providerDisabled }
            guard !stored.needsConsent, let tokens = stored.tokens else { throw AccountsError.providerConsentRequired }
            let token = FreshToken(provider: id, tokens: tokens, now: parts.seconds)
            if !token.endsSoon { return token }
            if let end = stored.leasedUntil, end > parts.clock() {
                awaited = stored.generation
                try await parts.pause(pause)
                continue
            }
            // Who was waited for gave up: the provider is not asked again by everybody who waited.
            if awaited == stored.generation, stored.leasedUntil == nil { throw AccountsError.providerUnavailable }
            let end = parts.clock().addingTimeInterval(Self.leaseSeconds)
            guard let generation = try await parts.providerTokens.lease(stored, of: key, now: parts.clock(), until: end)
            else { continue }
            // A caller that goes away must not take the provider's answer with it.
            let renewal = Task { try await renew(stored, generation, of: key, with: configuration, caller) }
            if let renewed = try await renewal.value {
                return FreshToken(provider: id, tokens: renewed, now: parts.seconds)
            }
        }
        throw AccountsError.providerUnavailable
    }

    /// - Returns: nil when the credential changed meanwhile.
    private func renew(
        _ stored: ProviderTokenStore.Stored,
        _ generation: Int64,
        of key: ProviderTokenStore.Key,
        with configuration: ProviderConfiguration,
        _ caller: Caller
    ) async throws -> ProviderTokens? {
        let renewed: ProviderTokens
        do throws(FederationError) {
            renewed = try await parts.federation.refresh(
                stored.tokens ?? ProviderTokens(),
                of: stored.subject,
                with: configuration
            )
        } catch .consentRequired {
            guard try await parts.providerTokens.requireConsent(key, generation: generation, now: parts.clock()) else {
                return nil
            }
            AccountEvent.consentRequired.log(key.account, provider: key.provider, caller)
            throw AccountsError.providerConsentRequired
        } catch {
            try? await parts.providerTokens.release(key, generation: generation)
            switch error {
            case .unavailable, .issuerUnreachable: throw AccountsError.providerUnavailable
            default: throw AccountsError.federation(error, at: key.provider, caller)
            }
        }
        return try await keep(renewed, of: key, generation) ? renewed : nil
    }

    /// Stores the provider's answer, which nobody else has: not at the first failure of the database is it given up.
    private func keep(
        _ tokens: ProviderTokens,
        of key: ProviderTokenStore.Key,
        _ generation: Int64
    ) async throws -> Bool {
        for pause in Self.pauses.prefix(6) {
            do {
                return try await parts.providerTokens.store(tokens, of: key, generation: generation, now: parts.clock())
            } catch {
                try await parts.pause(pause)
            }
        }
        return try await parts.providerTokens.store(tokens, of: key, generation: generation, now: parts.clock())
    }

    /// Longer than the provider may take for its discovery document, its answer and its keys (each
    /// `OutboundLimits.total`), and for the answer to be stored.
    static let leaseSeconds = 40.0

    /// Between two looks at a row that somebody else renews: longer ones with time, as long in all as a request may take.
    private static let pauses = (0..<56).map { Duration.milliseconds(min(20 << min($0, 5), 500)) }
}

/// An access token of a provider, as it is handed out.
package struct FreshToken: Sendable {
    package var provider: ProviderID
    package var tokens: ProviderTokens
    /// Seconds since 1970; nil for no end that anybody knows of.
    package var expiresAt: Int64?
    /// Seconds that are left.
    package var expiresIn: Int64?
    /// It should be renewed before it is used: a minute before its end, or half its life if that is less.
    var endsSoon: Bool

    init(provider: ProviderID, tokens: ProviderTokens, now: Int64) {
        self.provider = provider
        self.tokens = tokens
        // A token that can be renewed does end, whether the provider says when or not.
        let lifetime = tokens.expiresIn.map { Int64($0) } ?? (tokens.refreshToken == nil ? nil : 3_600)
        expiresAt = lifetime.flatMap { lifetime in tokens.issuedAt.map { $0 + lifetime } }
        expiresIn = expiresAt.map { max(0, $0 - now) }
        endsSoon = expiresIn.map { $0 <= min(60, (lifetime ?? 0) / 2) } ?? false
    }
}
