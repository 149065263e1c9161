import Domain
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Accounts as admins see them", .database, .testProvider, .serialized)
struct AdminAccountTests {
    @Test("create, look up by every key, update, delete")
    func managesAccounts() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let made = try await service.admin(
                "accounts",
                [
                    "localId": "ada", "email": "Ada@Example.com", "emailVerified": true, "password": "correct horse",
                    "displayName": "Ada", "photoUrl": "https://example.com/a.png", "phoneNumber": "+49 170 1234-567",
                ]
            )
            #expect(
                made.json == [
                    "kind": "identitytoolkit#SignupNewUserResponse", "localId": "ada", "email": "ada@example.com",
                    "displayName": "Ada",
                ]
            )
            try await world.update("ada", ["linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "R"]])
            let other = try await world.acme(world.person("other", email: "eve@example.com"))
            for (selector, found) in [
                (["localId": ["ada"]], ["ada"]),
                (["email": ["ADA@example.com"]], ["ada"]),
                (["phoneNumber": ["+491701234567"]], ["ada"]),
                (["federatedUserId": [["providerId": "oidc.acme", "rawId": "R"]]], ["ada"]),
                (["localId": ["ada"], "email": ["ada@example.com"]], ["ada"]),
                (["localId": ["ada", JSON(other.localID)]], ["ada", other.localID ?? ""]),
                (["localId": ["nobody"]], nil),
                (["federatedUserId": [["providerId": "oidc.acme", "rawId": "r"]]], nil),
                (["email": ["eve@example.org"]], nil),
            ] as [(JSON, [String]?)] {
                let reply = try await service.admin("accounts:lookup", selector)
                let ids = reply["users"]?.array?.compactMap { $0["localId"]?.string }
                #expect(ids?.sorted() == found?.sorted(), "\(selector)")
            }
            try await service.admin("accounts:lookup", [:]).expectRefused("MISSING_ID_TOKEN")
            let account = try #require(try await service.account("ada"))
            #expect(account["disabled"] == false)
            #expect(account["passwordHash"] == "UkVEQUNURUQ=")
            #expect(account["salt"] == nil)
            #expect(account.providers == ["oidc.acme", "phone", "password"])
            #expect(account["lastLoginAt"] == nil)

            for (body, error) in [
                (["localId": "ada"], "DUPLICATE_LOCAL_ID"), (["email": "ada@example.com"], "EMAIL_EXISTS"),
                (["phoneNumber": "+491701234567"], "PHONE_NUMBER_EXISTS"),
                (["phoneNumber": "0170"], "INVALID_PHONE_NUMBER : Invalid format."),
                (["email": "ada"], "INVALID_EMAIL"),
                (["password": "short"], "WEAK_PASSWORD : Password should be at least 6 characters"),
            ] as [(JSON, String)] {
                try await service.admin("accounts", body).expectRefused(error)
            }
            let updated = try await service.admin(
                "accounts:update",
                [
                    "localId": "ada", "displayName": "Ada L.", "deleteAttribute": ["PHOTO_URL"],
                    "deleteProvider": ["phone", "oidc.acme"], "disableUser": true,
                    "customAttributes": #"{"role":"captain"}"#,
                ]
            )
            #expect(updated["localId"] == "ada", "\(updated)")
            let after = try #require(try await service.account("ada"))
            #expect(after["displayName"] == "Ada L.")
            #expect(after["photoUrl"] == nil)
            #expect(after["phoneNumber"] == nil)
            #expect(after["disabled"] == true)
            #expect(after["customAttributes"]?.string == #"{"role":"captain"}"#)
            #expect(after.providers == ["password"])
            for (body, error) in [
                ([:], "MISSING_LOCAL_ID"), (["localId": "nobody"], "USER_NOT_FOUND"),
                (["localId": "ada", "customAttributes": #"{"sub":"x"}"#], "FORBIDDEN_CLAIM : sub"),
                (["localId": "ada", "customAttributes": "[]"], "INVALID_CLAIMS"),
                (["localId": "ada", "email": "eve@example.com"], "EMAIL_EXISTS"),
            ] as [(JSON, String)] {
                try await service.admin("accounts:update", body).expectRefused(error)
            }
            try await world.update("ada", ["customAttributes": "{}"])
            #expect(try await service.account("ada")?["customAttributes"] == "{}", "as it was set, which is not absent")
            try await world.update("ada", ["customAttributes": ""])
            #expect(try await service.account("ada")?["customAttributes"] == nil)
            try await service.admin("accounts:delete", [:]).expectRefused("MISSING_LOCAL_ID")
            try await service.admin("accounts:delete", ["localId": "ada"]).expectOK()
            try await service.admin("accounts:delete", ["localId": "ada"]).expectRefused("USER_NOT_FOUND")
            #expect(try await service.account("ada") == nil)
        }
    }

    @Test("lookup answers in the order of the question, each account once")
    func ordersLookups() async throws {
        try await LinkingWorld.run { world in
            for (name, phone) in [("a", "+491701234510"), ("b", "+491701234520"), ("c", "+491701234530")] {
                let email = JSON.string("\(name)@example.com")
                _ = try await world.account(["localId": .string(name), "email": email, "phoneNumber": .string(phone)])
            }
            try await world.update("b", ["linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "B"]])
            for (question, answer) in [
                (["localId": ["c", "a", "c", "b"]], ["c", "a", "b"]),
                (["email": ["b@example.com", "a@example.com"], "localId": ["c"]], ["c", "b", "a"]),
                (["phoneNumber": ["+491701234530", "+491701234510"], "email": ["a@example.com"]], ["a", "c"]),
                (
                    [
                        "federatedUserId": [["providerId": "oidc.acme", "rawId": "B"]],
                        "phoneNumber": ["+491701234530"],
                    ], ["c", "b"]
                ),
            ] as [(JSON, [String])] {
                let reply = try await world.service.admin("accounts:lookup", question)
                #expect(reply["users"]?.array?.compactMap { $0["localId"]?.string } == answer, "\(question)")
            }
        }
    }

    @Test("a change that waited for an account changes nothing of the one that took its place")
    func waitsForAReplacedAccount() async throws {
        try await TestService.run { service in
            try await service.admin("accounts", ["localId": "ada", "displayName": "Ada"]).expectOK()
            let task = try await TestDatabase.current.client.transaction { transaction in
                // As an import that overwrites.
                try await transaction.execute(
                    """
                    WITH old AS (DELETE FROM accounts WHERE project = \(service.project.id.rawValue) RETURNING *)
                    INSERT INTO accounts SELECT * FROM old
                    """
                )
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                let task = Task {
                    try await service.admin("accounts:update", ["localId": "ada", "displayName": "Eve"])
                }
                try await waitUntil {
                    try await transaction.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                    ) { try $0.next(Int64.self) } == [1]
                }
                return task
            }
            try await task.value.expectRefused("USER_NOT_FOUND")
            #expect(try await service.account("ada")?["displayName"] == "Ada")
        }
    }

    @Test("look-ups that share a statement have their own answers, and none of a tenant's accounts")
    func sharesLookups() async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let tenant = try await service.makeTenant("first", [:])
            func make(_ place: String, _ body: JSON) async throws {
                try await service.admin("\(place)accounts", body).expectOK()
            }
            try await make("", ["localId": "ada", "email": "ada@example.com", "phoneNumber": "+491701234510"])
            try await make("", ["localId": "eve", "email": "eve@example.com"])
            try await make("tenants/\(tenant)/", ["localId": "ada-there", "email": "ada@example.com"])
            let questions: [(place: String, selector: JSON, found: String?)] = [
                ("", ["email": ["eve@example.com"]], "eve"), ("", ["email": ["nobody@example.com"]], nil),
                ("", ["email": ["ada@example.com"]], "ada"),
                ("tenants/\(tenant)/", ["email": ["ada@example.com"]], "ada-there"),
                ("", ["phoneNumber": ["+491701234510"]], "ada"),
                ("tenants/\(tenant)/", ["phoneNumber": ["+491701234510"]], nil),
                ("", ["email": ["ADA@example.com"]], "ada"),
            ]
            let tasks = try await TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("LOCK TABLE account_emails IN ACCESS EXCLUSIVE MODE")
                let holder = try await transaction.query("SELECT pg_backend_pid()") { try $0.next(Int32.self) }.first
                var tasks: [Task<Reply, any Error>] = []
                for question in questions {
                    tasks.append(
                        Task { try await service.admin("\(question.place)accounts:lookup", question.selector) }
                    )
                    let waiting = tasks.count - 1
                    try await waitUntil {
                        guard waiting == 0 else {
                            return service.stores.batchCounts.contains {
                                $0.name == "selectors" && $0.counts.waiting == waiting
                            }
                        }
                        return try await transaction.query(
                            "SELECT count(*) FROM pg_stat_activity WHERE \(holder ?? 0) = ANY (pg_blocking_pids(pid))"
                        ) { try $0.next(Int64.self) } == [1]
                    }
                }
                return tasks
            }
            for (task, question) in zip(tasks, questions) {
                let reply = try await task.value
                reply.expectOK()
                let found = reply["users"]?.array?.map { $0["localId"]?.string } ?? []
                #expect(found == (question.found.map { [$0] } ?? []), "\(question)")
            }
        }
    }

    @Test(
        "a time that no calendar has is refused",
        arguments: ["-1", "253402300800000", "9223372036854775807"],
        ["createdAt", "lastLoginAt", "validSince"]
    )
    func refusesTimes(_ time: String, _ name: String) async throws {
        try await LinkingWorld.run { world in
            _ = try await world.account(["localId": "ada"])
            let before = try await world.service.account("ada")
            let reply = try await world.service.admin("accounts:update", ["localId": "ada", name: .string(time)])
            #expect(reply.status == 400, "\(reply)")
            #expect(reply["error"]?["message"]?.string?.contains("TYPE_INT64") == true, "\(reply)")
            #expect(try await world.service.account("ada") == before)
        }
    }

    @Test("an admin credential's last use is on record, to the minute")
    func recordsUse() async throws {
        try await LinkingWorld.run { world in
            func lastUse() async throws -> [Int64?] {
                try await world.service.stores.database.query(
                    """
                    SELECT extract(epoch FROM last_used_at)::bigint FROM admin_credentials
                    WHERE secret_hash = \(SecureHash.sha256(world.service.adminToken))
                    """
                ) { try $0.next(Int64?.self) }
            }
            let never = try await lastUse()
            #expect(never == [nil])
            let start = world.service.clock.seconds
            for (later, recorded) in [(0, start), (59, start), (2, start + 61)] {
                world.service.clock.advance(by: Double(later))
                try await world.service.admin("accounts:batchGet").expectOK()
                let found = try await lastUse()
                #expect(found == [recorded])
            }
        }
    }

    @Test("batchGet gives every account once, in order, with its real hash")
    func pages() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            for number in 0..<7 { _ = try await world.account(["localId": .string("user\(number)")]) }
            _ = try await world.account(["localId": "zz", "email": "ada@example.com", "password": "correct horse"])
            var ids: [String] = []
            var token: String? = ""
            var pages = 0
            while let next = token {
                let query = next.isEmpty ? "" : "&nextPageToken=\(next)"
                let page = try await service.admin("accounts:batchGet?maxResults=4\(query)")
                #expect(page["kind"] == "identitytoolkit#DownloadAccountResponse")
                let users = page["users"]?.array ?? []
                ids += users.compactMap { $0["localId"]?.string }
                if let ada = users.first(where: { $0["localId"] == "zz" }) {
                    #expect(ada["passwordHash"]?.string?.count == 88)
                    #expect(ada["passwordHash"] != "UkVEQUNURUQ=")
                    #expect(ada["salt"]?.string?.isEmpty == false)
                }
                token = page["nextPageToken"]?.string
                pages += 1
                try #require(pages < 10)
            }
            #expect(ids == (0..<7).map { "user\($0)" } + ["zz"])
            #expect(pages == 3, "a full page names the next, even when that is empty")
            #expect(try await service.admin("accounts:batchGet?maxResults=0")["users"] == nil)
            #expect(try await service.admin("accounts:batchGet")["users"]?.array?.count == 8)
        }
    }
}
