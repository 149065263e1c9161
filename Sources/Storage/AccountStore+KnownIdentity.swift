import Federation
import Linking
import Postgres
import Projects
import Sessions

import struct Foundation.Date

/// A sign-in that writes a session and nothing of the provider's.
struct KnownSignIn: Sendable {
    var scope: Scope
    var account: AccountID
    var version: Int64
    var provider: ProviderID
    var allowsUnconfiguredProvider: Bool
    var token: FederatedCredential.OneTimeToken?
    var session: NewSession
    var now: Date

    /// What a batch may hold once: the account's activity is written once in a statement.
    struct Key: Sendable, Hashable {
        var project: ProjectID
        var account: AccountID
    }

    var key: Key { Key(project: scope.project, account: account) }

    /// Nil for a sign-in that has more to write.
    init?(to account: Account, _ write: SignInWrite) {
        guard write.redeems == nil, write.credential.tokens.accessToken == nil,
            write.credential.tokens.refreshToken == nil, case .open(let session) = write.session
        else { return nil }
        scope = write.scope
        self.account = account.id
        version = account.version
        provider = write.credential.identity.provider
        allowsUnconfiguredProvider = write.allowsUnconfiguredProvider
        token = write.credential.oneTimeToken
        self.session = session
        now = write.now
    }
}

extension AccountStore {
    /// Signs in to accounts that own their identities (S1): one statement, shared with other such sign-ins of the moment.
    ///
    /// Whatever takes an identity from an account counts as a change of the account: its version says that it still has it.
    /// Accounts are locked in the order of their keys, and one that somebody else has locked is left out: its sign-in
    /// waits alone.
    ///
    /// - Returns: for each whether it was applied; nil when the account is locked or not what it was.
    static func signIn(_ known: [KnownSignIn], _ database: PostgresClient) async throws -> [WriteOutcome?] {
        let rows = try await database.query(
            """
            WITH asked AS MATERIALIZED (
                SELECT n.*, coalesce(p.enabled, n.unconfigured) AS enabled
                FROM unnest(\(known.map(\.scope.project.rawValue))::text[],
                    \(known.map(\.scope.tenant.rawValue))::text[], \(known.map(\.account.rawValue))::text[],
                    \(known.map(\.version))::int8[], \(known.map(\.provider.rawValue))::text[],
                    \(known.map(\.allowsUnconfiguredProvider))::bool[], \(known.map(\.now))::timestamptz[],
                    \(known.map { $0.token?.hash ?? [] })::bytea[], \(known.map { Double($0.token?.expiresAt ?? 0) })::float8[],
                    \(known.map(\.session.id.rawValue))::text[], \(known.map(\.session.secretHash))::bytea[],
                    \(known.map(\.session.authTime))::int8[], \(known.map(\.session.signInProvider.rawValue))::text[],
                    \(known.map(\.session.claims))::text[], \(known.map(\.session.signInAttributes))::text[],
                    \(known.map(\.session.userAgent))::text[], \(known.map(\.session.addressPrefix))::text[]) WITH ORDINALITY
                    n (project, tenant, account, version, provider, unconfigured, now, token_hash,
                        token_expires, session, secret_hash, auth_time, method, claims, attributes, user_agent,
                        address_prefix, number)
                LEFT JOIN provider_configurations p ON p.project = n.project AND p.tenant = n.tenant
                    AND p.provider = n.provider
            ), target AS MATERIALIZED (
                SELECT n.* FROM asked n
                JOIN accounts a ON a.project = n.project AND a.account = n.account AND a.tenant = n.tenant
                    AND a.version = n.version AND a.disabled IS NOT TRUE
                WHERE n.enabled
                ORDER BY a.project, a.account
                FOR SHARE OF a SKIP LOCKED
            ), opened AS (
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    claims, sign_in_attributes, created_at, last_used_at, user_agent, address_prefix)
                SELECT project, account, session, tenant, secret_hash, auth_time, method, claims, attributes, now, now,
                    user_agent, address_prefix
                FROM target
            ), used AS (
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                SELECT project, token_hash, to_timestamp(token_expires) FROM target WHERE token_hash <> ''
                ORDER BY project, token_hash
            ), activity AS (
                INSERT INTO account_activity (project, account, last_sign_in_at, last_refresh_at)
                SELECT project, account, now, now FROM target ORDER BY project, account
                ON CONFLICT (project, account) DO UPDATE
                    SET last_sign_in_at = EXCLUDED.last_sign_in_at, last_refresh_at = EXCLUDED.last_refresh_at
            )
            SELECT n.number, n.enabled, t.number IS NOT NULL FROM asked n LEFT JOIN target t ON t.number = n.number
            """
        ) { row in
            let index = Int(try row.next(Int64.self)) - 1
            let enabled: Bool = try row.next()
            let applied: Bool = try row.next()
            return (index, applied ? WriteOutcome.applied : enabled ? nil : .providerDisabled)
        }
        var outcomes = [WriteOutcome?](repeating: nil, count: known.count)
        for (index, outcome) in rows where outcomes.indices.contains(index) { outcomes[index] = outcome }
        return outcomes
    }
}
