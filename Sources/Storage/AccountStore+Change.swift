import Delivery
package import Domain
import Federation
import Passwords
import Postgres
package import Projects
package import Sessions
package import struct Foundation.Date

extension AccountStore {
    /// Changes an account under its lock, in one transaction: locks the row, reads it with its credentials, calls
    /// `decide` for the changes, and writes them.
    ///
    /// - Parameters:
    ///   - signIn: a federated sign-in or link, which the changes contain: what it depends on is read with the account.
    ///   - lane: where to wait for the account; nil for that of what the caller has.
    ///   - opened: a session that the changes open: whether the account has room for it is read, too.
    ///   - decide: gets the current account and the requested session; if it throws, nothing changes.
    /// - Returns: what was written, and the account afterwards.
    /// - Throws: what `decide` throws; ``UnknownAccount``; ``ClaimConflict`` if another account holds a claim;
    ///   ``RepeatedEvent`` if the event was applied before; ``SpentCode``; ``RateLimitReached``; ``AccountBusy``;
    ///   ``SessionStore/NewerSignIn``; ``NotWritten``.
    package func change(
        _ account: AccountID,
        session: SessionID?,
        admitting signIn: SignInWrite? = nil,
        opening opened: NewSession? = nil,
        in scope: Scope,
        now: Date,
        lane: AccountGate.Lane? = nil,
        decide: @escaping @Sendable (Account, StoredSession?) throws -> AccountChanges
    ) async throws -> ChangedAccount {
        let lane = lane ?? (session != nil ? .change : signIn != nil ? .signIn : .proof)
        let admission = SignInAdmission(of: account, by: signIn, opening: opened, scope, now: now)
        do {
            return try await gate.pass(account, in: scope, lane) {
                try await database.transaction { transaction in
                    let found = try await lock(account, session: session, if: admission, scope, transaction)
                    guard let current = found?.account else { throw UnknownAccount() }
                    var changes = try decide(current, found?.session)
                    try await changes.limits.take(transaction)
                    if changes.needsNewestSignIn, let session {
                        let isOlder = SessionStore.isOlder(session, than: "true", of: account, scope)
                        let answer = try await transaction.query("SELECT \(sql: isOlder)") { try $0.next(Bool.self) }
                        guard answer == [false] else { throw SessionStore.NewerSignIn() }
                    }
                    if let proved = changes.provedPassword {
                        try await require(proved, of: account, scope, transaction)
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
                        try await code.spend(scope, transaction)
                    }
                    if let displaced = changes.displaces {
                        try await displace(displaced, scope, now: now, transaction)
                    }
                    let lost = try await grants(of: account, at: changes.revocable, scope, transaction)
                    try await revoke(lost, scope, now: now, transaction)
                    var after: Account?
                    if changes.deletesAccount {
                        delete(current, scope, now: now, transaction)
                    } else {
                        after = try await apply(changes, to: current, scope, now: now, transaction)
                    }
                    try tell(changes, before: current, after: after, scope, now: now, transaction)
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
    ) throws {
        let type: WebhookType = after == nil ? .accountDeleted : .accountUpdated
        guard changes.told.contains(type) else { return }
        var last = before
        if after == nil { last.version += 1 }
        let notice = WebhookNotice(type, about: after ?? last, of: scope, date: now)
        guard after == nil || notice.differs(from: before, of: scope) else { return }
        transaction.write(try telling(notice, scope))
    }

    // MARK: Lock and read

    /// The first statement of a transaction that changes the account or ends its sessions.
    static func locking(_ account: AccountID, _ scope: Scope) -> SQL {
        """
        SELECT true FROM accounts
        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND account = \(account.rawValue) AND merged_into IS NULL
        FOR UPDATE
        """
    }

    /// Locks an account and reads it with the session, whose row it locks too, in one round trip.
    ///
    /// - Returns: nil for one that is unknown or merged. Without its lock, none is read: it may be a new one, which the lock's
    ///   snapshot did not have.
    /// - Throws: ``NotWritten`` and ``RateLimitReached`` for a sign-in that may not be.
    func lock(
        _ account: AccountID,
        session: SessionID? = nil,
        if admission: SignInAdmission = .any,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> (account: Account, session: StoredSession?)? {
        transaction.write(Self.locking(account, scope), affecting: 1)
        if let locking = admission.locking { transaction.write(locking) }
        do {
            return try await read(account, session: session, if: admission, scope, transaction)
        } catch let error as PostgresError where error.sqlState == PostgresError.noSuchRow {
            return nil
        }
    }

    func read(
        _ account: AccountID,
        session: SessionID? = nil,
        if admission: SignInAdmission = .any,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> (account: Account, session: StoredSession?)? {
        let rows = try await transaction.query(
            """
            SELECT \(sql: admission.columns), \(sql: AccountRow.columns),
                \(sql: SessionRow.columns)
            FROM accounts a \(sql: AccountRow.joins(.of(scope.project)))
            LEFT JOIN LATERAL (
                SELECT * FROM sessions
                WHERE project = \(scope.project.rawValue) AND tenant = a.tenant AND account = a.account
                    AND session = \(session?.rawValue) OFFSET 0
                FOR NO KEY UPDATE
            ) s ON true
            WHERE a.project = \(scope.project.rawValue) AND a.tenant = \(scope.tenant.rawValue)
                AND a.account = \(account.rawValue)
            """
        ) { row in
            try SignInAdmission.check(&row)
            return (try AccountRow.decode(&row), try SessionRow.decode(&row))
        }
        return AccountRow.merge(rows.map(\.0)).first.map { ($0, rows.first?.1) }
    }

    private func require(
        _ password: StoredPassword,
        of account: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws {
        let isCurrent = try await transaction.query(
            """
            SELECT password_hash = \(password.hash.hash) FROM accounts
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
            """
        ) { try $0.next(Bool?.self) }
        guard isCurrent == [true] else { throw NotWritten(outcome: .stale) }
    }

    // MARK: Write

    /// - Returns: the account afterwards.
    @discardableResult
    func apply(
        _ changes: AccountChanges,
        to before: Account,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws -> Account {
        var after = changes.applied(to: before, now: now)
        for entry in changes.entries(for: before, scope, at: now) { transaction.write(entry.insertion()) }
        let update = try AccountRow.update(
            to: after,
            password: changes.writtenPassword,
            validSince: validSince(changes, of: after, scope),
            scope,
            now: now
        )
        if after.version == before.version {
            // What leaves the account as it is: a sign-in.
        } else if changes.endsEarlierSessions {
            // Later than each of the sessions that end, which only the database knows.
            let validSince = try await transaction.query("\(sql: update) RETURNING valid_since") {
                try $0.next(Int64.self)
            }
            after.validSince = validSince.first ?? after.validSince
        } else {
            transaction.write(update)
        }
        let transition = Transition(
            before: before,
            after: after,
            dropsUnproved: changes.firstVerification != nil,
            scope: scope,
            now: now,
            transaction: transaction
        )
        if let proof = changes.firstVerification {
            dropUnproved(transition, keeping: changes.credential?.credential.identity.provider, by: proof)
        }
        try applyClaims(changes, transition)
        if let credential = changes.credential { try apply(credential, transition) }
        for grant in changes.grants { apply(grant, of: before.id, scope, now: now, transaction) }
        applySessions(changes, transition)
        for statement in changes.forgives.emptying { transaction.write(statement) }
        try await applyCodes(changes, transition)
        return after
    }

    /// An account's change in its transaction, which has locked the row.
    struct Transition: Sendable {
        let before: Account
        let after: Account
        /// Whether the account loses all earlier credentials.
        var dropsUnproved = false
        let scope: Scope
        let now: Date
        let transaction: PostgresTransaction
    }

    private func validSince(_ changes: AccountChanges, of after: Account, _ scope: Scope) -> SQL {
        guard let seconds = changes.validSince else { return "valid_since" }
        switch changes.endedSessions {
        case .all: return SessionStore.validSince(ending: after.id, at: seconds, scope)
        case .others:
            let ignored = changes.session.evidence == nil ? seconds : -1
            return SessionStore.validSince(
                ending: after.id,
                at: seconds,
                except: changes.session.id,
                ignoringUntil: ignored,
                scope
            )
        case .none, .openedWith, .openedBefore: return "greatest(valid_since, \(seconds))"
        }
    }

    /// Removes an account's earlier credentials when its email is first verified (threats.md, T-A1, T-A7); the claims of its
    /// own, and its sessions, end with the changes of those.
    ///
    /// - Parameter provider: the provider whose row stays, because another subject replaces it.
    private func dropUnproved(_ transition: Transition, keeping provider: ProviderID?, by proof: EmailProof) {
        let (account, scope, transaction) = (transition.before, transition.scope, transition.transaction)
        let lost = recordDetached(
            from: account,
            provider: nil,
            reason: .takeOver,
            by: proof,
            scope,
            now: transition.now
        )
        for statement in lost { transaction.write(statement) }
        for linked in account.linked { release(subject: linked.subject, at: linked.provider, scope, transaction) }
        transaction.write(
            """
            DELETE FROM linked_credentials
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.id.rawValue) AND provider IS DISTINCT FROM \(provider?.rawValue)
            """
        )
        transaction.write(OOBCodeStore.voiding(OOBCodeType.allCases, of: account.id.rawValue, scope))
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

    private func applySessions(_ changes: AccountChanges, _ transition: Transition) {
        let (account, scope, now) = (transition.after.id, transition.scope, transition.now)
        let transaction = transition.transaction
        if case .renew(let session, let retires) = changes.session {
            transaction.write(
                SessionStore.continuing(
                    session,
                    of: account,
                    validSince: transition.after.validSince,
                    retiresOldSecret: retires,
                    scope,
                    now: now
                )
            )
        }
        let ended: SQL? =
            switch changes.endedSessions {
            case .none: nil
            case .all: SessionStore.ending(where: "true", of: account, scope, now: now)
            case .others:
                SessionStore.ending(
                    where: "session IS DISTINCT FROM \(changes.session.continued?.rawValue)",
                    of: account,
                    scope,
                    now: now
                )
            case .openedWith(let provider): SessionStore.ending(openedWith: provider, of: account, scope, now: now)
            case .openedBefore(let seconds):
                SessionStore.ending(where: "auth_time < \(seconds)", of: account, scope, now: now)
            }
        if let ended { transaction.write(ended) }
        if case .open(let session) = changes.session {
            transaction.write(SessionStore.endingSurplus(of: account, scope, now: now))
            transaction.write(
                SessionStore.opening(session, of: account, validSince: transition.after.validSince, scope, now: now)
            )
        }
        if let lastSignInAt = changes.lastSignInAt {
            transaction.write(SessionStore.activity(of: account, changes.pace, scope, now: lastSignInAt))
        }
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
