package import Domain
import Federation
import Postgres
import Projects
import Requests
import Secrets
import Sessions

import struct Foundation.Date

extension AccountStore {
    /// Creates an account for the identity (S3, S4, D2), in one statement shared with other simultaneous first sign-ins.
    ///
    /// A claim that another account takes at the same moment fails the statement. A sign-up that fails together with
    /// others, waits for a row or takes from several buckets runs alone, so that nobody else's waits or fails with it.
    ///
    /// - Parameter displaced: the email, which another account has and loses (S16).
    /// - Throws: ``RateLimitReached``.
    package func signUp(
        _ account: Account,
        displacing displaced: DisplacedEmail? = nil,
        _ write: SignInWrite
    ) async throws -> WriteOutcome {
        growth.add(1)
        let signUp = try NewAccount(account, write, keyRing)
        do {
            if batches, signUp.mayShare, displaced == nil,
                let outcome = try await signUps.answer(to: signUp, for: signUp.claim)
            {
                return outcome
            }
        } catch let error as PostgresError where error.constraint != nil || error.sqlState == "55P03" {
            // It wrote nothing.
        }
        do {
            let notice = try write.notice.map { try telling($0, write.scope, from: "target") }
            guard displaced != nil || write.redeems != nil else {
                return try await Self.signUp(alone: signUp, telling: notice, database)
            }
            return try await database.transaction { transaction in
                if let displaced { try await displace(displaced, write.scope, now: write.now, transaction) }
                if let handle = write.redeems {
                    transaction.write(PendingCredentialStore.locking(handle, write))
                    let isRedeemable = PendingCredentialStore.isRedeemable(handle, by: account.id, write)
                    let answer = try await transaction.query("SELECT \(sql: isRedeemable)") { try $0.next(Bool.self) }
                    guard answer == [true] else { throw NotWritten(outcome: .stale) }
                }
                let outcome = try await Self.signUp(alone: signUp, telling: notice, transaction)
                guard case .applied = outcome else { throw NotWritten(outcome: outcome) }
                if let handle = write.redeems {
                    transaction.write(PendingCredentialStore.redeeming(handle, write, by: account.id))
                }
                return outcome
            }
        } catch let error as PostgresError {
            return try WriteOutcome(error)
        } catch is ClaimConflict {
            return .stale
        } catch let refused as NotWritten {
            return refused.outcome
        }
    }

    /// Creates an account with a statement of its own.
    private static func signUp(
        alone new: NewAccount,
        telling notice: SQL?,
        _ database: some PostgresExecutor
    ) async throws -> WriteOutcome {
        let limits = RateLimits.taking(of: [new.write.limits], shared: false, now: new.write.now)
        let outcome =
            try await signUp(
                [new],
                within: limits,
                .of(new.write.scope.project),
                changing: new.proof,
                telling: notice,
                database
            ).first ?? nil
        if outcome == nil { try new.write.limits.check(passed: 0) }
        return outcome ?? .stale
    }

    /// Creates accounts that share a statement.
    ///
    /// - Returns: for each, nil if its limits had no room together with others of the same address.
    static func signUp(
        together new: [NewAccount],
        _ database: some PostgresExecutor
    ) async throws -> [Result<WriteOutcome?, any Error>] {
        let limits = RateLimits.taking(
            of: new.map(\.write.limits),
            shared: true,
            where: NewAccount.isImpatient,
            now: new.map(\.write.now).max() ?? Date()
        )
        let outcomes = try await signUp(new, within: limits, where: NewAccount.isImpatient, database)
        return outcomes.enumerated().map { index, outcome in
            guard outcome == nil, new.count == 1 else { return .success(outcome) }
            return Result { try new[index].write.limits.check(passed: 0) }.map { nil }
        }
    }

    /// Creates several accounts with one statement.
    ///
    /// - Parameters:
    ///   - limits: parts that take from buckets, the last of which is `admitted`.
    ///   - condition: without which nothing happens.
    ///   - changes: of the audit entries.
    ///   - notice: the part that writes the webhook.
    /// - Returns: for each, nil if its limits had no room.
    private static func signUp(
        _ new: [NewAccount],
        within limits: SQL,
        _ place: Placement = .ofEachRow,
        where condition: SQL = "true",
        changing changes: [String] = [],
        telling notice: SQL? = nil,
        _ database: some PostgresExecutor
    ) async throws -> [WriteOutcome?] {
        let rows = try await database.query(
            """
            WITH \(sql: limits), \(sql: NewAccount.asked(new, where: condition)), \(sql: NewAccount.allowed(place)),
            target AS MATERIALIZED (
                SELECT * FROM allowed WHERE enabled AND NOT is_used AND NOT is_taken
            ),
            \(sql: NewAccount.inserts(changes: changes))\(sql: NewAccount.forgettingNames(new, place))
            \(sql: notice.map { ", notice AS (\(sql: $0))" } ?? "")
            SELECT n.number, n.enabled, n.is_used, t.valid_since FROM allowed n LEFT JOIN target t USING (number)
            """
        ) { row in
            (
                index: Int(try row.next(Int64.self)) - 1, isEnabled: try row.next(Bool.self),
                isUsed: try row.next(Bool.self), validSince: try row.next(Int64?.self)
            )
        }
        var outcomes = [WriteOutcome?](repeating: nil, count: new.count)
        for row in rows where outcomes.indices.contains(row.index) {
            outcomes[row.index] =
                if !row.isEnabled {
                    .providerDisabled
                } else if row.isUsed {
                    .duplicateToken
                } else {
                    row.validSince.map { .applied(validSince: $0) } ?? .stale
                }
        }
        return outcomes
    }
}

