package import Domain
import Federation
import Postgres
import Projects
import Secrets
import Sessions

import struct Foundation.Date

// Each write is one statement: `target` is the account row if everything that was decided on is unchanged, and the
// other parts write only if there is a target. A claim that another account took in the meantime fails the whole
// statement.

extension AccountStore {
    /// Signs in to the account that owns the identity (S1), which takes its email if `effect` says so (S15).
    ///
    /// The account's lock orders it with everything that ends sessions: either that sees the new session, or this is
    /// stale. A revoked grant becomes valid again, and a name that the provider sends once is stored.
    package func signIn(
        to account: Account,
        effect: LinkDecision.EmailEffect = .none,
        _ write: SignInWrite
    ) async throws -> WriteOutcome {
        let identity = write.credential.identity
        let conditions: SQL = """
            a.project = \(write.scope.project.rawValue) AND a.tenant = \(write.scope.tenant.rawValue)
                AND a.account = \(account.id.rawValue) AND a.disabled IS NOT TRUE
                AND a.version = \(account.version)
                AND c.project = a.project AND c.tenant = a.tenant AND c.account = a.account
                AND c.provider = \(identity.provider.rawValue) AND c.subject = \(identity.subject)
                AND c.blocked_at IS NULL AND (SELECT open FROM gate)
            """
        let target: SQL
        var parts = try write.keptTokens == nil ? [] : [storeTokens(of: account.id, write)]
        var lacksName = account.displayName == nil
        switch effect {
        case .adopt(let email, let verified):
            // A statement can update a row only once.
            lacksName = false
            target = """
                UPDATE accounts a SET version = a.version + 1, email = \(email.canonical),
                    email_original = \(email.original), email_verified = \(verified),
                    display_name = coalesce(a.display_name, \(write.credential.nameDeliveredOnce))
                FROM credential_subjects c
                WHERE \(sql: conditions)
                RETURNING a.account, a.valid_since
                """
            parts.append(claimEmail(email, write.scope))
            if verified { parts.append(endUnprovedRecoveries(of: account.id, write.scope)) }
            let entry = AuditEntry(
                .accountUpdated,
                in: write.scope,
                account: account.id,
                changes: verified ? ["email", "emailVerified"] : ["email"],
                at: write.now
            )
            parts.append(entry.insertion(from: "target"))
        case .markVerified, .none:
            target = """
                SELECT a.account, a.valid_since FROM accounts a, credential_subjects c
                WHERE \(sql: conditions)
                FOR SHARE OF a
                """
        }
        if let name = write.credential.nameDeliveredOnce, write.keptTokens == nil {
            parts.append(
                """
                UPDATE linked_credentials SET display_name = \(name)
                WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                    AND account IN (SELECT account FROM target)
                    AND provider = \(identity.provider.rawValue)
                """
            )
        }
        if let name = write.credential.nameDeliveredOnce, lacksName {
            parts.append(
                """
                UPDATE accounts SET display_name = \(name)
                WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                    AND account IN (SELECT account FROM target)
                """
            )
        }
        if write.restoresGrant {
            parts.append(
                """
                UPDATE credential_subjects SET revoked_at = NULL
                WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                    AND provider = \(identity.provider.rawValue) AND subject = \(identity.subject)
                    AND EXISTS (SELECT FROM target)
                """
            )
        }
        return try await apply(write, to: account.id, as: .signedIn, target: target, parts: parts)
    }

    /// Links the identity to the account that has its verified email, in place of `replaced` if there is such a
    /// subject, and fills the profile's empty fields (S5, S6).
    package func signInAndLink(
        to account: Account,
        replaced: String?,
        _ write: SignInWrite
    ) async throws -> WriteOutcome {
        let identity = write.credential.identity
        let target: SQL = """
            UPDATE accounts SET version = version + 1,
                methods = array_append(array_remove(methods, \(identity.provider.rawValue)), \(identity.provider.rawValue)),
                display_name = coalesce(display_name, \(identity.profile.displayName)),
                photo_url = coalesce(photo_url, \(identity.profile.photoURL))
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account = \(account.id.rawValue) AND version = \(account.version)
                AND email = \(identity.email?.canonical) AND email_verified AND disabled IS NOT TRUE
                AND (SELECT open FROM gate)
            RETURNING account, valid_since
            """
        var parts: [SQL] = []
        if replaced != nil {
            parts.append(
                recordDetached(
                    from: account,
                    provider: identity.provider,
                    reason: .emailRecycled,
                    by: identity.emailProof,
                    write.scope,
                    now: write.now
                )
            )
            parts.append(releaseSubjects(of: account.id, write.scope, provider: identity.provider))
            parts.append(claimSubject(write))
            parts.append(try replaceLinked(write, account: account.id))
        } else {
            parts = try linkParts(account.id, write)
        }
        return try await apply(write, to: account.id, as: .credentialLinked, target: target, parts: parts)
    }

