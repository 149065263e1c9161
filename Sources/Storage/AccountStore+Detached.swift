package import Domain
import Postgres
package import Projects

import struct Foundation.Date

extension AccountStore {
    /// Records detached credentials: those of `provider`, or if it is nil all of them, with the password, phone and
    /// passkeys.
    func recordDetached(
        from account: Account,
        provider: ProviderID?,
        reason: DetachedCredential.Reason,
        by proof: EmailProof,
        _ scope: Scope,
        now: Date
    ) -> [SQL] {
        let columns: SQL = """
            project, account, version, provider, tenant, subject, email, display_name, linked_at, reason, by_provider,
            by_subject, detached_at
            """
        func values(_ provider: SQL, _ credential: SQL) -> SQL {
            """
            \(scope.project.rawValue), \(account.id.rawValue), \(account.version), \(sql: provider),
                \(scope.tenant.rawValue), \(sql: credential), \(reason.rawValue), \(proof.provider.rawValue),
                \(proof.subject), \(now)
            """
        }
        let named: SQL = provider.map { "AND provider = \($0.rawValue)" } ?? ""
        let linked: SQL = """
            INSERT INTO detached_credentials (\(sql: columns))
            SELECT \(sql: values("provider", "subject, email, display_name, linked_at")) FROM linked_credentials
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.id.rawValue) \(sql: named)
            """
        guard provider == nil else { return [linked] }
        let password = account.hasPassword ? account.email?.canonical ?? "" : nil
        let passkeys = account.passkeys.map(\.id).joined(separator: " ")
        let others: [(provider: String, subject: String?, email: String?)] = [
            ("password", password, password), ("phone", account.phoneNumber, nil),
            ("passkey", passkeys.isEmpty ? nil : passkeys, nil),
        ]
        return [linked]
            + others.filter { $0.subject != nil }.map { other in
                """
                INSERT INTO detached_credentials (\(sql: columns))
                VALUES (\(sql: values("\(other.provider)", "\(other.subject), \(other.email), NULL, NULL")))
                """
            }
    }

    /// The account's detached credentials, latest first.
    package func detached(from account: AccountID, in scope: Scope) async throws -> [DetachedCredential] {
        try await database.query(
            """
            SELECT provider, subject, email, display_name, linked_at, reason, by_provider, by_subject, detached_at
            FROM detached_credentials
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
            ORDER BY version DESC, provider
            """
        ) { row in try Self.detached(&row) }
    }

    /// The credentials that the account has lost since `date`, and no other account has, latest first.
    func detached(
        from account: AccountID,
        since date: Date,
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) async throws -> [DetachedCredential] {
        try await transaction.query(
            """
            SELECT d.provider, d.subject, d.email, d.display_name, d.linked_at, d.reason, d.by_provider, d.by_subject,
                d.detached_at
            FROM detached_credentials d
            WHERE d.project = \(scope.project.rawValue) AND d.tenant = \(scope.tenant.rawValue)
                AND d.account = \(account.rawValue) AND d.detached_at >= \(date)
                AND NOT EXISTS (
                    SELECT FROM credential_subjects c WHERE c.project = d.project AND c.tenant = d.tenant
                        AND c.provider = d.provider AND c.subject = d.subject
                )
                AND NOT EXISTS (
                    SELECT FROM account_phones p WHERE d.provider = \(ProviderID.phone.rawValue)
                        AND p.project = d.project AND p.tenant = d.tenant AND p.phone_number = d.subject
                )
            ORDER BY d.version DESC, d.provider
            """
        ) { row in try Self.detached(&row) }
    }

    private static func detached(_ row: inout PostgresRow) throws -> DetachedCredential {
        DetachedCredential(
            provider: ProviderID(try row.next(String.self)),
            subject: try row.next(),
            email: try row.next(),
            displayName: try row.next(),
            linkedAt: try row.next(),
            reason: DetachedCredential.Reason(rawValue: try row.next()) ?? .takeOver,
            byProvider: ProviderID(try row.next(String.self)),
            bySubject: try row.next(),
            detachedAt: try row.next()
        )
    }
}
