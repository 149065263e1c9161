import Development
import Foundation
import InMemoryLogging
import Migrations
import Logging
import Postgres
import Projects
import Storage
import TestKit
import Testing

@Suite("A database that is away")
struct DatabaseOutageTests {
    /// Every way into the database, with what it answers while that is away.
    private static func calls(
        _ service: TestService,
        _ account: Reply
    ) -> [(String, isPlain: Bool, @Sendable () async throws -> Reply)] {
        [
            ("lookup", true, { try await service.lookUp(account.idToken) }),
            ("token", true, { try await service.refresh(account.refreshToken) }),
            ("signUp", false, { try await service.signUp("grace@example.com", "some password") }),
            ("signInWithPassword", false, { try await service.signInWithPassword("ada@example.com", "some password") }),
            (
                "update", false,
                { try await service.call("accounts:update", ["idToken": JSON(account.idToken), "displayName": "x"]) }
            ),
            ("delete", false, { try await service.call("accounts:delete", ["idToken": JSON(account.idToken)]) }),
            (
                "listSessions", false,
                { try await service.call("accounts:listSessions", ["idToken": JSON(account.idToken)]) }
            ),
            (
                "signInWithIdp", false,
                { try await service.finishFlow(at: "http://localhost/callback?code=a&state=b", sessionID: "c") }
            ),
            ("admin lookup", false, { try await service.admin("accounts:lookup", ["localId": ["x"]]) }),
        ]
    }

    private func check(_ name: String, _ reply: Reply, isPlain: Bool) {
        #expect(reply.status == 503, "\(name): \(reply)")
        #expect(reply.response.header("retry-after") == "1", "\(name)")
        if isPlain {
            #expect(reply.response.header("content-type") == "text/plain; charset=utf-8", "\(name)")
            #expect(reply.json == .null, "\(name): JSON would sign people out")
        } else {
            #expect(reply["error"]?["code"] == 503, "\(name)")
            #expect(reply["error"]?["status"] == "UNAVAILABLE", "\(name)")
        }
        #expect(!reply.response.text.lowercased().contains("postgres"), "\(name)")
    }

    @Test("stopped: 503 everywhere, as plain text where JSON would sign people out; started: all is well again")
    func stoppedAndStarted() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/outage-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = PrivateCluster(folder: folder, durable: false)
        try await first.start()
        let conninfo = try #require(first.conninfo)
        let migrating = PostgresClient(.migrating(conninfo), logger: Logger(label: "migrations"))
        try await Migrator(migrating).migrate()
        await migrating.close()
        var options = TestService.Options()
        options.conninfo = conninfo
        options.waitsForDatabase = false
        try await TestSlots.services.use { [options] in
            try await TestService.run(options) { service in
                let account = try await service.signUp("ada@example.com", "some password")
                account.expectOK()
                await first.stop()
                for (name, isPlain, call) in Self.calls(service, account) {
                    check(name, try await call(), isPlain: isPlain)
                }
                #expect(try await service.send("GET", "/healthz").status == 200, "alive")
                try await expectNotReady(service)
                let log = service.logs.entries.map { "\($0.message) \($0.metadata)" }
                #expect(log.contains { $0.contains("postgres.") }, "the log says why")
                #expect(!log.contains { $0.contains(account.refreshToken ?? "-") || $0.contains("some password") })

                let second = PrivateCluster(folder: folder, durable: false)
                try await second.start()
                #expect(second.conninfo == conninfo)
                let recovered = try await eventually { try await service.lookUp(account.idToken) }
                recovered.expectOK()
                try await service.refresh(account.refreshToken).expectOK()
                #expect(
                    try await service.signInWithPassword("ada@example.com", "some password").localID == account.localID
                )
                #expect(
                    try await service.signUp("grace@example.com", "some password").status == 200,
                    "nothing was half done"
                )
                try await eventually { try await service.send("GET", "/readyz") }.expectOK()

