import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

extension ConsoleStore {
    /// An admin who is signing in, and the secrets to check.
    package struct Candidate: Sendable {
        package var admin: AdminCredential
        package var secrets: ConsoleSecrets
        /// The time step of the last accepted code.
        package var lastStep: Int64
        /// Changes with the secrets.
        fileprivate var version: [UInt8]
    }

    /// Takes from the limits and reads the admin of an email, in one statement.
    ///
    /// - Parameter email: canonical.
    /// - Returns: nil if there is no such admin, or the admin may not sign in.
    /// - Throws: ``RateLimitReached``.
    package func candidate(_ email: String, within limits: RateLimits, now: Date) async throws -> Candidate? {
        let keyRing = keyRing
        let rows = try await database.query(
            """
            WITH \(sql: limits.taking)
            SELECT passed, a.id, a.name, a.project, a.scopes, a.expires_at, a.disabled, a.console_secrets, a.totp_step,
                a.secret_hash
            FROM limits LEFT JOIN admin_credentials a
                ON \(sql: limits.havePassed) AND a.email = \(email) AND a.console_secrets IS NOT NULL
                    AND \(sql: Self.maySignIn("a", now))
            """
        ) { row -> (passed: Int64, candidate: Candidate?) in
            let passed: Int64 = try row.next()
            guard let admin = try ConfigurationStore.credential(&row) else { return (passed, nil) }
            let (sealed, step, version): ([UInt8], Int64, [UInt8]) = (try row.next(), try row.next(), try row.next())
            let secrets = try ConsoleSecrets(sealed: sealed, for: admin.id, keyRing)
            return (passed, Candidate(admin: admin, secrets: secrets, lastStep: step, version: version))
        }
        try limits.check(passed: rows.first?.passed ?? 0)
        return rows.first?.candidate
    }

    /// Opens a session for an admin who proved both factors.
    ///
    /// - Parameters:
    ///   - step: that of the accepted code; codes of that step or earlier are refused afterwards.
    ///   - handle: of the new session.
    ///   - old: of the session that it replaces.
    ///   - limits: what was taken from them is returned.
    /// - Returns: false if the code was used, or the secrets or the admin changed since.
    package func open(
        _ handle: String,
        for candidate: Candidate,
        step: Int64,
        replacing old: String?,
        giving limits: RateLimits,
        now: Date
    ) async throws -> Bool {
        let admin = candidate.admin.id
        return try await open(
            handle,
            of: admin,
            after: """
                UPDATE admin_credentials a SET totp_step = \(step), last_used_at = \(now)
                WHERE a.id = \(admin) AND a.totp_step < \(step) AND a.secret_hash = \(candidate.version)
                    AND a.console_secrets IS NOT NULL AND \(sql: Self.maySignIn("a", now))
                """,
            replacing: old,
            recording: .adminSignedIn,
            giving: limits,
            now: now
        )
    }

    /// Opens a session of an admin after a change of the admin's row.
    ///
    /// - Returns: whether there was a row to change.
    private func open(
        _ handle: String,
        of admin: String,
        after change: SQL,
        replacing old: String? = nil,
        recording action: AuditAction,
        giving limits: RateLimits,
        now: Date
    ) async throws -> Bool {
        try await database.transaction { transaction in
            let projects = try await transaction.query("\(sql: change) RETURNING coalesce(a.project, '')") {
                try $0.next(String.self)
            }
            guard let project = projects.first else { return false }
            transaction.write(
                """
                INSERT INTO console_sessions (handle_hash, admin, created_at, authenticated_at, last_used_at, expires_at)
                VALUES (\(SecureHash.sha256(handle)), \(admin), \(now), \(now), \(now),
                    \(now.addingTimeInterval(Self.idleLifetime)))
                """
            )
            if let old {
                transaction.write(
                    "DELETE FROM console_sessions WHERE handle_hash = \(SecureHash.sha256(old)) AND admin = \(admin)"
                )
            }
            for statement in limits.givingBack { transaction.write(statement) }
            let entry = AuditEntry(action, in: nil, resource: admin, at: now)
            transaction.write(entry.insertion(project: "\(project)"))
            return true
        }
    }

    // MARK: Setting up

    /// The admin of a setup code.
    package struct Invitation: Sendable, Hashable {
        package var admin: String
        package var email: String
    }

    /// Takes from the limits and reads the admin of a setup code, in one statement.
    ///
    /// - Returns: nil for an unknown, used or expired code.
    /// - Throws: ``RateLimitReached``.
    package func invitation(_ code: String, within limits: RateLimits, now: Date) async throws -> Invitation? {
        let rows = try await database.query(
            """
            WITH \(sql: limits.taking)
            SELECT passed, a.id, a.email FROM limits LEFT JOIN admin_credentials a
                ON \(sql: limits.havePassed) AND a.secret_hash = \(SecureHash.sha256(code)) AND a.set_up_until > \(now)
                    AND \(sql: Self.maySignIn("a", now))
            """
        ) { row -> (passed: Int64, invitation: Invitation?) in
            let passed: Int64 = try row.next()
            let (id, email): (String?, String?) = (try row.next(), try row.next())
            guard let id, let email else { return (passed, nil) }
            return (passed, Invitation(admin: id, email: email))
        }
        try limits.check(passed: rows.first?.passed ?? 0)
        return rows.first?.invitation
    }

    /// Uses a setup code: stores the admin's secrets and opens a session.
    ///
    /// - Returns: whether the code was still valid.
    package func setUp(
        _ invitation: Invitation,
        code: String,
        secrets: ConsoleSecrets,
        step: Int64,
        handle: String,
        giving limits: RateLimits,
        now: Date
    ) async throws -> Bool {
        let sealed = try secrets.sealed(for: invitation.admin, keyRing)
        return try await open(
            handle,
            of: invitation.admin,
            after: """
                UPDATE admin_credentials a SET console_secrets = \(sealed), totp_step = \(step), set_up_until = NULL,
                    last_used_at = \(now)
                WHERE a.id = \(invitation.admin) AND a.secret_hash = \(SecureHash.sha256(code))
                    AND a.set_up_until > \(now) AND \(sql: Self.maySignIn("a", now))
                """,
            recording: .adminSetUp,
            giving: limits,
            now: now
        )
    }
}
