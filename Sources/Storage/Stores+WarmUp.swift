import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Sessions

extension Stores {
    /// Opens all connections and lets each one plan the statements of refreshes, lookups and sign-ins.
    ///
    /// A PostgreSQL process takes dozens of milliseconds for the first use of a statement, its tables and indexes;
    /// after the warm-up, no request waits for that. The statements find nothing and write nothing.
    ///
    /// Until it ends, each connection's transaction locks the tables against changes of their schema.
    ///
    /// - Throws: ``PostgresError``; the work done so far is still useful.
    package func warmUp() async throws {
        guard let nobody = ProjectID(rawValue: "nobody") else { return }
        let scope = Scope(project: nobody)
        let session = SessionKey(scope: scope, account: AccountID(""), session: SessionID(random: .system))
        let longAgo = Date(timeIntervalSince1970: 0)
        let refresh = RefreshQuestion(key: session, secretHash: [], successor: nil, idleSince: nil, now: longAgo)
        let signIn = CandidatesQuestion(
            scope: scope,
            identity: FederatedIdentity(provider: .password, subject: "", issuer: "")
        )
        let lookup = AccountQuestion(scope: scope, account: session.account, session: session.session)
        try await database.onEachConnection { [batches] transaction in
            _ = try await SessionStore.ask([refresh], skipsLocked: batches, shared: batches, transaction)
            _ = try await AccountStore.candidates([signIn], shared: batches, transaction)
            if batches { _ = try await AccountStore.signUp(together: [], transaction) }
            _ = try await AccountStore.find([lookup], shared: batches, transaction)
        }
    }
}
