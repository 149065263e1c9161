import Delivery
import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

/// From one encryption key to the next, with something in every column that is encrypted.
@Suite("Key ring", .testProvider)
struct KeyRingRotationTests {
    private static let new = Result { try KeyRing.Key(id: "next", bytes: [UInt8](repeating: 8, count: 32)) }
    private static let both = Result { try KeyRing(keys: [new.get()] + TestService.encryptionKeys.get()) }

    private static func options() -> ProviderScene.Options {
        var options = ProviderScene.Options.keepingTokens()
        options.service.settings.emailEnumerationProtection = false
        options.service.settings.offerApps()
        options.service.ownPages = true
        return options
    }

    @Test("knows every column that holds encrypted values", .database)
    func everyColumn() async throws {
        let columns = try await TestDatabase.current.client.query(
            """
            SELECT table_name || '.' || column_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND data_type = 'bytea'
            """
        ) { try $0.next(String.self) }
        // Hashes, salts and public keys.
        let open =
            columns.filter { $0.hasSuffix("_hash") }
            + ["accounts.password_salt", "admin_credentials.public_key", "rate_limits.key"]
        // A JSON text with secrets in it.
        let text = ["accounts.second_factors"]
        #expect(Set(SealedColumn.all.map(\.name)) == Set(columns).subtracting(open).union(text))
        #expect(Set(open).isSubset(of: columns))
    }

    /// What is left for the next node to read.
    private struct Leftovers {
        var app: AuthenticatorApp
        var flow: TestService.StartedFlow
        var pendingToken: String
        var person: TestUser
        var grace: Reply
        var admin: ConsolePerson
    }

    private static let imported = ImportedHash.all.first { $0.testDescription.hasPrefix("HMAC_SHA256") }

    /// Puts something into every column.
    private func fill(_ scene: ProviderScene) async throws -> Leftovers {
        let service = scene.service
        let imported = try #require(Self.imported)
        try await service.admin("accounts:batchCreate", imported.upload()).expectOK()
        let user = try await service.verifiedUser("totp@example.com")
        let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
        let person = scene.addGrace()
        scene.tenant.nextLogin(person)
        let grace = try await scene.signIn()
        let stranger = TestUser("x", email: "totp@example.com", emailVerified: false, name: "X")
        scene.tenant.nextLogin(scene.tenant.addUser(stranger))
        let conflict = try await scene.signIn()
        let sent = try await service.call(
            "accounts:sendOobCode",
            ["requestType": "PASSWORD_RESET", "email": "totp@example.com"]
        )
        sent.expectOK()
        let scope = Scope(project: service.project.id)
        try await service.stores.keptNames.keep("Ada", of: "s", at: "apple.com", in: scope, now: service.clock.current)
        try await service.configure(
            ProviderConfiguration(
                provider: "github.com",
                enabled: true,
                clientID: "c",
                clientSecret: Secret("client"),
                webhookSecret: Secret("hook")
            )
        )
        return Leftovers(
            app: app,
            flow: try await service.startFlow(through: scene.provider),
            pendingToken: try #require(conflict.pendingToken, "\(conflict)"),
            person: person,
            grace: grace,
            admin: try await ConsolePerson.setUp(service)
        )
    }

