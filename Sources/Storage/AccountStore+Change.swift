import Delivery
package import Domain
import Passwords
import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

extension AccountStore {
    /// Changes an account under its lock, in one transaction: locks the row, reads it with its credentials, calls
    /// `decide` for the changes, and writes them.
    ///
    /// - Parameter decide: gets the current account and the requested session; if it throws, nothing changes.
    /// - Returns: what was written, and the account afterwards.
    /// - Throws: what `decide` throws; ``UnknownAccount``; ``ClaimConflict`` if another account holds a claim;
    ///   ``RepeatedEvent`` if the event was applied before; ``SpentCode``; ``RateLimitReached``; ``AccountBusy``;
    ///   ``SessionStore/NewerSignIn``.
    package func change(
        _ account: AccountID,
        session: SessionID?,
        in scope: Scope,
        now: Date,
        decide: @escaping @Sendable (Account, StoredSession?) throws -> AccountChanges
    ) async throws -> ChangedAccount {
        do {
            return try await gate.pass(account, in: scope, session == nil ? .proof : .change) {
                try await database.transaction { transaction in
                    let found = try await lock(account, session: session, scope, transaction)
                    guard let current = found.account else { throw UnknownAccount() }
                    var changes = try decide(current, found.session)
                    try await changes.limits.take(transaction)
                    if changes.needsNewestSignIn, let session {
                        let isOlder = SessionStore.isOlder(session, than: "true", of: account, scope)
                        let answer = try await transaction.query("SELECT \(sql: isOlder)") { try $0.next(Bool.self) }
                        guard answer == [false] else { throw SessionStore.NewerSignIn() }
                    }
                    if let event = changes.event {
                        try await remember(event, scope, transaction)
                        if let date = event.validUntilSignInAfter,
                            try await hasSignedIn(account, with: event.provider, after: date, scope, transaction)
                        {
                            changes = AccountChanges()
                        }
                    }
                    if let code = changes.spends {
                        let spent = try await transaction.execute("WITH \(sql: code.parts(scope)) SELECT FROM code")
                        guard spent == 1 else { throw SpentCode(code: code) }
                    }
                    if let displaced = changes.displaces {
                        try await displace(displaced, scope, now: now, transaction)
                    }
                    let lost = try await grants(of: account, at: changes.revocable, scope, transaction)
                    try await revoke(lost, scope, now: now, transaction)
                    var after: Account?
                    if changes.deletesAccount {
                        try await delete(current, scope, now: now, transaction)
                    } else {
                        try await apply(changes, to: current, scope, now: now, transaction)
                        after = try await read(account, session: nil, scope, transaction).account
                    }
                    try await tell(changes, before: current, after: after, scope, now: now, transaction)
                    return ChangedAccount(account: after, changes: changes)
                }
            }
        } catch let error as PostgresError {
            if let conflict = error.constraint.flatMap(ClaimConflict.init(rawValue:)) { throw conflict }
            if error.constraint == "provider_events_pkey" { throw RepeatedEvent() }
            throw error
        }
    }

    /// Writes the webhook; a change without visible effect sends none.
    func tell(
        _ changes: AccountChanges,
        before: Account,
        after: Account?,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        let type: WebhookType = after == nil ? .accountDeleted : .accountUpdated
        guard changes.told.contains(type) else { return }
        var last = before
        if after == nil { last.version += 1 }
        let notice = WebhookNotice(type, about: after ?? last, of: scope, date: now)
        guard after == nil || notice.differs(from: before, of: scope) else { return }
        transaction.write(try telling(notice, scope))
    }

