package import Domain
package import Federation
import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

/// The stored provider tokens of linked credentials, and the leases to renew them.
///
/// `refresh_generation` changes with every change of the tokens and every lease. A lease holder can write only while
/// its generation is current, so a new sign-in, an unlink or another lease wins over a late response.
package struct ProviderTokenStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    /// A linked credential of an account.
    package struct Key: Sendable {
        package var scope: Scope
        package var account: AccountID
        package var provider: ProviderID

        package init(scope: Scope, account: AccountID, provider: ProviderID) {
            self.scope = scope
            self.account = account
            self.provider = provider
        }

        var place: LinkedCredentialPlace { LinkedCredentialPlace(scope, account, provider) }

        var condition: SQL {
            """
            project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue) AND provider = \(provider.rawValue)
            """
        }
    }

    package struct Stored: Sendable {
        package var subject: String
        /// Nil if no access token is stored.
        package var tokens: ProviderTokens?
        package var generation: Int64
        /// Nil while none is being renewed.
        package var leasedUntil: Date?
        package var needsConsent: Bool
        package var providerIsEnabled: Bool
    }

    /// Nil if the account has no identity of the provider.
    package func find(_ key: Key) async throws -> Stored? {
        let rows = try await database.query(
            """
            SELECT subject, tokens, refresh_token, refresh_generation, refresh_leased_until,
                consent_needed_at IS NOT NULL, EXISTS (
                    SELECT FROM provider_configurations
                    WHERE project = \(key.scope.project.rawValue) AND tenant = \(key.scope.tenant.rawValue)
                        AND provider = \(key.provider.rawValue) AND enabled
                )
            FROM linked_credentials WHERE \(sql: key.condition)
            """
        ) { row in
            let subject: String = try row.next()
            let sealed = SealedTokens(access: try row.next(), refresh: try row.next())
            return Stored(
                subject: subject,
                tokens: try keyRing.open(sealed, for: key.place),
                generation: try row.next(),
                leasedUntil: try row.next(),
                needsConsent: try row.next(),
                providerIsEnabled: try row.next()
            )
        }
        return rows.first
    }

    /// Leases the renewal of the tokens that were read to the caller until `until`.
    ///
    /// - Returns: the generation that the caller now holds; nil if another caller was first.
    package func lease(_ stored: Stored, of key: Key, now: Date, until: Date) async throws -> Int64? {
        let rows = try await database.query(
            """
            UPDATE linked_credentials
            SET refresh_generation = refresh_generation + 1, refresh_leased_until = \(until)
            WHERE \(sql: key.condition) AND refresh_generation = \(stored.generation)
                AND (refresh_leased_until IS NULL OR refresh_leased_until <= \(now))
            RETURNING refresh_generation
            """
        ) { try $0.next(Int64.self) }
        return rows.first
    }

    /// Stores renewed tokens; repeating the call is harmless.
    ///
    /// - Returns: false if the caller no longer holds the generation.
    package func store(_ tokens: ProviderTokens, of key: Key, generation: Int64, now: Date) async throws -> Bool {
        let sealed = try keyRing.seal(tokens, for: key.place)
        let changed = try await database.execute(
            """
            UPDATE linked_credentials
            SET tokens = \(sealed.access), refresh_token = \(sealed.refresh), refresh_leased_until = NULL,
                updated_at = \(now)
            WHERE \(sql: key.condition) AND refresh_generation = \(generation)
            """
        )
        return changed > 0
    }

    /// Ends a lease without result; the tokens stay.
    package func release(_ key: Key, generation: Int64) async throws {
        try await database.execute(
            """
            UPDATE linked_credentials SET refresh_leased_until = NULL
            WHERE \(sql: key.condition) AND refresh_generation = \(generation)
            """
        )
    }

    /// Records that the user must sign in at the provider again, until the next sign-in or link.
    ///
    /// - Returns: false if the caller no longer holds the generation.
    package func requireConsent(_ key: Key, generation: Int64, now: Date) async throws -> Bool {
        let changed = try await database.execute(
            """
            UPDATE linked_credentials
            SET consent_needed_at = \(now), refresh_leased_until = NULL, tokens = NULL, refresh_token = NULL
            WHERE \(sql: key.condition) AND refresh_generation = \(generation)
            """
        )
        return changed > 0
    }

    /// Deletes tokens that a provider's configuration no longer keeps, of at most a thousand credentials.
    ///
    /// - Parameter after: the account at which the last call stopped; nil to start.
    /// - Returns: the account at which this call stopped; nil if nothing is left.
    package func forget(
        _ provider: ProviderID,
        in scope: Scope,
        keeping: TokenKeeping,
        after: String?
    ) async throws -> String? {
        guard keeping < .all else { return nil }
        let forgotten: SQL = keeping == .nothing ? "tokens = NULL, refresh_token = NULL" : "tokens = NULL"
        let kept: SQL = "tokens IS NOT NULL \(sql: keeping == .nothing ? "OR" : "AND") refresh_token IS NOT NULL"
        let rows = try await database.query(
            """
            WITH part AS (
                SELECT project, tenant, account, provider FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND provider = \(provider.rawValue) AND account > \(after ?? "") AND (\(sql: kept))
                ORDER BY account LIMIT 1000
            ), changed AS (
                UPDATE linked_credentials SET \(sql: forgotten), refresh_generation = refresh_generation + 1
                WHERE (project, tenant, account, provider) IN (SELECT project, tenant, account, provider FROM part)
            )
            SELECT max(account) FROM part HAVING count(*) = 1000
            """
        ) { row in try row.next(String.self) }
        return rows.first
    }
}