    @Test(
        "every value goes over to the first key, and a node that has no other reads them all",
        .database,
        arguments: [1, 200]
    )
    func reseals(batch: Int) async throws {
        try await ProviderScene.run(.oidc, Self.options()) { scene in
            let (service, left) = (scene.service, try await fill(scene))
            let store = KeyRingStore(database: TestDatabase.current.client, keyRing: try Self.both.get())
            for number in 1...5 {
                let user = TestUser("p\(number)", email: "p\(number)@example.com", emailVerified: true, name: "P")
                scene.tenant.nextLogin(scene.tenant.addUser(user))
                try await scene.signIn().expectOK()
            }
            let before = try await store.usage()
            #expect(Array(before.keys) == ["test"])

            var ended: [String: KeyRingStore.Progress] = [:]
            try await store.reseal(batch: batch) { if $0.isDone { ended[$0.column.name] = $0 } }
            for column in SealedColumn.all {
                let progress = ended[column.name]
                #expect(
                    progress?.unreadable == 0 && (progress?.resealed ?? 0) > 0,
                    "\(column.name): \(progress?.resealed ?? -1)"
                )
            }
            #expect(try await store.usage(batch: batch) == ["next": before["test"] ?? 0])
            // A second time it finds nothing, and has gone through each column once.
            var (again, reports) = (0, 0)
            try await store.reseal { progress in
                again += progress.resealed
                reports += 1
            }
            #expect(again == 0 && reports <= 3 * SealedColumn.all.count, "\(reports)")

            var other = TestService.Options()
            other.project = service.project
            other.clock = service.clock
            other.encryptionKeys = [try Self.new.get()]
            other.ownPages = true
            try await TestService.run(other) { next in
                let project = next.stores.configuration.snapshot.project(service.project.id)
                #expect(project?.passwordSignerKey.reveal() == service.project.passwordSignerKey.reveal())
                let github = next.stores.configuration.snapshot.provider("github.com", in: service.project.scope)
                #expect(github?.clientSecret?.reveal() == "client" && github?.webhookSecret?.reveal() == "hook")
                let imported = try #require(Self.imported)
                #expect(try await next.signInWithPassword("ada@example.com", imported.password).localID == "ada")
                let name = try await next.stores.keptNames.find(
                    "s",
                    at: "apple.com",
                    in: Scope(project: service.project.id),
                    now: next.clock.current
                )
                #expect(name == "Ada")
                let grace = try await next.refresh(left.grace.refreshToken)
                let tokens = try await next.providerToken(scene.kind.rawValue, grace.idToken)
                #expect(tokens["oauthAccessToken"]?.string?.isEmpty == false, "\(tokens)")
                next.clock.advance(by: 30)
                let challenge = try await next.signInWithPassword("totp@example.com")
                let entered = try await next.finishSecondFactor(
                    challenge["mfaPendingCredential"]?.string,
                    enrollment: left.app.enrollment,
                    code: left.app.code()
                )
                #expect(entered.idToken != nil, "\(entered)")
                let admin = left.admin
                let there = ConsolePerson(
                    service: next,
                    browser: ScriptedBrowser(),
                    email: admin.email,
                    id: admin.id,
                    app: admin.app
                )
                #expect(try await there.signIn().heading == "Projects")
                let linked = try await next.call(
                    "accounts:signInWithIdp",
                    [
                        "requestUri": "http://localhost", "pendingToken": .string(left.pendingToken),
                        "idToken": JSON(entered.idToken), "returnSecureToken": true,
                    ]
                )
                linked.expectOK()
                scene.tenant.nextLogin(left.person)
                let visit = try await ScriptedBrowser().open(left.flow.authURI, until: ["http://localhost/callback"])
                let finished = try await next.finishFlow(at: visit.url, sessionID: left.flow.sessionID)
                #expect(finished.idToken != nil, "\(finished)")
                #expect(
                    try await next.stores.outbox.waiting(Mail.kind, in: Scope(project: service.project.id)).isEmpty
                        == false
                )
            }
        }
    }

    @Test("what is written meanwhile stays as it was written", .database)
    func concurrentWrite() async throws {
        try await ProviderScene.run(.oidc, Self.options()) { scene in
            let user = try await scene.signIn()
            let store = KeyRingStore(database: TestDatabase.current.client, keyRing: try Self.both.get())
            let newer: [UInt8] = [1, 4] + Array("test".utf8) + [UInt8](repeating: 3, count: 40)
            try await Race.run(
                scene.service,
                hold: { transaction in
                    try await transaction.execute(
                        """
                        UPDATE linked_credentials SET tokens = \(newer)
                        WHERE project = \(scene.service.project.id.rawValue) AND account = \(user.localID ?? "")
                        """
                    )
                }
            ) { try await store.reseal { _ in } }
            let stored = try await TestDatabase.current.client.query(
                "SELECT tokens FROM linked_credentials WHERE account = \(user.localID ?? "")"
            ) { try $0.next([UInt8].self) }
            #expect(stored == [newer])
        }
    }

    @Test("an account whose second factors are sealed anew has another version, and no other account has", .database)
    func secondFactorVersions() async throws {
        try await TestService.run(Self.options().service) { service in
            let user = try await service.verifiedUser("totp@example.com")
            let other = try await service.signUp("plain@example.com")
            _ = try await AuthenticatorApp.enroll(user.idToken, service)
            let database = TestDatabase.current.client
            func versions() async throws -> [String: Int64] {
                let rows = try await database.query(
                    "SELECT account, version FROM accounts WHERE project = \(service.project.id.rawValue)"
                ) { (try $0.next(String.self), try $0.next(Int64.self)) }
                return Dictionary(uniqueKeysWithValues: rows)
            }
            let before = try await versions()
            let store = KeyRingStore(database: database, keyRing: try Self.both.get())
            try await store.reseal { _ in }
            let after = try await versions()
            let (id, plain) = (try #require(user.localID), try #require(other.localID))
            #expect(after[id] == before[id].map { $0 + 1 } && after[plain] == before[plain], "\(before), \(after)")
            // Nothing is left to do.
            try await store.reseal { _ in }
            #expect(try await versions() == after)
        }
    }

    @Test(
        "serve, check and keys say which key is missing, and for how many values",
        .database,
        .timeLimit(.minutes(10))
    )
    func missingKeys() async throws {
        let old = IdentityProgram.environment(TestDatabase.current.conninfo)
        func run(_ arguments: String..., keys: String? = nil) async throws -> Program.Result {
            var environment = old
            if let keys { environment["IDENTITY_ENCRYPTION_KEYS"] = keys }
            return try await Program.run(IdentityProgram.path, arguments, environment: environment)
        }
        let next = "k2:" + Data(repeating: 4, count: 32).base64EncodedString()
        #expect(try await run("projects", "create", "ring-project").status == 0)
        for command in [["serve"], ["check"], ["keys", "list"]] {
            var environment = old
            environment["IDENTITY_ENCRYPTION_KEYS"] = next
            let refused = try await Program.run(IdentityProgram.path, command, environment: environment)
            if command == ["serve"] {
                #expect(refused.status == 78 && refused.errors.contains("encryption.keys lacks k1"), "\(refused)")
            } else {
                #expect(refused.status != 0 || command == ["keys", "list"], "\(refused)")
            }
        }
        let keys = "\(next),\(IdentityProgram.encryptionKey)"
        let changed = try await run("keys", "reencrypt", keys: keys)
        #expect(changed.status == 0 && changed.output.contains("projects.password_signer_key: 1\n"), "\(changed)")
        let listed = try await run("keys", "list", "--encryption", "--json", keys: keys)
        let rows = try JSON(parsing: Array(listed.output.utf8))
        #expect(rows[0]?["id"] == "k2" && rows[0]?["state"] == "encrypts" && rows[0]?["values"] != "0", "\(listed)")
        #expect(rows[1] == ["id": "k1", "state": "decrypts", "values": "0"], "\(listed)")
        #expect(try await run("keys", "list", keys: next).status == 0)

        let lost: [UInt8] = [1, 2] + Array("k0".utf8) + [UInt8](repeating: 3, count: 40)
        try await TestDatabase.current.client.execute(
            """
            INSERT INTO kept_names (project, tenant, provider, subject, payload, expires_at)
            VALUES ('ring-project', '', 'apple.com', 's', \(lost), now())
            """
        )
        let check = try await run("check", "--json", keys: next)
        #expect(check.status == 1 && check.output.contains("encryption-key-missing"), "\(check)")
        #expect(check.output.contains("lacks k0, but 1 values"), "\(check)")
        let stuck = try await run("keys", "reencrypt", keys: next)
        #expect(stuck.status == 1 && stuck.errors.contains("1 values cannot be decrypted"), "\(stuck)")
        #expect(stuck.output.contains(#/k0 +missing +1/#), "\(stuck)")
    }
}
