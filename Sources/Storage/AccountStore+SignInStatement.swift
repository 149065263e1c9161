import Domain
import Federation
import Postgres
import Projects
import Secrets
import Sessions

import struct Foundation.Date

/// The statement of a sign-in that writes more than a session.
extension AccountStore {
    /// Runs `target` and `parts` as one statement and returns the outcome.
    ///
    /// - Parameters:
    ///   - action: the audit log's name for it.
    ///   - locksFirst: a separate statement locks the account first, so that this one sees all earlier changes to it.
    func apply(
        _ write: SignInWrite,
        to account: AccountID,
        as action: AuditAction,
        locksFirst: Bool = false,
        target: SQL,
        parts: [SQL]
    ) async throws -> WriteOutcome {
        let scope = write.scope
        let parts = try parts + commonParts(of: write, to: account, as: action)
        let statement: SQL = """
            WITH \(sql: gate(of: write, to: account)), target AS (\(sql: target))
            \(sql: SQL.further(parts)) \(sql: surplus(of: account, write))
            SELECT enabled, has_room, (SELECT valid_since FROM target) FROM provider, pace
            """
        do {
            return try await gate.pass(account, in: scope, .signIn) {
                guard locksFirst || !write.revocable.isEmpty || write.amendment != nil else {
                    return try await Self.outcome(of: statement, by: database)
                }
                return try await database.transaction { transaction in
                    transaction.write(Self.locking(account, scope))
                    let lost = try await grants(of: account, at: write.revocable, scope, transaction)
                    let outcome = try await Self.outcome(of: statement, by: transaction)
                    if case .applied = outcome {
                        try await revoke(lost, scope, now: write.now, transaction)
                        if let update = write.amendment?.update(of: account, scope, now: write.now) {
                            transaction.write(update)
                        }
                    }
                    return outcome
                }
            }
        } catch let error as PostgresError {
            return try WriteOutcome(error)
        }
    }

    /// What the new session makes too much.
    private func surplus(of account: AccountID, _ write: SignInWrite) -> SQL {
        guard case .open = write.session else { return "" }
        return ", \(sql: SessionStore.surplus(of: account, write.scope, now: write.now))"
    }

    /// `gate`: whether the provider is enabled, the pending credential can still be redeemed, and the account has room for
    /// another sign-in.
    private func gate(of write: SignInWrite, to account: AccountID) -> SQL {
        var pending: SQL = ""
        var redeemable: SQL = "true"
        let pace = write.session.authTime == nil ? .unlimited : write.pace
        let hasRoom = pace.hasRoom(of: account, in: write.scope, now: write.now)
        if let handle = write.redeems {
            pending = "pending AS MATERIALIZED (\(sql: lockPending(handle, write))),"
            redeemable = isRedeemable(handle, by: account, write)
        }
        return """
            \(sql: pending) provider AS MATERIALIZED (
                SELECT coalesce((
                    SELECT enabled FROM provider_configurations
                    WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                        AND provider = \(write.credential.identity.provider.rawValue)
                ), \(write.allowsUnconfiguredProvider)) AS enabled
            ), pace AS MATERIALIZED (
                SELECT \(sql: hasRoom) AS has_room
            ), gate AS MATERIALIZED (
                SELECT enabled AND has_room AND \(sql: redeemable) AS open FROM provider, pace
            )
            """
    }

    /// What every sign-in writes: the session, its time, the audit entry and the end of what can be used once.
    private func commonParts(
        of write: SignInWrite,
        to account: AccountID,
        as action: AuditAction
    ) throws -> [SQL] {
        let (scope, identity) = (write.scope, write.credential.identity)
        let signsIn = write.session.authTime != nil
        var parts: [SQL] = []
        switch write.session {
        case .none: break
        case .open(let session): parts.append(insertSession(session, scope, now: write.now))
        case .renew(let session, let retires):
            parts.append(renewSession(session, scope, retiresOldSecret: retires, now: write.now))
        }
        // A first factor alone is not a sign-in yet.
        if signsIn { parts.append(recordSignIn(scope, write.pace, now: write.now)) }
        if signsIn || action != .signedIn {
            let entry = AuditEntry(
                action,
                in: scope,
                account: account,
                providers: [identity.provider],
                resource: write.session.id?.rawValue,
                changes: write.redeems == nil ? [] : ["pendingToken"],
                at: write.now
            )
            parts.append(entry.insertion(from: "target"))
        }
        if let token = write.credential.oneTimeToken {
            parts.append(
                """
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                SELECT \(scope.project.rawValue), \(token.hash), to_timestamp(\(Double(token.expiresAt))) FROM target
                """
            )
        }
        if write.credential.nameComesOnce {
            parts.append(
                """
                DELETE FROM kept_names WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND provider = \(identity.provider.rawValue) AND subject = \(identity.subject)
                    AND EXISTS (SELECT FROM target)
                """
            )
        }
        if let notice = write.notice { parts.append(try telling(notice, scope, from: "target")) }
        if write.redeems != nil { parts.append(redeem(write)) }
        return parts
    }

    /// Locks a pending credential and all other handles for the same proof, in a fixed order.
    func lockPending(_ handle: [UInt8], _ write: SignInWrite) -> SQL {
        let tokens = write.credential.tokens
        return """
            SELECT handle_hash, redeemed_at, redeemed_by FROM pending_credentials
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND (handle_hash = \(handle) OR id_token_hash = \(tokens.idToken.map { SecureHash.sha256($0) })
                    OR access_token_hash = \(tokens.accessToken.map { SecureHash.sha256($0) }))
                AND provider = \(write.credential.identity.provider.rawValue)
            ORDER BY handle_hash FOR UPDATE
            """
    }

    /// It was not redeemed yet, or only a moment ago by the same account.
    ///
    /// The first success is final, whatever the caller read before.
    func isRedeemable(_ handle: [UInt8], by account: AccountID, _ write: SignInWrite) -> SQL {
        let retries = write.now.addingTimeInterval(-PendingCredentialStore.retrySeconds)
        return """
            EXISTS (SELECT FROM pending WHERE handle_hash = \(handle)
                AND (redeemed_at IS NULL OR (redeemed_by = \(account.rawValue) AND redeemed_at >= \(retries))))
            """
    }

    /// Redeems what ``lockPending(_:_:)`` locked.
    func redeem(_ write: SignInWrite) -> SQL {
        """
        UPDATE pending_credentials p SET redeemed_at = coalesce(p.redeemed_at, \(write.now)),
            redeemed_by = coalesce(p.redeemed_by, (SELECT account FROM target))
        FROM pending l
        WHERE p.project = \(write.scope.project.rawValue) AND p.handle_hash = l.handle_hash
            AND EXISTS (SELECT FROM target)
        """
    }

    private static func outcome(
        of statement: SQL,
        by executor: some PostgresExecutor
    ) async throws -> WriteOutcome {
        let rows = try await executor.query(statement) { row in
            let enabled: Bool = try row.next()
            let hasRoom: Bool = try row.next()
            let validSince: Int64? = try row.next()
            guard enabled else { return WriteOutcome.providerDisabled }
            guard hasRoom else { throw SignInPace.reached }
            return validSince.map { .applied(validSince: $0) } ?? .stale
        }
        return rows.first ?? .stale
    }
}
