import Accounts
import Development
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("The list of accounts at the console", .database)
struct ConsoleAccountListTests {
    /// An account of the model, as it should be found.
    private struct Person {
        static let methods = ["google.com", "password", "phone", "github.com"]

        var id: String
        var tenant = ""
        var methods: [String]
        var createdAt: Int
        var lastSignInAt: Int?
        var email: String?
        var isVerified: Bool
        var isDisabled: Bool
        var hasSecondFactor: Bool

        init(_ number: Int, _ random: inout SplitMix) {
            id = "id\(number)-\(UInt16.random(in: 0...9999, using: &random))"
            methods = Self.methods.filter { _ in UInt8.random(in: 0..<3, using: &random) == 0 }
            // Many share a time.
            createdAt = Int.random(in: 1000...1020, using: &random)
            lastSignInAt = Bool.random(using: &random) ? createdAt + Int.random(in: 1...20, using: &random) : nil
            email = Int.random(in: 0..<4, using: &random) == 0 ? nil : "user\(number)@example.com"
            isVerified = Bool.random(using: &random)
            isDisabled = Int.random(in: 0..<5, using: &random) == 0
            hasSecondFactor = Int.random(in: 0..<5, using: &random) == 0
        }

        func insert(into service: TestService) async throws {
            let project = service.project.id.rawValue
            let factors = hasSecondFactor ? #"[{"id": "x", "phone": "+4915550100", "enrolledAt": 0}]"# : nil
            try await service.stores.database.execute(
                """
                WITH activity AS (
                    INSERT INTO account_activity (project, tenant, account, last_sign_in_at)
                    SELECT \(project), \(tenant), \(id), to_timestamp(\(lastSignInAt.map { Double($0) }))
                )
                INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original,
                    email_verified, disabled, second_factors, created_at)
                VALUES (\(project), \(id), \(tenant), \(methods), 0, \(email), \(email), \(isVerified),
                    \(isDisabled ? true : nil), \(factors), to_timestamp(\(Double(createdAt))))
                """
            )
        }

        func meets(_ query: AccountQuery) -> Bool {
            func holds(_ value: Bool, _ wanted: Bool?) -> Bool { wanted == nil || value == wanted }
            let used = lastSignInAt ?? createdAt
            return holds(isDisabled, query.isDisabled) && holds(email != nil && !isVerified, query.isUnverified)
                && holds(hasSecondFactor, query.hasSecondFactor) && holds(methods.isEmpty, query.isAnonymous)
                && (query.method.map { methods.contains($0.rawValue) } ?? true)
                && (query.createdAfter.map { createdAt >= Int($0.timeIntervalSince1970) } ?? true)
                && (query.createdBefore.map { createdAt < Int($0.timeIntervalSince1970) } ?? true)
                && (query.lastUsedAfter.map { used > Int($0.timeIntervalSince1970) } ?? true)
        }

        func key(_ sort: AccountQuery.Sort) -> String { sort == .email ? email ?? "" : String(createdAt) }
    }

    private static func queries() -> [AccountQuery] {
        var queries: [AccountQuery] = []
        let states: [(inout AccountQuery) -> Void] = [
            { _ in }, { $0.isDisabled = true }, { $0.isUnverified = true }, { $0.hasSecondFactor = true },
            { $0.isAnonymous = true },
        ]
        let times: [(inout AccountQuery) -> Void] = [
            { _ in },
            { query in
                query.createdAfter = Date(timeIntervalSince1970: 1005)
                query.createdBefore = Date(timeIntervalSince1970: 1015)
            },
            { $0.lastUsedAfter = Date(timeIntervalSince1970: 1012) },
        ]
        for method in [nil, "google.com", "phone"] {
            for state in states {
                for time in times {
                    for (sort, descends) in [(AccountQuery.Sort.createdAt, true), (.createdAt, false), (.email, false)]
                    {
                        var query = AccountQuery()
                        query.method = method.map { ProviderID($0) }
                        (query.sort, query.descends) = (sort, descends)
                        state(&query)
                        time(&query)
                        queries.append(query)
                    }
                }
            }
        }
        return queries
    }