    /// Locks an account and reads it, in one round trip.
    ///
    /// - Returns: nil for one that is unknown or merged. Without its lock, none is read: it may be a new one, which the lock's
    ///   snapshot did not have.
    func lock(
        _ account: AccountID,
        session: SessionID?,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> (account: Account?, session: StoredSession?) {
        transaction.write(Self.locking(account, scope), affecting: 1)
        do {
            return try await read(account, session: session, scope, transaction)
        } catch let error as PostgresError where error.sqlState == PostgresError.noSuchRow {
            return (nil, nil)
        }
    }

    func read(
        _ account: AccountID,
        session: SessionID?,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> (account: Account?, session: StoredSession?) {
        let rows = try await transaction.query(
            """
            SELECT \(sql: AccountRow.columns), \(sql: SessionRow.columns)
            FROM accounts a \(sql: AccountRow.joins)
            LEFT JOIN sessions s ON s.project = a.project AND s.tenant = a.tenant AND s.account = a.account
                AND s.session = \(session?.rawValue)
            WHERE a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue)
                AND a.account = \(account.rawValue)
            """
        ) { row in (try AccountRow.decode(&row), try SessionRow.decode(&row)) }
        return (AccountRow.merge(rows.map(\.0)).first, rows.first?.1)
    }

    func apply(
        _ changes: AccountChanges,
        to account: Account,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        var after = account
        if changes.firstVerification != nil { after.dropUnproved(validSince: account.validSince) }
        if let email = changes.email { after.email = email }
        if let phoneNumber = changes.phoneNumber { after.phoneNumber = phoneNumber }
        if let password = changes.password { after.hasPassword = password != nil }
        if let emailLink = changes.emailLinkSignIn { after.emailLinkSignIn = emailLink }
        // A list that was made before all were dropped.
        if let passkeys = changes.passkeys, changes.firstVerification == nil { after.passkeys = passkeys }
        after.displayName = changes.displayName ?? after.displayName
        after.photoURL = changes.photoURL ?? after.photoURL
        after.linked.removeAll { changes.unlinked.contains($0.provider) }
        if let linked = changes.linked { after.linked.append(linked) }
        // One statement can write every column, because the row is locked and its other values cannot have changed.
        let secondFactors = try SecondFactorColumn.text(of: changes.secondFactors ?? after.secondFactors)
        let setsPassword = changes.password != nil || changes.firstVerification != nil
        let password = changes.password ?? nil
        transaction.write(
            """
            \(sql: AuditEntry.before(changes.entries(for: account, scope, at: now)))
            UPDATE accounts SET version = version + 1, methods = \(after.methodNames),
                email = \(after.email?.canonical), email_original = \(after.email?.original),
                email_verified = \(changes.emailVerified ?? after.emailVerified), email_link = \(after.emailLinkSignIn),
                initial_email = \(changes.initialEmail ?? after.initialEmail),
                \(sql: ProfileColumns.account.setting(after.profile)),
                phone_number = \(after.phoneNumber), second_factors = \(secondFactors),
                passkeys = \(try PasskeyColumn.text(of: after.passkeys)),
                password_hash = CASE WHEN \(setsPassword) THEN \(password?.hash.hash) ELSE password_hash END,
                password_salt = CASE WHEN \(setsPassword) THEN \(password?.hash.salt) ELSE password_salt END,
                password_parameters = CASE WHEN \(setsPassword) THEN \(password?.parameters)
                    ELSE password_parameters END,
                password_updated_at = \(changes.passwordUpdatedAt ?? account.passwordUpdatedAt),
                custom_attributes = \(changes.customAttributes ?? account.customAttributes),
                custom_auth = \(account.customAuth || changes.isByCustomToken),
                recoverable_until = \(changes.recoverableUntil(of: account, now: now)),
                disabled = \(changes.disabled ?? account.disabled),
                disabled_at = CASE WHEN \(changes.disabled ?? account.disabled) THEN coalesce(disabled_at, \(now)) END,
                valid_since = \(sql: validSince(changes, of: account.id, scope)),
                revoked_version = \(sql: changes.revokes ? "version + 1" : "revoked_version"),
                created_at = \(changes.createdAt ?? account.createdAt)
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.id.rawValue)
            """
        )
        if let proof = changes.firstVerification {
            try await dropUnproved(of: account, by: proof, scope, now: now, transaction)
        }
        let transition = Transition(before: account, after: after, scope: scope, now: now, transaction: transaction)
        try await applyClaims(changes, transition)
        for grant in changes.grants { try await apply(grant, of: account.id, scope, now: now, transaction) }
        try await applySessions(changes, account.id, scope, now: now, transaction)
        if !changes.forgives.isEmpty {
            transaction.write("WITH target AS (SELECT) \(sql: changes.forgives.emptying)")
        }
        try await applyCodes(changes, transition)
    }

    /// An account's change in its transaction, which has locked the row.
    struct Transition: Sendable {
        let before: Account
        let after: Account
        let scope: Scope
        let now: Date
        let transaction: PostgresTransaction
    }

    private func validSince(_ changes: AccountChanges, of account: AccountID, _ scope: Scope) -> SQL {
        guard let seconds = changes.validSince else { return "valid_since" }
        switch changes.endedSessions {
        case .all: return endingSessions(of: account, at: seconds, scope)
        case .others:
            let ignored = changes.session.evidence == nil ? seconds : -1
            return endingSessions(of: account, at: seconds, except: changes.session.id, ignoringUntil: ignored, scope)
        case .none, .openedWith, .openedBefore: return "greatest(valid_since, \(seconds))"
        }
    }

    private func dropUnproved(
        of account: Account,
        by proof: EmailProof,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        let parts = SQL.further(dropUnproved(of: account, by: proof, scope, now: now))
        transaction.write(
            "WITH target AS (SELECT \(account.id.rawValue)::text AS account) \(sql: parts) SELECT FROM target"
        )
    }

    /// Ends codes that no longer apply: those for an email that was verified or replaced, except the one that restores
    /// it, and an email change that started before sessions ended (threats.md, T-A4, T-E6).
    private func applyCodes(_ changes: AccountChanges, _ transition: Transition) async throws {
        let (before, after, scope, transaction) = (
            transition.before, transition.after, transition.scope, transition.transaction
        )
        let moves = before.email?.canonical != after.email?.canonical
        let ends =
            switch changes.endedSessions {
            case .all, .others, .openedBefore, .openedWith: true
            case .none: false
            }
        // Those of an email that the account never verified are not its own: a stranger's account must not end them.
        let left = before.emailVerified ? before.email : nil
        let proved = changes.emailVerified == true ? after.email : nil
        // A new or removed email also sets whether it is verified.
        if changes.emailVerified != nil {
            transaction.write(
                OOBCodeStore.voiding(
                    OOBCodeType.allCases.filter { $0 != .recoverEmail },
                    of: before.id.rawValue,
                    signIn: moves ? [left, proved].compactMap { $0?.canonical } : [],
                    recoveries: endedRecoveries(changes),
                    scope
                )
            )
        } else if ends {
            transaction.write(
                OOBCodeStore.voiding([.verifyAndChangeEmail], of: before.id.rawValue, scope)
            )
        }
        if let code = changes.sends {
            try await OOBCodeStore.insert(
                code,
                within: changes.sendLimits,
                scope,
                keyRing,
                now: transition.now,
                transaction
            )
        }
    }

    /// Codes of addresses that replaced the restored one, and of unverified ones that precede a verified one.
    private func endedRecoveries(_ changes: AccountChanges) -> OOBCodeStore.EndedRecoveries {
        if let code = changes.recovers { return .since(code) }
        return changes.emailVerified == true ? .unproved : .asNamed
    }

    private func applySessions(
        _ changes: AccountChanges,
        _ account: AccountID,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        let target: SQL = """
            WITH target AS (
                SELECT account, valid_since FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue)
            )
            """
        var renewed: SessionID?
        if case .renew(let session, let retires) = changes.session {
            renewed = session.session.id
            transaction.write(
                "\(sql: target) \(sql: renewSession(session, scope, retiresOldSecret: retires, now: now))"
            )
        }
        switch changes.endedSessions {
        case .none: break
        case .all:
            transaction.write(
                "\(sql: target) \(sql: revokeSessions(of: account, scope, except: nil, now: now))"
            )
        case .openedWith(let provider):
            try await endSessions(of: account, openedWith: provider, scope, now: now, transaction)
        case .openedBefore(let seconds):
            try await endSessions(of: account, "auth_time < \(seconds)", scope, now: now, transaction)
        case .others:
            transaction.write(
                "\(sql: target) \(sql: revokeSessions(of: account, scope, except: renewed, now: now))"
            )
        }
        if case .open(let session) = changes.session {
            transaction.write(
                """
                \(sql: target), \(sql: SessionStore.surplus(of: account, scope, now: now))
                \(sql: insertSession(session, scope, now: now))
                """
            )
        }
        if let lastSignInAt = changes.lastSignInAt {
            transaction.write("\(sql: target) \(sql: recordSignIn(scope, now: lastSignInAt))")
        }
    }

    private func delete(
        _ account: Account,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws {
        let target: SQL = "WITH target AS (SELECT \(account.id.rawValue)::text AS account)"
        transaction.write(
            "\(sql: target) \(sql: revokeSessions(of: account.id, scope, except: nil, now: now))"
        )
        transaction.write(
            OOBCodeStore.voiding(
                OOBCodeType.allCases,
                of: account.id.rawValue,
                signIn: account.email.map { account.emailVerified ? [$0.canonical] : [] } ?? [],
                scope
            )
        )
        // Accounts that were merged into it are deleted too, with everything they still hold.
        let ids: SQL = "ANY (ARRAY(SELECT account FROM gone))"
        transaction.write(
            """
            WITH RECURSIVE family (account) AS (
                SELECT \(account.id.rawValue)::text
                UNION
                SELECT m.merged FROM account_merges m JOIN family f ON m.survivor = f.account
                WHERE m.project = \(scope.project.rawValue) AND m.tenant = \(scope.tenant.rawValue)
            ), gone AS MATERIALIZED (
                SELECT account, email, phone_number FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = ANY (ARRAY(SELECT account FROM family))
            ), identities AS MATERIALIZED (
                SELECT provider, subject FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(sql: ids)
            ), \(sql: releasing(scope)), linked AS (
                DELETE FROM linked_credentials WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(sql: ids)
            ), activity AS (
                DELETE FROM account_activity WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(sql: ids)
            ), detached AS (
                DELETE FROM detached_credentials WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(sql: ids)
            ), codes AS (
                DELETE FROM verification_codes WHERE project = \(scope.project.rawValue)
                    AND tenant = \(scope.tenant.rawValue) AND purpose <> \(VerificationPurpose.signIn.rawValue)
                    AND owner = \(account.id.rawValue)
            ), audit AS (
                \(sql: AuditEntry(.accountDeleted, in: scope, account: account.id, at: now).insertion())
            ), merges AS (
                DELETE FROM account_merges WHERE project = \(scope.project.rawValue)
                    AND tenant = \(scope.tenant.rawValue) AND survivor = \(sql: ids)
            )
            DELETE FROM accounts WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(sql: ids)
            """
        )
    }

    /// Parts of a statement that release what accounts hold: the emails, numbers and passkeys of `gone`, and `identities`.
    private func releasing(_ scope: Scope) -> SQL {
        """
        emails AS (
            DELETE FROM account_emails
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND email_key = ANY (ARRAY(SELECT email FROM gone))
        ), phones AS (
            DELETE FROM account_phones
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND phone_number = ANY (ARRAY(SELECT phone_number FROM gone))
        ), subjects AS (
            DELETE FROM credential_subjects c USING identities i
            WHERE c.project = \(scope.project.rawValue) AND c.tenant = \(scope.tenant.rawValue)
                AND c.provider = i.provider AND c.subject = i.subject
        ), passkeys AS (
            DELETE FROM account_passkeys
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = ANY (ARRAY(SELECT account FROM gone))
        ), names AS (
            DELETE FROM kept_names k USING identities i
            WHERE k.project = \(scope.project.rawValue) AND k.tenant = \(scope.tenant.rawValue)
                AND k.provider = i.provider AND k.subject = i.subject
        )
        """
    }
}

/// The provider's event was applied before.
package struct RepeatedEvent: Error, Sendable {}

/// The account does not exist in the scope.
package struct UnknownAccount: Error, Sendable {}

/// The result of a change.
package struct ChangedAccount: Sendable {
    /// Nil if the account was deleted.
    package var account: Account?
    package var changes: AccountChanges

    /// The account of a change that does not delete it.
    package var existing: Account {
        get throws {
            guard let account else { throw UnknownAccount() }
            return account
        }
    }
}