                let server = try #require(OtherProcess(postgresIn: folder))
                server.suspend()
                defer { server.resume() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { try await expectNotReady(service) } }
                    try await group.waitForAll()
                }
                server.resume()
                #expect(try await eventually { try await service.send("GET", "/readyz") }.status == 200, "it heals")
                try await eventually { try await service.lookUp(account.idToken) }.expectOK()
                await second.stop()
            }
        }
    }

    private func expectNotReady(_ service: TestService) async throws {
        let reply = try await service.send("GET", "/readyz")
        #expect(reply.status == 503)
        #expect(
            reply.json == [
                "status": "unavailable",
                "checks": [
                    "database": "failed", "migrations": "unknown", "signingKey": "ok", "projects": "ok",
                    "requests": "unknown",
                ],
                "dependencies": ["mail": "ok", "providers": "ok"],
            ],
            "what is not ready, and nothing of why"
        )
    }

    @Test("busy: who asks whether it is ready waits for no connection that requests have", .database)
    func saturated() async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let database = service.stores.database
                let everybodyIsIn = Barrier(database.connections + 1)
                let done = Barrier(database.connections + 1)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<database.connections {
                        group.addTask {
                            try await database.transaction { transaction in
                                try await transaction.execute("SELECT")
                                await everybodyIsIn.wait()
                                await done.wait()
                            }
                        }
                    }
                    await everybodyIsIn.wait()
                    try await service.send("GET", "/readyz").expectOK()
                    await done.wait()
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("where all statements of requests wait, the node is not ready for them; the database is", .database)
    func allWait() async throws {
        try await TestSlots.services.use {
            var options = TestService.Options()
            options.conninfo = TestDatabase.current.conninfo
            options.connections = 1
            options.waitsForDatabase = false
            try await TestService.run(options) { service in
                let other = TestDatabase.current.client
                try await other.transaction { transaction in
                    try await transaction.execute("LOCK TABLE accounts")
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { while !Task.isCancelled { _ = try await service.signUp("ada@example.com") } }
                        try await waitUntil {
                            let checks = try await service.send("GET", "/readyz").json["checks"]
                            return checks?["requests"] == "failed" && checks?["database"] == "ok"
                        }
                        group.cancelAll()
                    }
                }
                try await waitUntil { try await service.send("GET", "/readyz").status == 200 }
            }
        }
    }

    @Test("requests without any answer from the database make a node not ready; one slow statement does not", .database)
    func standstill() async throws {
        try await TestSlots.services.use {
            let database = PostgresClient(quietly: .patient(TestDatabase.current.conninfo, connections: 2))
            let other = TestDatabase.current.client
            try await other.execute("CREATE TABLE stalled (a INT)")
            let (held, end) = (TestGate(), TestGate())
            async let holder: Void = other.transaction { transaction in
                try await transaction.execute("LOCK TABLE stalled")
                held.open()
                await end.pass()
            }
            await held.pass()
            #expect(!database.isStalled(for: .zero), "nothing waits")
            async let first = database.execute("SELECT FROM stalled")
            try await waitUntil { database.isStalled(for: .milliseconds(50)) }
            try await database.ping()
            #expect(!database.isStalled(for: .seconds(60)))
            end.open()
            try await holder
            #expect(try await first == 0)
            try await waitUntil { !database.isStalled(for: .zero) }
            await database.close()
        }
    }

    /// Asks until the pool has its connections back: it waits longer between tries the longer the server is away.
    private func eventually(_ call: () async throws -> Reply) async throws -> Reply {
        var reply = try await call()
        try await waitUntil {
            if reply.status == 503 { reply = try await call() }
            return reply.status != 503
        }
        return reply
    }

    @Test("killed backends under load: 200 or 503, never another answer, and no account twice", .database)
    func killedBackends() async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let account = try await service.signUp("ada@example.com", "some password")
                // One connection, which is not killed: one that was idle meanwhile might find out too late that it is lost.
                let admin = PostgresClient(
                    .patient(TestDatabase.current.conninfo, connections: 1),
                    logger: Logger(label: "admin")
                )
                let replies = try await withThrowingTaskGroup(of: [Reply].self) { group in
                    for worker in 0..<6 {
                        group.addTask {
                            var replies: [Reply] = []
                            for round in 0..<15 {
                                replies.append(try await service.lookUp(account.idToken))
                                replies.append(try await service.refresh(account.refreshToken))
                                replies.append(
                                    try await service.signUp("user-\(worker)-\(round)@example.com", "some password")
                                )
                            }
                            return replies
                        }
                    }
                    group.addTask {
                        for _ in 0..<20 {
                            _ = try await admin.query(
                                """
                                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                WHERE datname = current_database() AND pid <> pg_backend_pid()
                                """
                            ) { try $0.next(Bool.self) }
                        }
                        return []
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                for reply in replies { #expect([200, 503].contains(reply.status), "\(reply)") }
                for reply in replies where reply.status == 200 && reply["users"] != nil {
                    #expect(reply["users"]?[0]?["localId"]?.string == account.localID)
                }
                let made = Set(
                    replies.filter { $0["kind"] == "identitytoolkit#SignupNewUserResponse" }.compactMap(\.localID)
                )
                let query: SQL = "SELECT count(*) FROM accounts WHERE project = \(service.project.id.rawValue)"
                let kept = Int(try await admin.query(query) { try $0.next(Int64.self) }.first ?? 0)
                await admin.close()
                #expect(kept >= made.count + 1)
                let calm = try await eventually { try await service.lookUp(account.idToken) }
                calm.expectOK()
            }
        }
    }

    @Test("read-only: reading goes on, writing is 503, and nothing is half written", .database)
    func readOnly() async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let account = try await service.signUp("ada@example.com", "some password")
                let admin = PostgresClient(
                    .patient(TestDatabase.current.conninfo, connections: 1),
                    logger: Logger(label: "admin")
                )
                let name = try await admin.query("SELECT current_database()::text") { try $0.next(String.self) }
                let database = try #require(name.first)
                try await admin.execute("SET default_transaction_read_only = off")
                try await admin.execute("ALTER DATABASE \(identifier: database) SET default_transaction_read_only = on")
                try await terminateOthers(admin)
                let before = try await Footprint(of: service)
                let read = try await eventually { try await service.lookUp(account.idToken) }
                read.expectOK()
                // A load balancer is to prefer a node whose database takes writes.
                let ready = try await service.send("GET", "/readyz")
                #expect(ready.status == 503, "\(ready)")
                #expect(ready["checks"]?["database"] == "failed", "\(ready)")
                let write = try await service.call(
                    "accounts:update",
                    ["idToken": JSON(account.idToken), "displayName": "x"]
                )
                check("update", write, isPlain: false)
                check("signUp", try await service.signUp("grace@example.com", "some password"), isPlain: false)
                check(
                    "signIn",
                    try await service.signInWithPassword("ada@example.com", "some password"),
                    isPlain: false
                )
                #expect(try await Footprint(of: service) == before)
                try await admin.execute("ALTER DATABASE \(identifier: database) RESET default_transaction_read_only")
                try await terminateOthers(admin)
                let after = try await eventually { try await service.signUp("grace@example.com", "some password") }
                after.expectOK()
                try await eventually { try await service.send("GET", "/readyz") }.expectOK()
                await admin.close()
            }
        }
    }

    @Test("full: what the server has no room for is 503 as a whole, and nothing is half written", .database)
    func full() async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let account = try await service.signUp("ada@example.com", "some password")
                let database = TestDatabase.current.client
                // As the server says it in the middle of a statement whose other parts it has done.
                try await database.execute(
                    """
                    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$
                    """
                )
                try await database.execute(
                    "CREATE TRIGGER no_room AFTER INSERT OR UPDATE ON sessions EXECUTE FUNCTION no_room()"
                )
                let before = try await Footprint(of: service)
                check("signUp", try await service.signUp("grace@example.com", "some password"), isPlain: false)
                check(
                    "signIn",
                    try await service.signInWithPassword("ada@example.com", "some password"),
                    isPlain: false
                )
                service.clock.advance(by: 61)
                check("token", try await service.refresh(account.refreshToken), isPlain: true)
                #expect(try await Footprint(of: service) == before)
                try await service.lookUp(account.idToken).expectOK()
                try await database.execute("DROP FUNCTION no_room CASCADE")
                try await service.signUp("grace@example.com", "some password").expectOK()
                try await service.refresh(account.refreshToken).expectOK()
            }
        }
    }

    private func terminateOthers(_ admin: PostgresClient) async throws {
        _ = try await admin.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        ) { try $0.next(Bool.self) }
    }
}
