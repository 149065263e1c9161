package import Delivery
package import Domain
package import Foundation
import Postgres
package import Projects
package import Secrets

/// SMS codes, by the SHA-256 of their sessions.
///
/// The statement that finds a code counts the attempt before anything is compared, so two simultaneous attempts never
/// count as one. A code is used by one conditional statement, that of the change which it proves.
package struct VerificationCodeStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    /// Attempts allowed for a code (threats.md, T-E2).
    package static let attempts = 5

    /// How long the row of an expired code is kept, in seconds.
    private static let remembrance = 3_600.0

    private static let table = "verification_codes"

    /// Stores a code and its SMS in one statement; older codes stay good, so that no stranger's request ends a user's.
    ///
    /// - Returns: the SMS, if the code has one.
    /// - Throws: ``RateLimitReached``.
    @discardableResult
    package func insert(
        _ code: NewVerificationCode,
        within limits: RateLimits,
        in scope: Scope,
        now: Date
    ) async throws -> SMS? {
        let validUntil = now.addingTimeInterval(SMS.lifetime)
        let session = SecureHash.sha256(code.session.reveal())
        let hash = keyRing.hash(of: code.code, session, in: Self.table, scope)
        let insertion: SQL = """
            INSERT INTO verification_codes (project, tenant, purpose, owner, session_hash, phone_number, code_hash,
                created_at, valid_until, expires_at)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(code.purpose.rawValue), \(code.owner),
                \(session), \(code.phoneNumber.text), \(hash), \(now), \(validUntil),
                \(validUntil.addingTimeInterval(Self.remembrance))
            FROM limits WHERE \(sql: limits.havePassed)
            RETURNING owner
            """
        var statement: SQL = "WITH \(sql: limits.taking), code AS (\(sql: insertion))"
        let sms = code.sends ? Self.sms(code, validUntil: validUntil) : nil
        if let sms {
            let message = try OutboxStore.insertion(
                kind: SMS.kind,
                sms,
                in: scope,
                keyRing: keyRing,
                due: now,
                expiry: validUntil,
                from: "code"
            )
            statement = "\(sql: statement), message AS (\(sql: message))"
        }
        let passed = try await database.query("\(sql: statement) SELECT passed FROM limits") { row in
            try row.next(Int64.self)
        }
        try limits.check(passed: passed.first ?? 0)
        return sms
    }

    private static func sms(_ code: NewVerificationCode, validUntil: Date) -> SMS {
        var sms = SMS(
            to: code.phoneNumber.text,
            code: code.code.reveal(),
            validUntil: validUntil,
            language: code.language,
            appHash: code.appHash
        )
        sms.host = code.host
        if code.showsSession { sms.session = code.session.reveal() }
        return sms
    }

    /// Counts an attempt for a session's code and returns the result.
    ///
    /// - Parameter account: the account whose second factor the code must be about; nil for a sign-in.
    /// - Returns: nil if the session is unknown, of another purpose or account, or used.
    package func attempt(
        _ code: Secret,
        session: Secret,
        for purpose: VerificationPurpose,
        account: AccountID?,
        in scope: Scope
    ) async throws -> TriedCode? {
        let hash = SecureHash.sha256(session.reveal())
        let rows = try await database.query(
            """
            UPDATE verification_codes SET attempts = least(attempts + 1, \(Int32(Self.attempts + 1)))
            WHERE project = \(scope.project.rawValue) AND session_hash = \(hash) AND \(sql: scope.tenantFits)
                AND purpose = \(purpose.rawValue)
                AND owner = coalesce(\(account?.rawValue), phone_number)
            RETURNING phone_number, code_hash, valid_until, attempts
            """
        ) { row in
            (
                number: try row.next(String.self), code: try row.next([UInt8].self),
                validUntil: try row.next(Date.self),
                attempts: try row.next(Int32.self)
            )
        }
        guard let row = rows.first, let number = PhoneNumber(stored: row.number) else { return nil }
        return TriedCode(
            phoneNumber: number,
            hash: hash,
            isRight: keyRing.isHash(row.code, of: code, hash, in: Self.table, scope),
            validUntil: row.validUntil,
            attempts: Int(row.attempts)
        )
    }

    /// Exchanges a code for a proof: its row is then the proof's, whose use ends it.
    ///
    /// - Returns: false if the code had ended before.
    package func exchange(_ code: OneTimeCode, for proof: Secret, in scope: Scope, now: Date) async throws -> Bool {
        let hash = TemporaryProof.code(of: proof).hash
        let end = now.addingTimeInterval(Double(TemporaryProof.lifetime))
        return try await database.execute(
            """
            UPDATE verification_codes SET purpose = 'temporaryProof', owner = encode(\(hash), 'hex'), session_hash = \(hash),
                valid_until = \(end), expires_at = \(end)
            WHERE project = \(scope.project.rawValue) AND session_hash = \(code.hash) AND \(sql: scope.tenantFits)
            """
        ) > 0
    }
}
