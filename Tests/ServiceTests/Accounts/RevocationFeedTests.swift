import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit

/// `projects/{p}/revocations`, as docs/reference/revocation-feed.md tells resource servers to read it.
@Suite("Feed of revocations", .database, .testProvider, .serialized)
struct RevocationFeedTests {
    /// Verifies tokens by the feed alone.
    private struct ResourceServer {
        let service: TestService
        var parameters = ""
        var cursor: String?
        var known: Set<String> = []
        private var sessions: Set<String> = []
        private var accounts: [String: Double] = [:]
        private var tenants: Set<String> = []

        init(_ service: TestService, _ parameters: String = "") {
            self.service = service
            self.parameters = parameters
        }

        /// All that there is; the events that were not known.
        @discardableResult
        mutating func read() async throws -> [JSON] {
            var new: [JSON] = []
            while true {
                let reply = try await page()
                new += (reply["revocations"]?.array ?? []).filter { take($0) }
                cursor = reply["cursor"]?.string
                if reply["hasMore"] != true { return new }
            }
        }

        func page() async throws -> Reply {
            let position = cursor.map { "cursor=\($0)&" } ?? ""
            let reply = try await service.admin("revocations?\(position)\(parameters)")
            reply.expectOK()
            return reply
        }

        mutating func take(_ event: JSON) -> Bool {
            guard let id = event["eventId"]?.string, known.insert(id).inserted else { return false }
            switch event["type"] {
            case "SESSION_REVOKED": sessions.insert(event["sessionId"]?.string ?? "")
            case "ACCOUNT_DISABLED":
                accounts[event["localId"]?.string ?? ""] = event["revokedAt"]?.string.flatMap(Double.init)
            default: tenants.insert(event["tenantId"]?.string ?? "")
            }
            return true
        }

        func takes(_ token: Reply) -> Bool {
            let claims = token.claims
            let firebase = claims["firebase"]
            if sessions.contains(firebase?["sid"]?.string ?? "") { return false }
            if tenants.contains(firebase?["tenant"]?.string ?? "-") { return false }
            guard let disabledAt = accounts[claims["sub"]?.string ?? ""] else { return true }
            return (claims["iat"]?.number ?? 0) * 1000 > disabledAt
        }
    }

    private typealias Change = @Sendable (LinkingWorld, Reply) async throws -> Reply

    /// What voids the tokens of a session of `ada@example.com`, who signed in with her password.
    private static let changes: [(name: String, change: Change)] = [
        ("sign-out", { try await $0.service.call("accounts:signOut", ["idToken": JSON($1.idToken)]) }),
        (
            "sign-out of all",
            { try await $0.service.call("accounts:signOut", ["idToken": JSON($1.idToken), "scope": "all"]) }
        ),
        (
            "sign-out by an admin",
            { try await $0.service.admin("accounts:signOut", ["localId": JSON($1.localID), "scope": "all"]) }
        ),
        (
            "another password",
            { world, user in
                // By another session: the one that does it goes on.
                let other = try await world.service.signInWithPassword("ada@example.com")
                return try await world.service.call(
                    "accounts:update",
                    ["idToken": JSON(other.idToken), "password": "another horse"]
                )
            }
        ),
        (
            "another password by an admin",
            {
                try await $0.service.admin(
                    "accounts:update",
                    ["localId": JSON($1.localID), "password": "another horse"]
                )
            }
        ),
        (
            "revokeRefreshTokens of the Admin SDKs",
            {
                try await $0.service.admin(
                    "accounts:update",
                    ["localId": JSON($1.localID), "validSince": .string("\($0.service.clock.seconds)")]
                )
            }
        ),
        (
            "disabled",
            { try await $0.service.admin("accounts:update", ["localId": JSON($1.localID), "disableUser": true]) }
        ),
        ("deleted", { try await $0.service.call("accounts:delete", ["idToken": JSON($1.idToken)]) }),
        (
            "deleted by an admin",
            { try await $0.service.admin("accounts:batchDelete", ["localIds": [JSON($1.localID)], "force": true]) }
        ),
        (
            "overwritten by an import",
            {
                try await $0.service.admin(
                    "accounts:batchCreate",
                    ["users": [["localId": JSON($1.localID), "email": "ada@example.com"]], "allowOverwrite": true]
                )
            }
        ),
        (
            "taken over by the address's owner",
            { world, _ in try await world.acme(world.person()) }
        ),
        (
            "an old refresh token that comes again",
            { world, user in
                var token = user
                for _ in 1...3 {
                    world.service.clock.advance(by: 61)
                    token = try await world.service.refresh(token.refreshToken)
                }
                world.service.clock.advance(by: 61)
                let reply = try await world.service.refresh(user.refreshToken)
                #expect(reply.status == 400, "\(reply)")
                return token
            }
        ),
    ]

