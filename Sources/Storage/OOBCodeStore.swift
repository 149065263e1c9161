import Delivery
package import Domain
package import Foundation
package import Postgres
package import Projects
package import Secrets
import Sessions

/// One-time codes sent by email, by the SHA-256 of the code.
///
/// A code is used by one conditional statement, in the transaction that applies it.
package struct OOBCodeStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing
    let reads: Batcher<Never, CodeQuestion, FoundCode?>

    /// - Parameter batches: whether simultaneous requests share a statement.
    package init(database: PostgresClient, keyRing: KeyRing, batches: Bool = true) {
        self.database = database
        self.keyRing = keyRing
        reads = Batcher(isOn: batches, asking: { try await Self.find($0, shared: batches, database) })
    }

    /// How long the row of an expired code is kept, in seconds.
    private static let remembrance = 86_400.0

    /// Stores a code and its email in one statement, replacing the owner's older code of the type, unless it keeps
    /// those.
    ///
    /// The right to restore an email dates from its first code that is still valid.
    ///
    /// - Throws: ``RateLimitReached``.
    package func insert(
        _ code: NewOOBCode,
        within limits: RateLimits = .none,
        recording issue: LinkIssue? = nil,
        in scope: Scope,
        now: Date
    ) async throws {
        try await Self.insert(code, within: limits, recording: issue, scope, keyRing, now: now, database)
    }

    /// An admin gets the link itself.
    package struct LinkIssue: Sendable {
        /// Nil if no account has the email yet.
        package var account: AccountID?

        package init(account: AccountID?) { self.account = account }
    }

    static func insert(
        _ code: NewOOBCode,
        within limits: RateLimits = .none,
        recording issue: LinkIssue? = nil,
        _ scope: Scope,
        _ keyRing: KeyRing,
        now: Date,
        _ executor: some PostgresExecutor
    ) async throws {
        let validUntil = now.addingTimeInterval(code.isDecoy ? 0 : Double(code.lifetime))
        let digits = code.shortCode
        let digitsSession = digits.map { SecureHash.sha256($0.session.reveal()) }
        // A decoy stays as long as a code: the next request updates it too, and its digits can be tried.
        let expiry = now.addingTimeInterval(Double(code.lifetime) + Self.remembrance)
        let insertion: SQL = """
            INSERT INTO oob_codes (project, tenant, type, owner, series_hash, code_hash, email, new_email, proved,
                session, created_at, valid_until, expires_at, digits_hash, digits_session_hash, digits_valid_until)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue),
                \(code.isDecoy && code.newEmail == nil ? code.type.decoy : code.type.rawValue),
                \(code.owner), \(code.type.keepsOlder ? code.hash : []), \(code.hash), \(code.email.original),
                \(code.newEmail?.original), \(code.proved),
                \(code.session?.rawValue), \(now), \(validUntil), \(expiry),
                \(digits.map { keyRing.hash(of: $0.digits, digitsSession ?? [], in: Self.table, scope) }),
                \(digitsSession), \(digits.map { _ in now.addingTimeInterval(Double(min(code.lifetime, Mail.codeLifetime))) })
            FROM limits WHERE \(sql: limits.havePassed)
            ON CONFLICT (project, tenant, type, owner, series_hash) DO UPDATE SET code_hash = EXCLUDED.code_hash,
                email = EXCLUDED.email, new_email = EXCLUDED.new_email, session = EXCLUDED.session,
                digits_hash = EXCLUDED.digits_hash, digits_session_hash = EXCLUDED.digits_session_hash,
                digits_valid_until = EXCLUDED.digits_valid_until, attempts = 0,
                created_at = CASE WHEN EXCLUDED.type = \(OOBCodeType.recoverEmail.rawValue)
                    AND oob_codes.valid_until > EXCLUDED.created_at THEN oob_codes.created_at
                    ELSE EXCLUDED.created_at END,
                proved = EXCLUDED.proved OR (oob_codes.proved AND oob_codes.email = EXCLUDED.email),
                valid_until = EXCLUDED.valid_until, expires_at = EXCLUDED.expires_at
            RETURNING owner
            """
        var statement: SQL = "WITH \(sql: limits.taking), code AS (\(sql: insertion))"
        if let issue {
            let entry = AuditEntry(
                .linkIssued,
                in: scope,
                account: issue.account,
                changes: [code.type.rawValue],
                at: now
            )
            statement = "\(sql: statement), issue AS (\(sql: entry.insertion(from: "code")))"
        }
        if let mail = code.mail {
            // An email with a code is of no use without it. `identity dev`, which sends none, shows it for longer.
            let lifetime =
                code.mailLifetime ?? Double(mail.code == nil ? code.lifetime : min(code.lifetime, Mail.codeLifetime))
            let message = try OutboxStore.insertion(
                kind: Mail.kind,
                mail,
                in: scope,
                keyRing: keyRing,
                due: now,
                expiry: min(validUntil, now.addingTimeInterval(lifetime)),
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

    /// The code of a text, even if it has expired, with the account for a sign-in code; nil if it is unknown or used.
    ///
    /// One statement, shared with other simultaneous reads.
    package func find(_ code: Secret, in scope: Scope) async throws -> FoundCode? {
        try await find(hash: SecureHash.sha256(code.reveal()), in: scope)
    }

    func find(hash: [UInt8], in scope: Scope) async throws -> FoundCode? {
        try await reads.answer(to: CodeQuestion(scope: scope, hash: hash), for: nil)
    }

    private static func find(
        _ questions: [CodeQuestion],
        shared: Bool,
        _ database: PostgresClient
    ) async throws -> [Result<FoundCode?, any Error>] {
        let place = Placement(questions.map(\.scope), shared: shared)
        return try await database.query(
            """
            SELECT n.number, c.type, c.owner, c.email, c.new_email, c.proved, c.created_at,
                c.valid_until, c.code_hash,
                a.account IS NOT NULL, \(sql: AccountRow.columnsWithoutActivity)
            FROM unnest(\(questions.map(\.scope.project.rawValue))::text[],
                \(questions.map(\.scope.tenant.rawValue))::text[], \(questions.map(\.hash))::bytea[]) WITH ORDINALITY
                n (project, tenant, code_hash, number)
            JOIN oob_codes c ON c.project = \(sql: place.project(of: "n")) AND c.code_hash = n.code_hash
                AND c.tenant IS NOT DISTINCT FROM n.tenant
            LEFT JOIN (account_emails e JOIN accounts a ON a.project = \(sql: place.project(of: "e")) AND a.tenant = e.tenant
                AND a.account = e.account) ON c.type = \(OOBCodeType.emailSignIn.rawValue) AND e.project = \(sql: place.project(of: "c"))
                AND e.tenant = c.tenant AND e.email_key = c.owner
            \(sql: AccountRow.joinsWithoutActivity(place))
            """,
            into: BatchAnswers<FoundCode?>(repeating: nil, count: questions.count)
        ) { answers, row in
            try answers.read(&row) { answer, row in
                let found = try FoundCode(&row)
                if answer == nil { answer = found } else { answer?.holder?.add(found?.holder?.linked ?? []) }
            }
        }.results
    }

    /// Ends a code without applying it; false if it had ended before.
    package func spend(_ code: OOBCode, in scope: Scope) async throws -> Bool {
        try await database.execute(OneTimeCode.mail(code.hash).spending(scope)) > 0
    }

    /// The recovery codes to end.
    enum EndedRecoveries {
        /// All, if their type is listed; otherwise none.
        case asNamed
        /// Those of unverified emails.
        case unproved
        /// The others whose right dates from the same time or later.
        case since(OOBCode)
    }

    /// Ends the right of unverified emails to come back, once a newer one is verified (threats.md, T-E6).
    static func endingUnprovedRecoveries(of account: AccountID, _ scope: Scope) -> SQL {
        voiding([OOBCodeType](), of: account.rawValue, recoveries: .unproved, scope)
    }

    /// Ends codes of an account, and sign-in codes of emails.
    static func voiding(
        _ types: some Sequence<OOBCodeType>,
        of account: String,
        signIn addresses: [String] = [],
        recoveries: EndedRecoveries = .asNamed,
        _ scope: Scope
    ) -> SQL {
        let own = types.filter { $0 != .emailSignIn }
        let names = own.map(\.rawValue) + addresses.map { _ in OOBCodeType.emailSignIn.rawValue }
        let ended: SQL? =
            switch recoveries {
            case .asNamed: own.contains(.recoverEmail) ? "true" : nil
            case .unproved: "NOT proved"
            case .since(let code): "created_at >= \(code.createdAt) AND code_hash <> \(code.hash)"
            }
        var codes: SQL = """
            SELECT * FROM unnest(\(names)::text[], \(own.map { _ in account } + addresses)::text[])
            """
        if let ended {
            codes = """
                \(sql: codes) UNION ALL SELECT type, owner FROM oob_codes
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND \(sql: OOBCode.restores([account])) AND \(sql: ended)
                """
        }
        return """
            DELETE FROM oob_codes c USING (\(sql: codes)) v (type, owner)
            WHERE c.project = \(scope.project.rawValue) AND c.tenant = \(scope.tenant.rawValue) AND c.type = v.type
                AND c.owner = v.owner
            """
    }
}

/// A presented code, with the account that has a sign-in code's email.
package struct FoundCode: Sendable {
    package var code: OOBCode
    package var holder: Account?

    /// Nil for a decoy.
    fileprivate init?(_ row: inout PostgresRow) throws {
        let type = OOBCodeType(rawValue: try row.next())
        let owner: String = try row.next()
        let email = EmailAddress(try row.next())
        let newEmail = try row.next(String?.self).flatMap { EmailAddress($0) }
        let proved: Bool = try row.next()
        let createdAt: Date = try row.next()
        let validUntil: Date = try row.next()
        let hash: [UInt8] = try row.next()
        guard let type, let email else { return nil }
        code = OOBCode(
            type: type,
            owner: owner,
            email: email,
            newEmail: newEmail,
            proved: proved,
            hash: hash,
            createdAt: createdAt,
            validUntil: validUntil
        )
        holder = try row.next() ? try AccountRow.decode(&row) : nil
    }
}

struct CodeQuestion: Sendable {
    var scope: Scope
    var hash: [UInt8]
}
