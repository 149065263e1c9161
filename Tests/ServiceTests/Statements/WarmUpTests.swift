import Domain
import Federation
import Foundation
import Logging
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import Synchronization
import Testing
import TestKit

@Suite("Warm-up", .database)
struct WarmUpTests {
    @Test(
        "has every connection plan what refreshes, lookups and sign-ins ask, before any of them does",
        arguments: [true, false]
    )
    func plans(batches: Bool) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = PostgresClient(
            .patient(TestDatabase.current.conninfo, connections: 3),
            logger: logger
        )
        let stores = Stores(
            database: database,
            keyRing: try KeyRing(keys: TestService.encryptionKeys.get()),
            logger: logger,
            batches: batches,
            now: { Date() }
        )
        func prepared() async throws -> [[String]] {
            let found = Mutex([[String]]())
            try await database.onEachConnection { connection in
                let names = try await connection.query(
                    """
                    SELECT statement || (generic_plans > 0) FROM pg_prepared_statements
                    WHERE statement LIKE '%unnest%' AND statement NOT LIKE '%pg_prepared_statements%' ORDER BY 1
                    """
                ) { try $0.next(String.self) }
                found.withLock { $0.append(names) }
            }
            return found.withLock { $0 }
        }
        try await stores.warmUp()
        let before = try await prepared()
        // Sign-ups share a statement only with others.
        let expected = batches ? 4 : 3
        #expect(
            before.allSatisfy { $0.count == expected } && before.count == 3
                && before.joined().allSatisfy { $0.hasSuffix("true") },
            "\(before)"
        )

        let project = try #require(ProjectID(rawValue: "some-project"))
        let scope = Scope(project: project)
        let key = SessionKey(scope: scope, account: AccountID("ada"), session: SessionID(random: .system))
        let hash = [UInt8](repeating: 1, count: 32)
        let question = RefreshQuestion(key: key, secretHash: hash, successor: hash, idleSince: Date(), now: Date())
        let ada = FederatedIdentity(
            provider: "google.com",
            subject: "1",
            issuer: "i",
            email: EmailAddress("a@example.com")
        )
        let refreshed = try await stores.sessions.refresh(question)
        #expect(refreshed == nil)
        let found = try await stores.accounts.find(key.account, session: key.session, in: scope)
        #expect(found == nil)
        _ = try await stores.accounts.candidates(for: ada, caller: (key.account, key.session), in: scope)
        #expect(try await prepared() == before)
        guard batches else { return await database.close() }
        let signUp = SignInWrite(
            scope: scope,
            credential: FederatedCredential(
                identity: ada,
                tokens: ProviderTokens(),
                rawUserInfo: "{}",
                federatedID: "1"
            ),
            session: .none,
            now: Date(),
            allowsUnconfiguredProvider: false
        )
        let account = Account(id: key.account, validSince: 0, createdAt: Date())
        #expect(try await stores.accounts.signUp(account, signUp) == .providerDisabled)
        #expect(try await prepared() == before)
        await database.close()
    }
}
