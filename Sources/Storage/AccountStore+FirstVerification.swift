import Domain
import Postgres
import Projects

import struct Foundation.Date

extension AccountStore {
    /// The parts of a statement that remove an account's earlier credentials when its email is first verified.
    ///
    /// These are linked credentials, phone, passkeys, sessions and codes (threats.md, T-A1, T-A7);
    /// ``Domain/Account/dropUnproved(validSince:)`` changes the account's own columns.
    ///
    /// - Parameter provider: the provider whose row stays, because another subject replaces it.
    func dropUnproved(
        of account: Account,
        keeping provider: ProviderID? = nil,
        by proof: EmailProof,
        _ scope: Scope,
        now: Date
    ) -> [SQL] {
        let claims: [SQL] = [
            recordDetached(from: account, provider: nil, reason: .takeOver, by: proof, scope, now: now),
            releaseSubjects(of: account.id, scope, provider: nil),
            """
            DELETE FROM account_phones WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND phone_number = \(account.phoneNumber) AND account IN (SELECT account FROM target)
            """,
            """
            DELETE FROM linked_credentials WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account IN (SELECT account FROM target) AND provider IS DISTINCT FROM \(provider?.rawValue)
            """,
            revokeSessions(of: account.id, scope, except: nil, now: now),
            """
            \(sql: OOBCodeStore.voiding(OOBCodeType.allCases, of: account.id.rawValue, scope))
                AND EXISTS (SELECT FROM target)
            """,
        ]
        return account.passkeys.isEmpty ? claims : claims + [releasePasskeys(of: account, scope)]
    }
}
