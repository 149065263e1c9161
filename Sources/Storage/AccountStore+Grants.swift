import Delivery
package import Domain
import Federation
package import Foundation
import Postgres
package import Projects
import Secrets

// Grants at providers: revoked there by the user, or by us.

/// The state of a linked identity at its provider.
package struct CredentialState: Sendable, Hashable {
    /// When the provider reported that the user revoked the grant; nil while it is valid.
    package var revokedAt: Date?
    package var emailIsRelay: Bool?
    /// Whether the relay forwards emails; nil if the provider has not reported it.
    package var emailForwarding: Bool?
    package var realUserStatus: Int?
}

extension AccountStore {
    /// The statement that stores what the provider now says of the account's identity, if it says something else; the
    /// account's own email and profile stay.
    func renewingLink(of account: Account, _ write: SignInWrite) -> SQL? {
        let identity = write.credential.identity
        let stored = account.linked.first { $0.provider == identity.provider && $0.subject == identity.subject }
        guard let stored, case let linked = stored.updated(by: identity), linked != stored else { return nil }
        return """
            UPDATE linked_credentials SET email = \(linked.email),
                \(sql: ProfileColumns.identity.setting(linked.profile)),
                email_is_relay = CASE WHEN email IS DISTINCT FROM \(linked.email) THEN \(identity.relayFlag)
                    ELSE email_is_relay END,
                email_forwarding = CASE WHEN email IS DISTINCT FROM \(linked.email) THEN NULL ELSE email_forwarding END,
                updated_at = \(write.now)
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account = \(account.id.rawValue)
                AND provider = \(linked.provider.rawValue) AND subject = \(linked.subject)
            """
    }

    /// The account that has an identity linked.
    package func owner(of subject: String, at provider: ProviderID, in scope: Scope) async throws -> AccountID? {
        try await database.query(
            """
            SELECT account FROM credential_subjects WHERE project = \(scope.project.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND provider = \(provider.rawValue) AND subject = \(subject)
            """
        ) { row in AccountID(try row.next()) }.first
    }

    /// The state of the account's identity at a provider; nil if it has none.
    package func credentialState(
        of account: AccountID,
        at provider: ProviderID,
        in scope: Scope
    ) async throws -> CredentialState? {
        try await database.query(
            """
            SELECT c.revoked_at, l.email_is_relay, l.email_forwarding, l.real_user_status
            FROM linked_credentials l
            JOIN credential_subjects c ON c.project = l.project AND c.tenant = l.tenant AND c.provider = l.provider
                AND c.subject = l.subject
            WHERE l.project = \(scope.project.rawValue) AND l.tenant = \(scope.tenant.rawValue)
                AND l.account = \(account.rawValue) AND l.provider = \(provider.rawValue)
            """
        ) { row in
            CredentialState(
                revokedAt: try row.next(),
                emailIsRelay: try row.next(),
                emailForwarding: try row.next(),
                realUserStatus: try row.next(Int32?.self).map { Int($0) }
            )
        }.first
    }

    /// The client that received the account's tokens of a provider.
    package func tokenClient(of account: AccountID, at provider: ProviderID, in scope: Scope) async throws -> String? {
        let rows = try await database.query(
            """
            SELECT token_client FROM linked_credentials WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue) AND provider = \(provider.rawValue)
            """
        ) { row in try row.next(String?.self) }
        return rows.first ?? nil
    }