    @Test("any filter in any order lists exactly its accounts, page by page, each once")
    func model() async throws {
        try await TestService.run { service in
            var random = SplitMix(seed: 11)
            var people = (0..<60).map { Person($0, &random) }
            for number in people.indices where number % 10 == 0 { people[number].tenant = "acme-12345" }
            for person in people { try await person.insert(into: service) }
            try await TestService.run { other in
                var random = SplitMix(seed: 12)
                try await Person(99, &random).insert(into: other)
            }
            for tenant in ["", "acme-12345"] {
                let place = Project(
                    id: service.project.id,
                    number: service.project.number,
                    tenant: TenantID(rawValue: tenant),
                    settings: service.project.settings,
                    passwordSignerKey: service.project.passwordSignerKey
                )
                for query in Self.queries() {
                    let expected = people.filter { $0.tenant == tenant && $0.meets(query) }.sorted {
                        ($0.key(query.sort), $0.id) < ($1.key(query.sort), $1.id)
                    }.map(\.id)
                    var found: [String] = []
                    var token: String?
                    repeat {
                        let page = try await service.assembly.accounts.queryAccounts.search(
                            query,
                            after: token,
                            size: 7,
                            place
                        )
                        found += page.accounts.map(\.id.rawValue)
                        token = page.nextPageToken
                        #expect(token == nil || page.accounts.count == 7, "\(query)")
                    } while token != nil && found.count < 100
                    #expect(found == (query.descends ? expected.reversed() : expected), "\(query)")
                }
            }
        }
    }

