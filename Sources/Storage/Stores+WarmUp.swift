import Foundation
import Linking
import Postgres
import Projects
import Secrets
import Sessions

extension Stores {
    /// Opens all connections and has each plan the statements of refreshes, lookups and sign-ins.
    ///
    /// A server process that meets a statement, its tables and their indexes for the first time takes dozens of
    /// milliseconds for it; here no request waits for them. It asks for nobody: nothing is found, and nothing written.
    /// - Throws: ``PostgresError``; what was done stays of use.
    package func warmUp() async throws {
        guard let nobody = ProjectID(rawValue: "nobody") else { return }
        let scope = Scope(project: nobody)
        let session = SessionKey(project: nobody, account: AccountID(""), session: SessionID(random: .system))
        let longAgo = Date(timeIntervalSince1970: 0)
        let refresh = RefreshQuestion(key: session, secretHash: [], successor: nil, idleSince: nil, now: longAgo)
        let signIn = CandidatesQuestion(
            scope: scope,
            identity: FederatedIdentity(provider: .password, subject: "", issuer: "")
        )
        let lookup = AccountQuestion(scope: scope, account: session.account, session: session.session)
        try await database.onEachConnection { [batches] transaction in
            // A plan may be kept from the sixth time on (PostgreSQL, PREPARE, Notes).
            for _ in 1...6 {
                _ = try await SessionStore.ask([refresh], skipsLocked: batches, transaction)
                _ = try await AccountStore.candidates([signIn], skipsLocked: batches, transaction)
                _ = try await AccountStore.find([lookup], transaction)
            }
        }
    }
}
