import Domain
import Postgres

import struct Foundation.Date

/// The columns of an account and one of its linked credentials, as every statement reads them.
///
/// An account has one row for each linked credential, or one row if it has none.
enum AccountRow {
    static let columns: SQL = "\(sql: ownColumns), \(sql: linkedColumns)"

    /// Only the account's own columns.
    static let ownColumns = ownColumns(activity: "v.last_sign_in_at, v.last_refresh_at")

    /// Looks up the rest of accounts one by one, by key.
    ///
    /// Whatever the planner knows of the tables, it then never joins whole ones, so the cost does not depend on how many
    /// accounts there are, or were when the statement was planned.
    static func joins(_ place: Placement) -> SQL {
        """
        LEFT JOIN LATERAL (
            SELECT last_sign_in_at, last_refresh_at FROM account_activity
            WHERE project = \(sql: place.project(of: "a")) AND tenant = a.tenant AND account = a.account OFFSET 0
        ) v ON true
        \(sql: joinsWithoutActivity(place))
        """
    }

    /// The account that a table's row names, as a table to join laterally; `OFFSET 0` keeps other conditions out.
    ///
    /// - Parameter account: another expression for its ID.
    static func keyed(by row: SQL, account: SQL? = nil, _ place: Placement) -> SQL {
        """
        LATERAL (
            SELECT * FROM accounts
            WHERE project = \(sql: place.project(of: row)) AND tenant = \(sql: row).tenant
                AND account = \(sql: account ?? "\(sql: row).account") OFFSET 0
        )
        """
    }

    /// For sign-ins and refreshes, which are themselves the activity.
    static let columnsWithoutActivity: SQL = "\(sql: ownColumnsWithoutActivity), \(sql: linkedColumns)"

    static let ownColumnsWithoutActivity = ownColumns(activity: "NULL::timestamptz, NULL::timestamptz")

    /// The columns of one linked credential.
    static let linkedColumns: SQL = "l.provider, l.subject, l.email, \(sql: ProfileColumns.identity.names("l."))"

    static func joinsWithoutActivity(_ place: Placement) -> SQL {
        """
        LEFT JOIN LATERAL (
            SELECT provider, subject, email, \(sql: ProfileColumns.identity.names) FROM linked_credentials
            WHERE project = \(sql: place.project(of: "a")) AND tenant = a.tenant AND account = a.account OFFSET 0
        ) l ON true
        """
    }

    private static func ownColumns(activity: SQL) -> SQL {
        """
        a.account, a.version, a.email, a.email_original, a.email_verified, a.initial_email, a.phone_number,
        a.password_hash IS NOT NULL, a.password_updated_at, a.email_link, a.custom_auth, a.recoverable_until,
        a.custom_attributes, a.disabled, a.valid_since, a.revoked_version, a.created_at, \(sql: activity),
        a.second_factors, a.passkeys, \(sql: ProfileColumns.account.names("a."))
        """
    }

    /// Reads the columns: an account with at most the linked credential of its row.
    static func decode(_ row: inout PostgresRow) throws -> Account {
        var account = try decodeOwn(&row)
        if let credential = try decodeLinked(&row) { account.linked.append(credential) }
        return account
    }

    /// Reads the account's own columns.
    static func decodeOwn(_ row: inout PostgresRow) throws -> Account {
        let id = AccountID(try row.next())
        let version: Int64 = try row.next()
        var account = Account(id: id, version: version, validSince: 0, createdAt: Date(timeIntervalSince1970: 0))
        let email: String? = try row.next()
        let originalEmail: String? = try row.next()
        account.email = email.map { EmailAddress(canonical: $0, original: originalEmail ?? $0) }
        account.emailVerified = try row.next()
        account.initialEmail = try row.next()
        account.phoneNumber = try row.next()
        account.hasPassword = try row.next()
        account.passwordUpdatedAt = try row.next()
        account.emailLinkSignIn = try row.next()
        account.customAuth = try row.next()
        account.recoverableUntil = try row.next()
        account.customAttributes = try row.next()
        account.disabled = try row.next()
        account.validSince = try row.next()
        account.revokedVersion = try row.next()
        account.createdAt = try row.next()
        account.lastSignInAt = try row.next()
        account.lastRefreshAt = try row.next()
        account.secondFactors = try SecondFactorColumn.factors(in: row.next())
        account.passkeys = try PasskeyColumn.passkeys(in: row.next())
        account.profile = try ProfileColumns.account.decode(&row)
        return account
    }

    /// Reads the columns of a linked credential; nil if the row has none.
    static func decodeLinked(_ row: inout PostgresRow) throws -> LinkedCredential? {
        let provider: String? = try row.next()
        let subject: String? = try row.next()
        let email: String? = try row.next()
        let profile = try ProfileColumns.identity.decode(&row)
        guard let provider, let subject else { return nil }
        return LinkedCredential(provider: ProviderID(provider), subject: subject, email: email, profile: profile)
    }

    /// Merges the rows of each account, in the order in which accounts first appear.
    static func merge(_ rows: [Account]) -> [Account] {
        var accounts: [Account] = []
        var positions: [AccountID: Int] = [:]
        for row in rows {
            if let position = positions[row.id] {
                accounts[position].add(row.linked)
            } else {
                positions[row.id] = accounts.count
                accounts.append(row)
            }
        }
        return accounts
    }
}

extension Account {
    /// Adds the credentials of another row of the account, ordered by provider.
    mutating func add(_ others: [LinkedCredential]) {
        linked += others
        linked.sort { $0.provider.rawValue < $1.provider.rawValue }
    }
}

extension Account {
    /// The names in the `methods` column.
    var methodNames: [String] { methods.map(\.rawValue).sorted() }
}