    @Test("the page filters and sorts by its URL, and shows methods, state and counts")
    func page() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let root = "/console/\(service.project.id)/accounts"
            for (id, members) in [
                ("ada", ["email": "ada@example.com", "displayName": "Ada Lovelace", "password": "correct horse"]),
                ("bob", ["email": "bob@example.com", "emailVerified": true, "disabled": true]),
                ("carl", ["phoneNumber": "+4915550100"]), ("none", [:]),
            ] as [(String, JSON)] {
                service.clock.advance(by: 1)
                let made = try await service.admin("accounts", members.merging(["localId": .string(id)]))
                made.expectOK()
            }
            let day = String(Date(timeIntervalSince1970: Double(service.clock.seconds)).ISO8601Format().prefix(10))
            for (query, names) in [
                ("", ["none", "carl", "bob", "ada"]), ("?sort=created", ["ada", "bob", "carl", "none"]),
                ("?sort=-email", ["bob", "ada", "none", "carl"]), ("?provider=password", ["ada"]),
                ("?provider=phone", ["carl"]), ("?provider=oidc.nobody", []), ("?state=disabled", ["bob"]),
                ("?state=unverified", ["ada"]), ("?state=anonymous", ["none", "bob"]), ("?state=secondFactor", []),
                ("?provider=password&state=disabled", []), ("?from=\(day)&to=\(day)", ["none", "carl", "bob", "ada"]),
                ("?to=2020-01-01", []), ("?time=used&from=\(day)", ["none", "carl", "bob", "ada"]),
                ("?time=used&to=2020-01-01", []),
                ("?provider=&state=&from=&to=&sort=", ["none", "carl", "bob", "ada"]),
            ] {
                let page = try await person.open(root + query)
                let links = page.text.matches(of: #/<a href="\/console\/[^"]*\/accounts\/([^"]+)">/#).map {
                    String($0.1)
                }
                #expect(links == names, "\(query): \(page.text)")
            }
            let page = try await person.open(root)
            for text in [
                "aria-label=\"Password\"", "aria-label=\"Phone\"", "Password <b>1</b>", ">AL</span>",
                ">disabled</span>",
                ">anonymous</span>", "aria-sort=\"descending\"",
            ] {
                #expect(page.text.contains(text), "\(text): \(page.text)")
            }
            for bad in ["state=x", "sort=x", "time=x", "from=yesterday", "to=2026-02-30", "after=x", "from=9999-99-99"]
            {
                let page = try await person.open("\(root)?\(bad)")
                #expect(page.status == 400, "\(bad): \(page.text)")
            }
        }
    }

    @Test("T-B20: the list is exported as it is filtered, on record, and no name becomes a formula")
    func export() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service, scopes: [.readAccounts])
            let root = "/console/\(service.project.id)/accounts"
            for (id, name) in [
                ("a", "=HYPERLINK(\"https://evil.example\")"), ("b", "+1"), ("c", "@SUM(1)"), ("d", "-1"),
                ("e", "Ada, \"Countess\""), ("f", "\t=1"), ("g", "＝1"),
            ] {
                service.clock.advance(by: 1)
                let made = try await service.admin(
                    "accounts",
                    ["localId": .string(id), "displayName": .string(name), "disabled": .bool(id == "e")]
                )
                made.expectOK()
            }
            let page = try await person.open(root + "?sort=created")
            let file = try await person.press("Export this list as CSV", on: page)
            #expect(file.status == 200, "\(file.text)")
            let lines = file.text.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.count == 9 && lines.first?.hasPrefix(#""localId","email","#) == true, "\(file.text)")
            #expect(lines[1].hasPrefix(#""a","","","'=HYPERLINK(""https://evil.example"")","#), "\(lines[1])")
            for (line, name) in [(2, "'+1"), (3, "'@SUM(1)"), (4, "'-1"), (6, "'\t=1"), (7, "'＝1")] {
                #expect(lines[line].contains("\"\(name)\""), "\(lines[line])")
            }
            #expect(lines[5].contains(#""Ada, ""Countess""""#), "\(lines[5])")
            let disabled = try await person.open(root + "?state=disabled")
            let less = try await person.press("Export this list as CSV", on: disabled)
            #expect(less.text.split(separator: "\r\n").count == 2 && less.text.contains("Countess"), "\(less.text)")
            var query = AuditQuery()
            query.action = .accountsExported
            let entries = try await service.assembly.accounts.listAuditEntries(
                query,
                service.project,
                after: nil,
                size: 9
            ).entries
            #expect(entries.map(\.actor) == ["admin:\(person.id)", "admin:\(person.id)"])

            let token = [("token", try await person.token())]
            let foreign = try await person.send("POST", root + ".csv", [("token", "x")])
            #expect(foreign.status == 403, "\(foreign)")
            let cross = try await person.send("POST", root + ".csv", token, headers: [("Sec-Fetch-Site", "cross-site")])
            #expect(cross.status == 403, "\(cross)")
            let keeper = try await ConsolePerson.setUp(service, "keys@example.com", scopes: [.manageConfiguration])
            let refused = try await keeper.send("POST", root + ".csv", [("token", try await keeper.token())])
            #expect(refused.status == 403, "\(refused)")
        }
    }

    @Test("a long list leaves the server in parts, with each account once")
    func longExport() async throws {
        try await TestService.runConsole {
            $0.callsOverHTTP = true
        } _: { service in
            let person = try await ConsolePerson.setUp(service, scopes: [.readAccounts])
            let names = (1...1_200).map { "account-\($0)" }
            for half in [names.prefix(600), names.suffix(600)] {
                let users = half.map { name -> JSON in ["localId": .string(name)] }
                let landed = try await service.admin("accounts:batchCreate", ["users": .array(users)])
                #expect(landed["error"] == nil, "\(landed)")
            }
            let page = try await person.open("/console/\(service.project.id)/accounts?sort=created")
            let file = try await person.press("Export this list as CSV", on: page)
            let found = file.text.split(separator: "\r\n").dropFirst().map { line in
                String(line.prefix { $0 != "," }).replacing("\"", with: "")
            }
            #expect(found.count == names.count && Set(found) == Set(names))
        }
    }

    @Test("T-D13: neither a tenant in the URL nor a position leads to accounts of another project or tenant")
    func isolation() async throws {
        try await TestService.runConsole {
            $0.settings.allowsTenants = true
        } _: { service in
            let person = try await ConsolePerson.setUp(service, project: service.project.id, scopes: [.readAccounts])
            let root = "/console/\(service.project.id)/accounts"
            let tenant = try await service.makeTenant("acme")
            for number in 1...60 {
                service.clock.advance(by: 1)
                _ = try await service.admin("accounts", ["localId": .string("own-\(number)")])
                let inside = try await service.admin(
                    "tenants/\(tenant)/accounts",
                    ["localId": .string("inside-\(number)")]
                )
                inside.expectOK()
            }
            let own = try await person.open(root)
            #expect(own.text.contains("own-60") && !own.text.contains("inside-"), "\(own.text)")
            let chosen = try await person.open("\(root)?tenant=\(tenant)")
            #expect(chosen.text.contains("inside-60") && !chosen.text.contains("own-"), "\(chosen.text)")
            #expect(chosen.text.contains("/tenants/\(tenant)/accounts/inside-60\""), "\(chosen.text)")
            let token = try #require(own.text.firstMatch(of: #/after=([^"&]+)/#)).1
            for path in [
                "/console/\(service.project.id)/tenants/\(tenant)/accounts?after=\(token)",
                "\(root)?tenant=\(tenant)&after=\(token)", "\(root)?after=\(token)&state=disabled",
                "\(root)?after=\(token)&sort=created",
            ] {
                let page = try await person.open(path)
                #expect(page.status == 400 && !page.text.contains("inside-"), "\(path): \(page.text)")
            }
            for name in ["nobody-12345", "..", "%2F"] {
                #expect(try await person.open("\(root)?tenant=\(name)").status == 404, "\(name)")
            }
            let id = try #require(ProjectID(rawValue: "other-" + service.project.id.rawValue.suffix(8)))
            _ = try await service.stores.configuration.createProject(id, settings: ProjectSettings())
            #expect(try await person.open("/console/\(id)/accounts?after=\(token)").status == 403)
            let admin = try await ConsolePerson.setUp(service, "all@example.com")
            #expect(try await admin.open("/console/\(id)/accounts?after=\(token)").status == 400)
        }
    }
}

