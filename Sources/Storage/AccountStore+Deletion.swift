import Domain
import Postgres
import Projects

import struct Foundation.Date

extension AccountStore {
    /// Deletes a locked account with everything that it has, and the accounts that were merged into it, which still hold
    /// claims.
    ///
    /// Their sessions stay as tombstones until the sweeper deletes them.
    func delete(_ account: Account, _ scope: Scope, now: Date, _ transaction: PostgresTransaction) {
        transaction.write(SessionStore.ending(where: "true", of: account.id, scope, now: now))
        transaction.write(
            OOBCodeStore.voiding(
                OOBCodeType.allCases,
                of: account.id.rawValue,
                signIn: account.email.map { account.emailVerified ? [$0.canonical] : [] } ?? [],
                scope
            )
        )
        transaction.write(AuditEntry(.accountDeleted, in: scope, account: account.id, at: now).insertion())
        let ids: SQL = "ANY (ARRAY(SELECT account FROM gone))"
        transaction.write(
            """
            WITH RECURSIVE family (account) AS (
                SELECT \(account.id.rawValue)::text
                UNION
                SELECT m.merged FROM account_merges m JOIN family f ON m.survivor = f.account
                WHERE m.project = \(scope.project.rawValue) AND m.tenant = \(scope.tenant.rawValue)
            ), gone AS MATERIALIZED (
                SELECT account, email, phone_number FROM accounts
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = ANY (ARRAY(SELECT account FROM family))
            ), identities AS MATERIALIZED (
                SELECT provider, subject FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND account = \(sql: ids)
            ), emails AS (
                DELETE FROM account_emails
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND email_key = ANY (ARRAY(SELECT email FROM gone))
            ), phones AS (
                DELETE FROM account_phones
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND phone_number = ANY (ARRAY(SELECT phone_number FROM gone))
            ), subjects AS (
                DELETE FROM credential_subjects c USING identities i
                WHERE c.project = \(scope.project.rawValue) AND c.tenant = \(scope.tenant.rawValue)
                    AND c.provider = i.provider AND c.subject = i.subject
            ), passkeys AS (
                DELETE FROM account_passkeys
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND account = \(sql: ids)
            ), names AS (
                DELETE FROM kept_names k USING identities i
                WHERE k.project = \(scope.project.rawValue) AND k.tenant = \(scope.tenant.rawValue)
                    AND k.provider = i.provider AND k.subject = i.subject
            ), linked AS (
                DELETE FROM linked_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND account = \(sql: ids)
            ), activity AS (
                DELETE FROM account_activity
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND account = \(sql: ids)
            ), detached AS (
                DELETE FROM detached_credentials
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND account = \(sql: ids)
            ), codes AS (
                DELETE FROM verification_codes
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND purpose <> \(VerificationPurpose.signIn.rawValue) AND owner = \(account.id.rawValue)
            ), merges AS (
                DELETE FROM account_merges
                WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND survivor = \(sql: ids)
            )
            DELETE FROM accounts
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND account = \(sql: ids)
            """
        )
    }
}
