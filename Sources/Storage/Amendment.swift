import Domain
import Postgres
import Projects

import struct Foundation.Date

/// A blocking function's changes to an account that it allows to sign in, written together with the sign-in.
package struct Amendment: Sendable, Hashable {
    /// The version of the account that the function saw; the changes apply to no other version.
    package var version: Int64
    package var displayName: String??
    package var photoURL: String??
    package var emailVerified: Bool?
    package var customAttributes: String??

    package init(version: Int64) { self.version = version }

    private var isEmpty: Bool { self == Amendment(version: version) }

    func write(to account: AccountID, _ scope: Scope, now: Date, _ transaction: PostgresTransaction) {
        guard !isEmpty else { return }
        let members = [
            displayName.map { _ in "displayName" }, photoURL.map { _ in "photoUrl" },
            emailVerified.map { _ in "emailVerified" }, customAttributes.map { _ in "customAttributes" },
        ].compactMap(\.self)
        let entry = AuditEntry(.accountUpdated, in: scope, account: account, changes: members, at: now)
        transaction.write(entry.insertion())
        if emailVerified == true {
            transaction.write(OOBCodeStore.endingUnprovedRecoveries(of: account, scope))
        }
        transaction.write(
            """
            UPDATE accounts SET version = version + 1,
                display_name = CASE WHEN \(displayName != nil) THEN \(displayName ?? nil) ELSE display_name END,
                photo_url = CASE WHEN \(photoURL != nil) THEN \(photoURL ?? nil) ELSE photo_url END,
                email_verified = coalesce(\(emailVerified), email_verified),
                custom_attributes = CASE WHEN \(customAttributes != nil) THEN \(customAttributes ?? nil)
                    ELSE custom_attributes END
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
            """
        )
    }
}

extension AccountChanges {
    package mutating func amend(_ amendment: Amendment?) {
        guard let amendment else { return }
        displayName = amendment.displayName ?? displayName
        photoURL = amendment.photoURL ?? photoURL
        emailVerified = amendment.emailVerified ?? emailVerified
        customAttributes = amendment.customAttributes ?? customAttributes
    }
}

extension Amendment? {
    /// A condition on the account that signs in.
    var stillFits: SQL {
        switch self {
        case nil: "true"
        case let amendment?: "version = \(amendment.version)"
        }
    }
}

extension AccountStore {
    /// Runs a sign-in and applies a function's changes in the same transaction.
    ///
    /// - Returns: whether the user was signed in.
    func amending(
        _ amendment: Amendment?,
        _ account: AccountID,
        _ scope: Scope,
        now: Date,
        _ write: @escaping @Sendable (any PostgresExecutor) async throws -> Bool
    ) async throws -> Bool {
        try await gate.pass(account, in: scope, .signIn) {
            guard let amendment else { return try await write(database) }
            return try await database.transaction { transaction in
                transaction.write(Self.locking(account, scope))
                guard try await write(transaction) else { return false }
                amendment.write(to: account, scope, now: now, transaction)
                return true
            }
        }
    }
}