/// An account to insert, with its first credential and session.
struct NewAccount: Sendable {
    /// What an account claims, as the key of a batch: two of one batch would fail it.
    struct Claim: Hashable, Sendable {
        var scope: Scope
        var value: String
    }

    let account: Account
    let write: SignInWrite
    private let tokens: SealedTokens
    private let profile: [UInt8]
    private let origin = RequestContext.current.origin

    init(_ account: Account, _ write: SignInWrite, _ keyRing: KeyRing) throws {
        self.account = account
        self.write = write
        (tokens, profile) = try keyRing.seal(write, account: account.id)
    }

    /// What the audit entry says of the proof.
    var proof: [String] { write.redeems == nil ? [] : ["pendingToken"] }

    /// Whether another sign-up may be in its statement.
    ///
    /// One that takes from several buckets takes from the next only if the one before had room.
    var mayShare: Bool { write.redeems == nil && write.notice == nil && write.limits.count <= 1 }

    /// A condition that makes the statement wait for no row longer than a moment; then each of its sign-ups is asked alone.
    static let isImpatient: SQL = "(SELECT set_config('lock_timeout', '100ms', true)) <> ''"

    var claim: Claim {
        let identity = write.credential.identity
        return Claim(
            scope: write.scope,
            value: account.email?.canonical ?? "\(identity.provider.rawValue) \(identity.subject)"
        )
    }

    private var identity: FederatedIdentity { write.credential.identity }

    private var session: NewSession? {
        if case .open(let session) = write.session { session } else { nil }
    }

    /// The accounts, numbered.
    static func asked(_ new: [NewAccount], where condition: SQL) -> SQL {
        let identities = new.map(\.identity)
        return """
            asked AS MATERIALIZED (
                SELECT * FROM unnest(\(new.map(\.write.scope.project.rawValue))::text[],
                    \(new.map(\.write.scope.tenant.rawValue))::text[], \(new.map(\.write.now))::timestamptz[],
                    \(sql: columns(of: new.map(\.account))), \(sql: credentialColumns(of: new)),
                    \(identities.map(\.issuer))::text[], \(new.map(\.write.allowsUnconfiguredProvider))::bool[],
                    \(new.map { $0.write.credential.oneTimeToken?.hash ?? [] })::bytea[],
                    \(new.map { Double($0.write.credential.oneTimeToken?.expiresAt ?? 0) })::float8[],
                    \(new.map(\.write.credential.nameComesOnce))::bool[],
                    \(new.map(\.origin.addressPrefix))::text[],
                    \(sql: NewSession.arrays(of: new.map(\.session), from: new.map(\.origin)))) WITH ORDINALITY
                    n (project, tenant, now, \(sql: columnNames), \(sql: credentialNames), issuer, unconfigured,
                        token_hash, token_expires, name_comes_once, origin_prefix, \(sql: NewSession.arrayNames), number)
                WHERE \(sql: condition)
            )
            """
    }

    private static func columns(of accounts: [Account]) -> SQL {
        """
        \(accounts.map(\.id.rawValue))::text[], \(accounts.map(\.validSince))::int8[],
        \(accounts.map(\.email?.canonical))::text[], \(accounts.map(\.email?.original))::text[],
        \(accounts.map(\.emailVerified))::bool[], \(sql: ProfileColumns.account.arrays(accounts.map(\.profile))),
        \(accounts.map(\.disabled))::bool[],
        \(accounts.map(\.customAttributes))::text[], \(accounts.map(\.createdAt))::timestamptz[]
        """
    }

    private static let columnNames: SQL = """
        account, valid_since, email, email_original, email_verified, \(sql: ProfileColumns.account.names), disabled,
        custom_attributes, created_at
        """

