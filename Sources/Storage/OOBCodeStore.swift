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
    package func insert(_ code: NewOOBCode, in scope: Scope, now: Date) async throws {
        try await Self.insert(code, scope, keyRing, now: now, database)
    }

    static func insert(
        _ code: NewOOBCode,
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
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(code.isDecoy ? "NONE" : code.type.rawValue),
                \(code.owner), \(code.hash), \(code.email.original), \(code.newEmail?.original), \(code.proved), \(now),
                \(validUntil), \(expiry))
            ON CONFLICT (project, tenant, type, owner) DO UPDATE SET code_hash = EXCLUDED.code_hash,
                email = EXCLUDED.email, new_email = EXCLUDED.new_email, created_at = EXCLUDED.created_at,
                proved = EXCLUDED.proved OR (oob_codes.proved AND oob_codes.email = EXCLUDED.email),
                valid_until = EXCLUDED.valid_until, expires_at = EXCLUDED.expires_at
            """
        guard let mail = code.mail else {
            try await executor.execute(insertion)
            return
        }
        let message = try OutboxStore.insertion(
            kind: Mail.kind,
            mail,
            in: scope,
            keyRing: keyRing,
            due: now,
            expiry: validUntil,
            isDecoy: code.isDecoy
        )
        try await executor.execute("WITH code AS (\(sql: insertion)) \(sql: message)")
    }

    /// The code that the text names, also when its time is over; nil when it is none, or was used.
    package func find(_ code: Secret, in scope: Scope) async throws -> OOBCode? {
        let hash = SecureHash.sha256(code.reveal())
        return try await database.query(
            """
            SELECT type, owner, email, new_email, proved, valid_until FROM oob_codes
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND code_hash = \(hash)
            """
        ) { row -> OOBCode? in
            guard let type = OOBCodeType(rawValue: try row.next()) else { return nil }
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
        try await database.execute("\(sql: Self.spending(code.hash, scope))")
    }

    /// The statement that ends a code: who gets no row of it came too late.
    static func spending(_ hash: [UInt8], _ scope: Scope) -> SQL {
        """
        DELETE FROM oob_codes WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND code_hash = \(hash) RETURNING code_hash
        """
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
