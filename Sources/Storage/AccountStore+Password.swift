package import Linking
import Passwords
import Postgres
package import Projects
import Sessions
package import struct Foundation.Date

extension AccountStore {
    /// Opens an account without a provider: by password, by email link, anonymous, or as an admin asked.
    ///
    /// - Parameter code: the hash of the one-time code that this uses up.
    /// - Returns: which claim somebody else holds, nil when the account was opened.
    /// - Throws: ``SpentCode``.
    package func insert(
        _ account: Account,
        password: StoredPassword?,
        session: NewSession?,
        spending code: [UInt8]? = nil,
        in scope: Scope,
        now: Date
    ) async throws -> ClaimConflict? {
        let target: SQL = """
            INSERT INTO accounts (project, account, tenant, methods, valid_since, disabled, email, email_original,
                email_verified, email_link, phone_number, display_name, photo_url, custom_attributes, custom_auth,
                password_hash, password_salt, password_parameters, password_updated_at, created_at)
            SELECT \(scope.project.rawValue), \(account.id.rawValue), \(scope.tenant.rawValue),
                \(account.methodNames), \(account.validSince), \(account.disabled), \(account.email?.canonical),
                \(account.email?.original), \(account.emailVerified), \(account.emailLinkSignIn),
                \(account.phoneNumber), \(account.displayName), \(account.photoURL), \(account.customAttributes),
                \(account.customAuth), \(password?.hash.hash), \(password?.hash.salt),
                \(password?.hash.parameters.text), \(account.passwordUpdatedAt), \(account.createdAt)
            \(sql: code == nil ? "" : "FROM code")
            RETURNING account
            """
        var parts: [SQL] = []
        if let email = account.email { parts.append(claimEmail(email, scope)) }
        if let phone = account.phoneNumber { parts.append(claimPhone(phone, scope)) }
        if let session {
            parts.append(insertSession(session, scope, now: now))
            parts.append(recordSignIn(scope, now: now))
        }
        return try await claiming {
            let spending = code.map { OOBCodeStore.spending($0, scope) }
            guard try await write(spending: spending, target: target, parts: parts) else { throw SpentCode() }
        }
    }

    /// Opens a session for an account whose password was just checked, unless the password, the account or its state
    /// changed meanwhile.
    package func signIn(
        to account: Account,
        checked password: StoredPassword,
        session: NewSession,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        try await write(
            target: """
                SELECT account FROM accounts
                WHERE project = \(scope.project.rawValue) AND account = \(account.id.rawValue)
                    AND tenant = \(scope.tenant.rawValue) AND disabled IS NOT TRUE
                    AND password_hash = \(password.hash.hash)
                FOR SHARE
                """,
            parts: [insertSession(session, scope, now: now), recordSignIn(scope, now: now)]
        )
    }

    /// Opens a session for an account that a back end vouches for, unless it is gone or disabled by now.
    package func signInByCustomToken(
        to account: Account,
        session: NewSession,
        in scope: Scope,
        now: Date
    ) async throws -> Bool {
        // The row is written once: later sign-ins find it as it is to be.
        let condition: SQL = """
            WHERE project = \(scope.project.rawValue) AND account = \(account.id.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND disabled IS NOT TRUE
            """
        return try await write(
            target: account.customAuth
                ? "SELECT account FROM accounts \(sql: condition) FOR SHARE"
                : "UPDATE accounts SET custom_auth = true \(sql: condition) RETURNING account",
            parts: [insertSession(session, scope, now: now), recordSignIn(scope, now: now)]
        )
    }

    /// Runs a statement without a provider; true when there was a target.
    ///
    /// - Parameter spending: ends a one-time code, the `code` of the target.
    func write(spending: SQL? = nil, target: SQL, parts: [SQL]) async throws -> Bool {
        let code: SQL = spending.map { "code AS (\(sql: $0))," } ?? ""
        var statement: SQL = "WITH \(sql: code) target AS (\(sql: target))"
        for (number, part) in parts.enumerated() {
            statement = "\(sql: statement), \(sql: SQL.partName(number)) AS (\(sql: part))"
        }
        let rows = try await database.query("\(sql: statement) SELECT EXISTS (SELECT FROM target)") { row in
            try row.next(Bool.self)
        }
        return rows.first ?? false
    }

    func claimPhone(_ phoneNumber: String, _ scope: Scope) -> SQL {
        """
        INSERT INTO account_phones (project, tenant, phone_number, account)
        SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(phoneNumber), account FROM target
        """
    }

    /// Runs writes and tells which claim they lost.
    func claiming(_ body: () async throws -> Void) async throws -> ClaimConflict? {
        do {
            try await body()
            return nil
        } catch let error as PostgresError {
            guard let conflict = error.constraint.flatMap(ClaimConflict.init(rawValue:)) else { throw error }
            return conflict
        }
    }
}

/// A claim that another account holds, by the constraint that says so.
package enum ClaimConflict: String, Error, Sendable {
    case email = "account_emails_pkey"
    case phoneNumber = "account_phones_pkey"
    case accountID = "accounts_pkey"
    case subject = "credential_subjects_pkey"
}
