import Delivery
package import Foundation
import Linking
import Postgres
package import Projects
package import Secrets

/// One-time codes of mails, by the SHA-256 of what the mail holds.
///
/// A code ends by one conditional statement, in the transaction that does what it is good for.
package struct OOBCodeStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    /// Seconds for which the row of a code that is good no more is kept.
    private static let remembrance = 86_400.0

    /// Stores a code and its mail by one statement, in place of the owner's older one of the type.
    ///
    /// - Throws: ``RateLimitReached``.
    package func insert(
        _ code: NewOOBCode,
        within limits: RateLimits = .none,
        in scope: Scope,
        now: Date
    ) async throws {
        try await Self.insert(code, within: limits, scope, keyRing, now: now, database)
    }

    static func insert(
        _ code: NewOOBCode,
        within limits: RateLimits = .none,
        _ scope: Scope,
        _ keyRing: KeyRing,
        now: Date,
        _ executor: some PostgresExecutor
    ) async throws {
        let validUntil = now.addingTimeInterval(code.isDecoy ? 0 : code.type.lifetime)
        let expiry = code.isDecoy ? now : validUntil.addingTimeInterval(Self.remembrance)
        let insertion: SQL = """
            INSERT INTO oob_codes (project, tenant, type, owner, code_hash, email, new_email, proved, created_at,
                valid_until, expires_at)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(code.isDecoy ? "NONE" : code.type.rawValue),
                \(code.owner), \(code.hash), \(code.email.original), \(code.newEmail?.original), \(code.proved), \(now),
                \(validUntil), \(expiry)
            FROM limits WHERE \(sql: limits.havePassed)
            ON CONFLICT (project, tenant, type, owner) DO UPDATE SET code_hash = EXCLUDED.code_hash,
                email = EXCLUDED.email, new_email = EXCLUDED.new_email, created_at = EXCLUDED.created_at,
                proved = EXCLUDED.proved OR (oob_codes.proved AND oob_codes.email = EXCLUDED.email),
                valid_until = EXCLUDED.valid_until, expires_at = EXCLUDED.expires_at
            RETURNING owner
            """
        var statement: SQL = "WITH \(sql: limits.taking), code AS (\(sql: insertion))"
        if let mail = code.mail {
            let message = try OutboxStore.insertion(
                kind: Mail.kind,
                mail,
                in: scope,
                keyRing: keyRing,
                due: now,
                expiry: validUntil,
                isDecoy: code.isDecoy,
                from: "code"
            )
            statement = "\(sql: statement), message AS (\(sql: message))"
        }
        let passed = try await executor.query("\(sql: statement) SELECT passed FROM limits") { row in
            try row.next(Int64.self)
        }
        try limits.check(passed: passed.first ?? 0)
    }

    /// The code that the text names, also when its time is over; nil when it is none, or was used.
    ///
    /// - Parameter limits: of texts that are no code.
    /// - Throws: ``RateLimitReached``.
    package func find(
        _ code: Secret,
        within limits: RateLimits = .none,
        in scope: Scope
    ) async throws -> OOBCode? {
        let hash = SecureHash.sha256(code.reveal())
        return try await database.query(
            """
            WITH found AS MATERIALIZED (
                SELECT type, owner, email, new_email, proved, valid_until FROM oob_codes
                WHERE project = \(scope.project.rawValue) AND code_hash = \(hash) AND \(sql: scope.tenantFits)
            ), \(sql: limits.taking(unless: "EXISTS (SELECT FROM found)"))
            SELECT m.passed, c.* FROM limits m LEFT JOIN found c ON true
            """
        ) { row -> OOBCode? in
            try limits.check(passed: try row.next())
            guard let type = try row.next(String?.self).flatMap({ OOBCodeType(rawValue: $0) }) else { return nil }
            let owner: String = try row.next()
            guard let email = EmailAddress(try row.next()) else { return nil }
            return OOBCode(
                type: type,
                owner: owner,
                email: email,
                newEmail: try row.next(String?.self).flatMap { EmailAddress($0) },
                proved: try row.next(),
                hash: hash,
                validUntil: try row.next()
            )
        }.compactMap(\.self).first
    }

    /// Ends a code without doing anything.
    package func spend(_ code: OOBCode, in scope: Scope) async throws {
        try await database.execute(OneTimeCode.mail(code.hash).spending(scope))
    }

    /// Ends codes of an account, and sign-in codes of addresses.
    static func voiding(
        _ types: some Sequence<OOBCodeType>,
        of account: String,
        signIn addresses: [String] = [],
        _ scope: Scope
    ) -> SQL {
        let own = types.filter { $0 != .emailSignIn }
        let names = own.map(\.rawValue) + addresses.map { _ in OOBCodeType.emailSignIn.rawValue }
        return """
            DELETE FROM oob_codes c
            USING unnest(\(names)::text[], \(own.map { _ in account } + addresses)::text[]) v (type, owner)
            WHERE c.project = \(scope.project.rawValue) AND c.tenant = \(scope.tenant.rawValue) AND c.type = v.type
                AND c.owner = v.owner
            """
    }
}