/// Alone with its database, whose statements it looks at.
@Suite("The list of accounts at the console: costs", .database)
struct ConsoleAccountListCostTests {
    @Test("a page is one statement, which looks at as much among 40,000 accounts as among 4,000")
    func costs() async throws {
        try await TestService.run { service in
            var queries: [AccountQuery] = []
            for change: (inout AccountQuery) -> Void in [
                { $0.method = .google }, { $0.method = .phone }, { $0.isDisabled = true }, { $0.isAnonymous = true },
                { $0.createdAfter = Date(timeIntervalSince1970: 2000) },
            ] {
                var query = AccountQuery()
                (query.sort, query.descends) = (.createdAt, true)
                change(&query)
                queries.append(query)
            }
            try await service.fill(4_000)
            let few = try await blocks(of: queries, service)
            try await service.fill(40_000, from: 4_001)
            let many = try await blocks(of: queries, service)
            for (query, (few, many)) in zip(queries, zip(few, many)) {
                // One more level of an index for each look.
                #expect(Double(many) <= Double(few) * 1.3 + 12, "\(query): \(few), then \(many) blocks")
            }
            var query = AccountQuery()
            query.lastUsedBefore = Date(timeIntervalSince1970: 0)
            let page = try await service.assembly.accounts.queryAccounts.search(
                query,
                after: nil,
                size: 50,
                service.project
            )
            #expect(page.accounts.isEmpty && page.nextPageToken != nil, "ends after 2,500 accounts")
            #expect(try await service.assembly.accounts.countProviders.ifFew(service.project) == nil)
        }
    }

    private func blocks(of queries: [AccountQuery], _ service: TestService) async throws -> [Int64] {
        var blocks: [Int64] = []
        for query in queries {
            let search = service.assembly.accounts.queryAccounts
            let (count, _) = try await StatementCount.during {
                try await search.search(query, after: nil, size: 50, service.project)
            }
            #expect(count.total == 1, "\(count.statements)")
            blocks += try await TestDatabase.current.client.query(
                """
                SELECT sum(shared_blks_hit + shared_blks_read)::bigint FROM pg_stat_statements
                WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND query LIKE '%linked_credentials%' AND query NOT LIKE '%pg_stat_statements%'
                """
            ) { try $0.next(Int64.self) }
        }
        return blocks
    }
}
