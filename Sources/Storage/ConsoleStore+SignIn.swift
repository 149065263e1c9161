import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

extension ConsoleStore {
    /// A person who is about to sign in, and what they have to prove.
    package struct Candidate: Sendable {
        package var admin: AdminCredential
        package var secrets: ConsoleSecrets
        /// The step of the last code that was taken.
        package var lastStep: Int64
        /// It changes with the secrets.
        fileprivate var version: [UInt8]
    }

    /// Takes from the limits, and reads who has the address, by one statement.
    ///
    /// - Parameter email: canonical.
    /// - Returns: nil for nobody, and for everybody who may not sign in.
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

    /// Opens a session for a person who has proved both factors, by one statement.
    ///
    /// - Parameters:
    ///   - step: of the code that was taken; none of it or before is taken again.
    ///   - handle: of the session, a new one each time.
    ///   - old: of the session that it takes the place of.
    ///   - limits: what was taken from them is put back.
    /// - Returns: whether it was opened: not when the code was used, the secrets changed or the person was revoked since.
    package func open(
        _ handle: String,
        for candidate: Candidate,
        step: Int64,
        replacing old: String?,
        giving limits: RateLimits,
        now: Date
    ) async throws -> Bool {
        let entry = AuditEntry(.adminSignedIn, in: nil, resource: candidate.admin.id, at: now)
        return try await database.query(
            """
            WITH target AS (
                UPDATE admin_credentials a SET totp_step = \(step), last_used_at = \(now)
                WHERE a.id = \(candidate.admin.id) AND a.totp_step < \(step) AND a.secret_hash = \(candidate.version)
                    AND a.console_secrets IS NOT NULL AND \(sql: Self.maySignIn("a", now))
                RETURNING a.id, a.project
            ), session AS (\(sql: Self.insertion(handle, now))),
            replaced AS (
                DELETE FROM console_sessions s USING target t
                WHERE s.handle_hash = \(SecureHash.sha256(old ?? "")) AND s.admin = t.id
            ), refund AS (\(sql: limits.givingBack)),
            audit AS (\(sql: entry.insertion(from: "target", project: "coalesce(project, '')")))
            SELECT count(*) FROM target
            """
        ) { try $0.next(Int64.self) }.first == 1
    }

    /// A part of a statement: a session of the admin that `target` is.
    static func insertion(_ handle: String, _ now: Date) -> SQL {
        """
        INSERT INTO console_sessions (handle_hash, admin, created_at, authenticated_at, last_used_at, expires_at)
        SELECT \(SecureHash.sha256(handle)), t.id, \(now), \(now), \(now), \(now.addingTimeInterval(idleLifetime))
        FROM target t
        """
    }

    // MARK: Setting up

    /// Whom a setup code is for.
    package struct Invitation: Sendable, Hashable {
        package var admin: String
        package var email: String
    }

    /// Takes from the limits, and reads whom a setup code is for, by one statement.
    ///
    /// - Returns: nil for a code that is none, was used, or is too old.
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

    /// Ends a setup code: keeps what the person has chosen and opens a session, by one statement.
    ///
    /// - Returns: whether the code was good still.
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
        let entry = AuditEntry(.adminSetUp, in: nil, resource: invitation.admin, at: now)
        return try await database.query(
            """
            WITH target AS (
                UPDATE admin_credentials a SET console_secrets = \(sealed), totp_step = \(step), set_up_until = NULL,
                    last_used_at = \(now)
                WHERE a.id = \(invitation.admin) AND a.secret_hash = \(SecureHash.sha256(code))
                    AND a.set_up_until > \(now) AND \(sql: Self.maySignIn("a", now))
                RETURNING a.id, a.project
            ), session AS (\(sql: Self.insertion(handle, now))),
            refund AS (\(sql: limits.givingBack)),
            audit AS (\(sql: entry.insertion(from: "target", project: "coalesce(project, '')")))
            SELECT count(*) FROM target
            """
        ) { try $0.next(Int64.self) }.first == 1
    }
}