    /// The data that revokes the locked account's grants at these providers, with the subjects; read before the tokens
    /// are deleted.
    func grants(
        of account: AccountID,
        at providers: Set<ProviderID>,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> [(subject: String, revocation: ProviderRevocation)] {
        guard !providers.isEmpty else { return [] }
        let kept = try await transaction.query(
            """
            SELECT provider, subject, token_client, tokens, refresh_token FROM linked_credentials
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
                AND provider = ANY(\(providers.map(\.rawValue).sorted()))
            """
        ) { row in
            (
                ProviderID(try row.next()), try row.next(String.self), try row.next(String?.self),
                SealedTokens(access: try row.next(), refresh: try row.next())
            )
        }
        return kept.compactMap { provider, subject, client, sealed in
            // An unreadable token must not prevent the deletion of an account.
            let place = LinkedCredentialPlace(scope, account, provider)
            guard let (token, isRefreshToken) = try? keyRing.openRevocable(sealed, for: place) else { return nil }
            let revocation = ProviderRevocation(
                tenant: scope.tenant.rawValue,
                provider: provider,
                token: token,
                isRefreshToken: isRefreshToken,
                clientID: client
            )
            return (subject, revocation)
        }
    }

    /// Adds the revocation of these grants to the outbox.
    func revoke(
        _ grants: [(subject: String, revocation: ProviderRevocation)],
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        for (subject, revocation) in grants {
            try await OutboxStore.insert(
                kind: ProviderRevocation.kind,
                revocation,
                about: subject,
                of: revocation.provider,
                in: scope,
                keyRing: keyRing,
                due: now,
                transaction
            )
        }
    }

    /// Writes a provider's report about a grant of the locked account.
    func apply(
        _ change: AccountChanges.GrantChange,
        of account: AccountID,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) {
        let provider = change.provider
        switch change.kind {
        case .withdrawn(let date, let endsSessions):
            if endsSessions {
                transaction.write(SessionStore.ending(openedWith: provider, of: account, scope, now: now))
            }
            transaction.write(
                """
                WITH subject AS (
                    UPDATE credential_subjects c SET revoked_at = \(date)
                    FROM linked_credentials l
                    WHERE l.project = \(scope.project.rawValue) AND l.tenant = \(scope.tenant.rawValue)
                        AND l.account = \(account.rawValue)
                        AND l.provider = \(provider.rawValue) AND c.project = l.project AND c.tenant = l.tenant
                        AND c.provider = l.provider AND c.subject = l.subject
                )
                UPDATE linked_credentials
                SET tokens = NULL, refresh_token = NULL, refresh_generation = refresh_generation + 1,
                    refresh_leased_until = NULL, updated_at = \(now)
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue)
                    AND provider = \(provider.rawValue)
                """
            )
        case .blocked(let isBlocked, let since):
            transaction.write(
                """
                UPDATE credential_subjects c
                SET blocked_at = CASE WHEN \(isBlocked) THEN \(since) END, block_changed_at = \(since)
                FROM linked_credentials l
                WHERE l.project = \(scope.project.rawValue) AND l.tenant = \(scope.tenant.rawValue)
                    AND l.account = \(account.rawValue)
                    AND l.provider = \(provider.rawValue) AND c.project = l.project AND c.tenant = l.tenant
                    AND c.provider = l.provider AND c.subject = l.subject
                    AND coalesce(c.block_changed_at, '-infinity') <= \(since)
                """
            )
        case .forwarding(let isOn, let since):
            transaction.write(
                """
                UPDATE linked_credentials SET email_forwarding = \(isOn), email_forwarding_since = \(since)
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue)
                    AND provider = \(provider.rawValue)
                    AND coalesce(email_forwarding_since, '-infinity') <= \(since)
                """
            )
        }
    }

    /// Whether the user signed in with the provider after that time, so that earlier reports are obsolete.
    func hasSignedIn(
        _ account: AccountID,
        with provider: ProviderID,
        after date: Date,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> Bool {
        try await !transaction.query(
            """
            SELECT true FROM sessions WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
                AND sign_in_provider = \(provider.rawValue) AND revoked_at IS NULL
                AND auth_time > \(Int64(date.timeIntervalSince1970)) LIMIT 1
            """
        ) { row in try row.next(Bool.self) }.isEmpty
    }

    /// When a deletion that the provider requested was carried out; nil for an unknown event.
    package func deletionDate(event: String, at provider: ProviderID, in scope: Scope) async throws -> Date? {
        try await database.query(
            """
            SELECT expires_at FROM provider_events WHERE project = \(scope.project.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND provider = \(provider.rawValue) AND event = \(event)
            """
        ) { row in try row.next(Date.self) }.first?.addingTimeInterval(-AccountChanges.EventKey.lifetime)
    }

    /// Remembers an event that concerns no account here.
    package func remember(_ event: AccountChanges.EventKey, in scope: Scope) async throws {
        try await database.execute(
            """
            INSERT INTO provider_events (project, tenant, provider, event, expires_at)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(event.provider.rawValue), \(event.id),
                \(event.expiresAt))
            ON CONFLICT (project, tenant, provider, event) DO UPDATE SET expires_at = provider_events.expires_at
            """
        )
    }

    /// Remembers an event in the transaction that applies it: a second one fails on the key.
    func remember(
        _ event: AccountChanges.EventKey,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws {
        transaction.write(
            """
            INSERT INTO provider_events (project, tenant, provider, event, expires_at)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(event.provider.rawValue), \(event.id),
                \(event.expiresAt))
            """
        )
    }
}