    private static func credentialColumns(of new: [NewAccount]) -> SQL {
        let identities = new.map(\.identity)
        return """
            \(identities.map(\.provider.rawValue))::text[], \(identities.map(\.subject))::text[],
            \(identities.map(\.email?.canonical))::text[],
            \(sql: ProfileColumns.identity.arrays(identities.map(\.profile))),
            \(identities.map(\.relayFlag))::bool[], \(identities.map { $0.realUserStatus.map { Int32($0) } })::int4[],
            \(new.map(\.tokens.access))::bytea[], \(new.map(\.tokens.refresh))::bytea[],
            \(new.map(\.write.credential.tokens.clientID))::text[], \(new.map(\.profile))::bytea[]
            """
    }

    private static let credentialNames: SQL = """
        provider, subject, linked_email, \(sql: ProfileColumns.identity.names("linked_")), email_is_relay,
        real_user_status, tokens, refresh_token, token_client, profile
        """

    /// Those that the limits admit, whether their providers are enabled, and whether their tokens were used or their
    /// claims taken before: such a one fails nobody's statement (threats.md, T-E12).
    ///
    /// With `EXISTS` instead, the generic plan would hash these tables.
    static func allowed(_ place: Placement) -> SQL {
        let project = place.project(of: "n")
        return """
            allowed AS MATERIALIZED (
                SELECT n.*, coalesce(p.enabled, n.unconfigured) AS enabled,
                    (
                        SELECT true FROM used_id_tokens u WHERE u.project = \(sql: project) AND u.token_hash = n.token_hash
                    ) IS TRUE AS is_used,
                    (
                        SELECT true FROM credential_subjects c WHERE c.project = \(sql: project) AND c.tenant = n.tenant
                            AND c.provider = n.provider AND c.subject = n.subject
                    ) IS TRUE OR (
                        SELECT true FROM account_emails e WHERE e.project = \(sql: project) AND e.tenant = n.tenant
                            AND e.email_key = n.email
                    ) IS TRUE AS is_taken
                FROM asked n JOIN admitted USING (number)
                \(sql: AccountStore.providerIsEnabled(place))
            )
            """
    }

    /// Everything that the accounts of `target` consist of, and the end of what can be used once.
    ///
    /// Claims are taken in the order of their keys, so that two nodes do not wait for each other.
    static func inserts(changes: [String]) -> SQL {
        """
        accounts AS (
            INSERT INTO accounts (project, tenant, methods, \(sql: columnNames))
            SELECT project, tenant, ARRAY[provider], \(sql: columnNames) FROM target
        ), subjects AS (
            INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
            SELECT project, tenant, provider, subject, account, issuer FROM target
            ORDER BY project, tenant, provider, subject
        ), emails AS (
            INSERT INTO account_emails (project, tenant, email_key, account)
            SELECT project, tenant, email, account FROM target WHERE email IS NOT NULL ORDER BY project, tenant, email
        ), credentials AS (
            INSERT INTO linked_credentials (project, account, tenant, provider, subject, email,
                \(sql: ProfileColumns.identity.names), email_is_relay, real_user_status, tokens, refresh_token,
                token_client, profile, linked_at, updated_at)
            SELECT project, account, tenant, \(sql: credentialNames), now, now FROM target
        ), opened AS (
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, claims,
                sign_in_attributes, second_factor, second_factor_identifier, created_at, last_used_at, user_agent,
                address_prefix)
            SELECT project, account, new_session, tenant, secret_hash, greatest(auth_time, valid_since), method, claims,
                attributes, second_factor, second_factor_identifier, now, now, user_agent, address_prefix
            FROM target WHERE new_session <> ''
        ), activity AS (
            INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
            SELECT project, tenant, account, now, now FROM target WHERE new_session <> ''
        ), audit AS (
            INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, changes,
                address_prefix, \(sql: AuditOrigin.arrayNames))
            SELECT project, now, tenant, account, provider, nullif(new_session, ''),
                \(AuditAction.accountCreated.rawValue), \(changes), origin_prefix, \(sql: AuditOrigin.arrayNames)
            FROM target
        ), used AS (
            INSERT INTO used_id_tokens (project, token_hash, expires_at)
            SELECT project, token_hash, to_timestamp(token_expires) FROM target WHERE token_hash <> ''
            ORDER BY project, token_hash
        )
        """
    }

    /// Ends the keeping of names that a provider sends once; empty if none of the providers is such.
    static func forgettingNames(_ new: [NewAccount], _ place: Placement) -> SQL {
        guard new.contains(where: \.write.credential.nameComesOnce) else { return "" }
        return """
            , names AS (
                DELETE FROM kept_names k USING target t
                WHERE t.name_comes_once AND k.project = \(sql: place.project(of: "t")) AND k.tenant = t.tenant AND k.provider = t.provider
                    AND k.subject = t.subject
            )
            """
    }
}
