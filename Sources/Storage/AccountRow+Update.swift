import Domain
import Passwords
import Postgres
import Projects

import struct Foundation.Date

extension AccountRow {
    /// The columns of the password, which an ``Domain/Account`` does not hold.
    enum Password {
        case kept
        case new(StoredPassword?)
        /// The other account's, which still has them.
        case of(AccountID)
    }

    /// The statement that writes a locked account as it is to be.
    ///
    /// It writes every column: the row is locked, so the others cannot have changed since it was read.
    ///
    /// - Parameters:
    ///   - validSince: an expression for the column, of its present value.
    ///   - survivor: the account that has it merged; its tokens end with that, so it is not one that was disabled.
    static func update(
        to account: Account,
        password: Password,
        validSince: SQL,
        mergedInto survivor: AccountID? = nil,
        _ scope: Scope,
        now: Date
    ) throws -> SQL {
        let isDisabled = account.isDisabled && survivor == nil
        return """
            UPDATE accounts SET version = \(account.version), methods = \(account.methodNames),
                merged_into = \(survivor?.rawValue), email = \(account.email?.canonical),
                email_original = \(account.email?.original), email_verified = \(account.emailVerified),
                email_link = \(account.emailLinkSignIn), initial_email = \(account.initialEmail),
                \(sql: ProfileColumns.account.setting(account.profile)), phone_number = \(account.phoneNumber),
                second_factors = \(try SecondFactorColumn.text(of: account.secondFactors)),
                passkeys = \(try PasskeyColumn.text(of: account.passkeys)),
                \(sql: columns(password, scope)) password_updated_at = \(account.passwordUpdatedAt),
                custom_attributes = \(account.customAttributes), custom_auth = \(account.customAuth),
                recoverable_until = \(account.recoverableUntil), disabled = \(account.disabled),
                disabled_at = CASE WHEN \(isDisabled) THEN coalesce(disabled_at, \(now)) END,
                valid_since = \(sql: validSince), revoked_version = \(account.revokedVersion),
                created_at = \(account.createdAt)
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.id.rawValue)
            """
    }

    private static func columns(_ password: Password, _ scope: Scope) -> SQL {
        switch password {
        case .kept: ""
        case .new(let password):
            """
            password_hash = \(password?.hash.hash), password_salt = \(password?.hash.salt),
            password_parameters = \(password?.parameters),
            """
        case .of(let other):
            """
            (password_hash, password_salt, password_parameters) = (
                SELECT password_hash, password_salt, password_parameters FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(other.rawValue)
            ),
            """
        }
    }
}