    @Test("T-D3: what our own operations refuse before it expires is in the feed", arguments: changes.indices)
    func tellsOfEveryWay(_ index: Int) async throws {
        let change = Self.changes[index]
        try await LinkingWorld.run({ $0.rotateRefreshTokens = true }) { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            let bystander = try await service.signUp("grace@example.com")
            var server = ResourceServer(service)
            try await server.read()
            #expect(server.takes(user))

            service.clock.advance(by: 5)
            let reply = try await change.change(world, user)
            #expect(reply.status == 200, "\(change.name): \(reply)")
            #expect(try await service.lookUp(user.idToken).status == 400, "\(change.name)")
            try await server.read()
            #expect(!server.takes(user), "\(change.name)")
            #expect(server.takes(bystander))
        }
    }

    @Test("an account that is enabled again has good tokens from then on")
    func enabledAgain() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 5)
            let account: JSON = ["localId": JSON(user.localID)]
            _ = try await service.admin("accounts:update", account.merging(["disableUser": true]))
            var server = ResourceServer(service)
            let events = try await server.read()
            #expect(events.map { $0["type"] } == ["ACCOUNT_DISABLED"], "\(events)")
            #expect(events.first?["localId"] == JSON(user.localID))
            #expect(events.first?["revokedAt"]?.string == "\(service.clock.seconds)000")
            // Further changes say nothing new.
            service.clock.advance(by: 5)
            _ = try await service.admin("accounts:update", account.merging(["displayName": "Ada"]))
            _ = try await service.admin("accounts:update", account.merging(["disableUser": true]))
            #expect(try await server.read().isEmpty)

            service.clock.advance(by: 5)
            _ = try await service.admin("accounts:update", account.merging(["disableUser": false]))
            let again = try await service.refresh(user.refreshToken)
            again.expectOK()
            try await server.read()
            #expect(server.takes(again))
            #expect(!server.takes(user))

            service.clock.advance(by: 5)
            _ = try await service.admin("accounts:update", account.merging(["disableUser": true]))
            #expect(try await server.read().count == 1)
            #expect(!server.takes(again))
        }
    }

    @Test("T-B19: one feed for a project with its tenants; the end of a tenant is the end of its tokens")
    func tenants() async throws {
        try await TenantScene.run { scene in
            let service = scene.service
            let users = [
                try await scene.signUp(in: nil), try await scene.signUp(in: scene.first),
                try await scene.signUp(in: scene.second),
            ]
            var server = ResourceServer(service)
            try await server.read()
            service.clock.advance(by: 5)
            _ = try await service.call(
                "accounts:signOut",
                ["idToken": JSON(users[1].idToken), "tenantId": .string(scene.first)]
            )
            var events = try await server.read()
            #expect(events.map { $0["tenantId"] } == [.string(scene.first)], "\(events)")
            #expect(users.map { server.takes($0) } == [true, false, true])
            service.clock.advance(by: 5)
            try await service.admin("tenants/\(scene.second)", method: "DELETE", version: "v2").expectOK()
            events = try await server.read()
            #expect(events.map { $0["type"] } == ["TENANT_DELETED"], "\(events)")
            #expect(users.map { server.takes($0) } == [true, false, false])
        }
        try await TestService.run { other in
            var server = ResourceServer(other, "tokenLifetime=1209600")
            let events = try await server.read()
            #expect(events.isEmpty, "\(events)")
        }
    }

    // MARK: Reading on

    @Test("pages contain each event once, in order, also when events arrive meanwhile")
    func pages() async throws {
        try await TestService.run { service in
            var users: [Reply] = []
            for number in 1...7 { users.append(try await service.signUp("user\(number)@example.com")) }
            // Three at once, and one that another node wrote with the time of the page before.
            for user in users.prefix(3) { try await signOut(user, service) }
            service.clock.advance(by: 1)
            for user in users[3..<5] { try await signOut(user, service) }
            var server = ResourceServer(service, "pageSize=2")
            var seen: [JSON] = []
            var sizes: [Int] = []
            while true {
                let page = try await server.page()
                let events = page["revocations"]?.array ?? []
                sizes.append(events.count)
                seen += events
                server.cursor = page["cursor"]?.string
                if sizes.count == 2 {
                    service.clock.advance(by: -1)
                    try await signOut(users[5], service)
                    service.clock.advance(by: 2)
                    try await signOut(users[6], service)
                }
                if page["hasMore"] != true { break }
            }
            let order = seen.map { "\($0["revokedAt"]?.string ?? "") \($0["localId"]?.string ?? "")" }
            #expect(order == order.sorted() && Set(order).count == order.count, "\(order)")
            #expect(sizes == [2, 2, 2, 0] || sizes == [2, 2, 2, 1], "\(sizes)")
            // The one that was late is found by the next reading at the latest.
            for event in seen { _ = server.take(event) }
            try await server.read()
            #expect(users.allSatisfy { !server.takes($0) })
        }
    }

    @Test("a reading that took long misses nothing that was committed while it went on")
    func takesLong() async throws {
        try await TestService.run { service in
            let late = try await service.signUp("late@example.com")
            for name in ["ada", "grace"] { try await signOut(service.signUp("\(name)@example.com"), service) }
            let scope = Scope(project: service.project.id)
            let before = service.clock.current.addingTimeInterval(-60)
            var server = ResourceServer(service, "pageSize=1")
            let page = try await server.page()
            #expect(page["hasMore"] == true, "\(page)")
            server.cursor = page["cursor"]?.string
            // Its place is among those that were read.
            let account = AccountID(late.localID ?? "")
            #expect(try await service.stores.sessions.revoke(.all, of: account, in: scope, now: before) == 1)
            service.clock.advance(by: 600)
            try await server.read()
            #expect(server.takes(late))
            try await server.read()
            #expect(!server.takes(late))
        }
    }

    @Test("changes committed after a later one was read are still read, and repeats are recognized by id")
    func comesLate() async throws {
        try await TestService.run { service in
            let early = try await service.signUp("ada@example.com")
            let late = try await service.signUp("grace@example.com")
            try await signOut(early, service)
            var server = ResourceServer(service)
            #expect(try await server.read().count == 1)
            // Its transaction began before that, on a node whose clock is behind.
            let scope = Scope(project: service.project.id)
            let account = AccountID(late.localID ?? "")
            let before = service.clock.current.addingTimeInterval(-119)
            #expect(try await service.stores.sessions.revoke(.all, of: account, in: scope, now: before) == 1)
            #expect(try await server.read().count == 1)
            #expect(!server.takes(late))
            // It comes again while readings overlap, and then no more.
            var page = try await server.page()
            #expect(page["revocations"]?.array?.count == 2, "\(page)")
            server.cursor = page["cursor"]?.string
            service.clock.advance(by: 125)
            try await server.read()
            page = try await server.page()
            #expect(page["revocations"]?.array?.isEmpty == true, "\(page)")
        }
    }

    @Test("a first reading goes back as far as the tokens that the reader takes are good")
    func begins() async throws {
        try await TestService.run { service in
            try await signOut(try await service.signUp("ada@example.com"), service)
            service.clock.advance(by: 3600)
            #expect(try await ResourceServer(service).page()["revocations"]?.array?.count == 1)
            service.clock.advance(by: 125)
            #expect(try await ResourceServer(service).page()["revocations"]?.array?.count == 0)
            for lifetime in ["tokenLifetime=1209600", "tokenLifetime=1209600s"] {
                #expect(try await ResourceServer(service, lifetime).page()["revocations"]?.array?.count == 1)
            }
        }
    }

    @Test("bad cursors, sizes and lifetimes are refused")
    func refusesBadInput() async throws {
        try await TestService.run { service in
            func cursor(_ json: String) -> String { "cursor=\(Base64URL.encode(Array(json.utf8)))" }
            let place = #"{"date":0,"owner":"","session":""}"#
            let refused: [(query: String, code: String)] = [
                ("cursor=", "INVALID_PAGE_SELECTION"), ("cursor=nonsense", "INVALID_PAGE_SELECTION"),
                (cursor("{}"), "INVALID_PAGE_SELECTION"), (cursor(#"{"position":1}"#), "INVALID_PAGE_SELECTION"),
                (cursor(#"{"position":{"date":1e300,"owner":"","session":""}}"#), "INVALID_PAGE_SELECTION"),
                (cursor(#"{"position":\#(place),"end":-1e300}"#), "INVALID_PAGE_SELECTION"),
                (cursor(#"{"position":{"date":0,"owner":"\u0000","session":""}}"#), "INVALID_PAGE_SELECTION"),
                (
                    cursor(#"{"position":{"date":0,"tenant":"\u0000","owner":"","session":""}}"#),
                    "INVALID_PAGE_SELECTION"
                ),
                ("pageSize=-1", "INVALID_PAGE_SELECTION"), ("pageSize=x", "INVALID_PAGE_SELECTION"),
                ("tokenLifetime=0", "INVALID_DURATION"), ("tokenLifetime=1209601", "INVALID_DURATION"),
                ("tokenLifetime=", "INVALID_DURATION"), ("tokenLifetime=1h", "INVALID_DURATION"),
            ]
            for (query, code) in refused {
                let reply = try await service.admin("revocations?\(query)")
                #expect(reply.status == 400 && reply.code == code, "\(query): \(reply)")
            }
            // Whoever makes one up reads what they may read anyway.
            let made = cursor(#"{"position":{"date":0,"owner":"' OR true --","session":""}}"#)
            try await service.admin("revocations?\(made)&pageSize=0").expectOK()
        }
    }

    // MARK: The document

    @Test("the Python of docs/reference/revocation-feed.md refuses what is void, and nothing else")
    func python() async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let tenant = try await service.makeTenant("first", ["enableAnonymousUser": true])
            let names = ["ada", "signedOut", "disabled", "deleted"]
            var users: [Reply] = []
            for name in names { users.append(try await service.signUp("\(name)@example.com")) }
            users.append(try await service.call("accounts:signUp", ["tenantId": .string(tenant)]))
            service.clock.advance(by: 5)
            try await signOut(users[1], service)
            _ = try await service.admin("accounts:update", ["localId": JSON(users[2].localID), "disableUser": true])
            _ = try await service.call("accounts:delete", ["idToken": JSON(users[3].idToken)])
            _ = try await service.admin("tenants/\(tenant)", method: "DELETE", version: "v2")
            // Of another tenant, with the ID of one that is still good.
            let twin: JSON = ["localId": JSON(users[0].localID)]
            let accounts = "tenants/\(try await service.makeTenant("second"))/accounts"
            try await service.admin(accounts, twin).expectOK()
            try await service.admin(accounts + ":update", twin.merging(["disableUser": true])).expectOK()
            let claims = FileManager.default.temporaryDirectory.appending(path: "claims-\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: claims) }
            try Data(JSON.array(users.map(\.claims)).text.utf8).write(to: claims)
            let root = IdentityProgram.repository
            let result = try await Program.run(
                root.appending(path: ".venv/bin/python").path,
                [
                    root.appending(path: "Tests/ServiceTests/Processes/revocation_feed.py").path,
                    root.appending(path: "docs/reference/revocation-feed.md").path, service.baseURL,
                    service.project.id.rawValue, service.adminToken, claims.path,
                ]
            )
            #expect(
                result.output.trimmingCharacters(in: .newlines) == "[false, true, true, true, true]",
                "\(result)"
            )
        }
    }

    private func signOut(_ user: Reply, _ service: TestService) async throws {
        let reply = try await service.admin("accounts:signOut", ["localId": JSON(user.localID), "scope": "all"])
        reply.expectOK()
    }
}
