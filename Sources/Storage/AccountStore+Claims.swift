import Domain
import Postgres
import Projects
import struct Foundation.Date

/// The unique claims of an account: emails, phone numbers, passkeys, and subjects at providers.
extension AccountStore {
    func applyClaims(_ changes: AccountChanges, _ transition: Transition) throws {
        let (before, after, scope, transaction) = (
            transition.before, transition.after, transition.scope, transition.transaction
        )
        if after.email?.canonical != before.email?.canonical {
            if let old = before.email { release(email: old, of: before.id, scope, transaction) }
            if let new = after.email { claim(email: new, for: before.id, scope, transaction) }
        }
        if after.phoneNumber != before.phoneNumber {
            if let old = before.phoneNumber { release(phoneNumber: old, scope, transaction) }
            if let new = after.phoneNumber { claim(phoneNumber: new, for: before.id, scope, transaction) }
        }
        if after.passkeys != before.passkeys { applyPasskeys(transition) }
        let gone = before.linked.filter { changes.unlinked.contains($0.provider) }
        if !gone.isEmpty {
            releaseLinked(gone, of: before.id, scope, transaction)
        }
        if let linked = changes.linked {
            insert(linked, account: before.id, scope, now: transition.now, transaction)
        }
    }

    private func claim(
        email: EmailAddress,
        for account: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) {
        transaction.write(
            """
            INSERT INTO account_emails (project, tenant, email_key, account)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(email.canonical), \(account.rawValue))
            """
        )
    }

    func claim(
        phoneNumber: String,
        for account: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) {
        transaction.write(
            """
            INSERT INTO account_phones (project, tenant, phone_number, account)
            VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(phoneNumber), \(account.rawValue))
            """
        )
    }

    private func release(
        email: EmailAddress,
        of account: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) {
        transaction.write(
            """
            DELETE FROM account_emails WHERE project = \(scope.project.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND email_key = \(email.canonical)
                AND account = \(account.rawValue)
            """
        )
    }

    private func release(phoneNumber: String, _ scope: Scope, _ transaction: PostgresTransaction) {
        transaction.write(
            """
            DELETE FROM account_phones WHERE project = \(scope.project.rawValue)
                AND tenant = \(scope.tenant.rawValue) AND phone_number = \(phoneNumber)
            """
        )
    }

    func release(
        subject: String,
        at provider: ProviderID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) {
        transaction.write(
            """
            DELETE FROM credential_subjects
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND provider = \(provider.rawValue) AND subject = \(subject)
            """
        )
    }

    func releaseLinked(
        _ linked: [LinkedCredential],
        of account: AccountID,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) {
        for credential in linked {
            transaction.write(
                """
                WITH subject AS (
                    DELETE FROM credential_subjects WHERE project = \(scope.project.rawValue)
                        AND tenant = \(scope.tenant.rawValue) AND provider = \(credential.provider.rawValue)
                        AND subject = \(credential.subject)
                ), name AS (
                    DELETE FROM kept_names WHERE project = \(scope.project.rawValue)
                        AND tenant = \(scope.tenant.rawValue) AND provider = \(credential.provider.rawValue)
                        AND subject = \(credential.subject)
                )
                DELETE FROM linked_credentials WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(account.rawValue) AND provider = \(credential.provider.rawValue)
                """
            )
        }
    }

    func insert(
        _ linked: LinkedCredential,
        account: AccountID,
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) {
        transaction.write(
            """
            WITH subject AS (
                INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
                VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(linked.provider.rawValue),
                    \(linked.subject), \(account.rawValue), '')
            )
            INSERT INTO linked_credentials (project, account, provider, tenant, subject, email,
                \(sql: ProfileColumns.identity.names), linked_at, updated_at)
            VALUES (\(scope.project.rawValue), \(account.rawValue), \(linked.provider.rawValue),
                \(scope.tenant.rawValue), \(linked.subject), \(linked.email),
                \(sql: ProfileColumns.identity.values(linked.profile)), \(now), \(now))
            """
        )
    }
}