    /// Lets a user who proved an account's unverified email take it over: removes and records every earlier sign-in
    /// method and ends every session (S7; threats.md, T-A1).
    ///
    /// A statement does not see sessions that were committed after it started, not even after it waited for a lock. So
    /// a separate statement locks the account first.
    package func takeOver(_ account: Account, _ write: SignInWrite) async throws -> WriteOutcome {
        let identity = write.credential.identity
        let seconds = write.session.authTime ?? Int64(write.now.timeIntervalSince1970)
        let validSince = endingSessions(of: account.id, at: seconds, write.scope)
        let target: SQL = """
            UPDATE accounts SET version = version + 1, methods = \([identity.provider.rawValue]),
                valid_since = \(sql: validSince), revoked_version = version + 1, email_verified = true,
                email_original = \(identity.email?.original),
                password_hash = NULL, password_salt = NULL, password_parameters = NULL, phone_number = NULL,
                email_link = false, passkeys = NULL, initial_email = NULL,
                \(sql: ProfileColumns.account.setting(identity.profile))
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account = \(account.id.rawValue) AND version = \(account.version)
                AND email = \(identity.email?.canonical) AND NOT email_verified AND disabled IS NOT TRUE
                AND (SELECT open FROM gate)
            RETURNING account, valid_since
            """
        var parts = dropUnproved(
            of: account,
            keeping: identity.provider,
            by: identity.emailProof,
            write.scope,
            now: write.now
        )
        parts.append(claimSubject(write))
        let hadProvider = account.linked.contains { $0.provider == identity.provider }
        parts.append(
            hadProvider ? try replaceLinked(write, account: account.id) : try insertLinked(write, account: account.id)
        )
        return try await apply(
            write,
            to: account.id,
            as: .accountTakenOver,
            locksFirst: true,
            target: target,
            parts: parts
        )
    }

    /// Links the identity to the signed-in account (K7).
    package func link(
        to account: Account,
        effect: LinkDecision.EmailEffect,
        _ write: SignInWrite
    ) async throws
        -> WriteOutcome
    {
        let identity = write.credential.identity
        let emailChange: SQL
        var parts = try linkParts(account.id, write)
        switch effect {
        case .none: emailChange = ""
        case .markVerified:
            emailChange = ", email_verified = true"
            parts.append(endUnprovedRecoveries(of: account.id, write.scope))
        case .adopt(let email, let verified):
            emailChange = """
                , email = \(email.canonical), email_original = \(email.original), email_verified = \(verified)
                """
            parts.append(claimEmail(email, write.scope))
            if verified { parts.append(endUnprovedRecoveries(of: account.id, write.scope)) }
        }
        // The session's row is locked after the account's, in the same order as in sign-outs, so that an ended session
        // is noticed.
        let target: SQL = """
            UPDATE accounts SET version = version + 1,
                methods = array_append(methods, \(identity.provider.rawValue)),
                display_name = coalesce(display_name, \(identity.profile.displayName)),
                photo_url = coalesce(photo_url, \(identity.profile.photoURL)) \(sql: emailChange)
            FROM (
                SELECT l.account AS linking FROM (
                    SELECT account FROM accounts
                    WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                        AND account = \(account.id.rawValue) AND version = \(account.version)
                        AND disabled IS NOT TRUE AND (SELECT open FROM gate)
                    FOR UPDATE
                ) l JOIN sessions s ON s.project = \(write.scope.project.rawValue) AND s.tenant = \(write.scope.tenant.rawValue)
                    AND s.account = l.account
                    AND s.session = \(write.session.id?.rawValue)
                WHERE s.revoked_at IS NULL
                FOR UPDATE OF s
            ) alive
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account = linking
            RETURNING account, valid_since
            """
        return try await apply(write, to: account.id, as: .credentialLinked, target: target, parts: parts)
    }

    private func endUnprovedRecoveries(of account: AccountID, _ scope: Scope) -> SQL {
        """
        \(sql: OOBCodeStore.endingUnprovedRecoveries(of: account, scope)) AND EXISTS (SELECT FROM target)
        """
    }
}

extension Account {
    /// The names in the `methods` column.
    var methodNames: [String] { methods.map(\.rawValue).sorted() }
}
