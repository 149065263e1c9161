import Domain
import Foundation
import Projects
import Testing
import TestKit

/// The commands that answer questions about accounts.
@Suite("identity users, identity providers", .database, .timeLimit(.minutes(10)))
struct AccountCommandTests {
    /// With the key ring of the services of tests.
    private func run(_ service: TestService, _ arguments: String...) async throws -> Program.Result {
        try await run(service, arguments)
    }

    private func run(_ service: TestService, _ arguments: [String]) async throws -> Program.Result {
        var environment = IdentityProgram.environment(TestDatabase.current.conninfo)
        environment["IDENTITY_ENCRYPTION_KEYS"] = "test:" + Data(repeating: 7, count: 32).base64EncodedString()
        let project = ["--project", service.project.id.rawValue]
        return try await Program.run(IdentityProgram.path, arguments + project, environment: environment)
    }

    private func json(_ result: Program.Result) throws -> [JSON] {
        #expect(result.status == 0, "\(result)")
        return try JSON(parsing: Array(result.output.utf8)).array ?? []
    }

    private func withAccounts(_ body: @Sendable (TestService) async throws -> Void) async throws {
        try await TestService.run { service in
            try await service.configure(ProviderConfiguration(provider: .google, enabled: true, clientID: "app"))
            let users: [JSON] = (0..<1_000).map { number in
                var user: JSON = [
                    "localId": .string("u\(1000 + number)"), "email": .string("u\(number)@example.com"),
                    "createdAt": .string(String(1_767_225_600_000 - number * 1000)),
                ]
                if number % 2 == 0 {
                    user = user.merging([
                        "providerUserInfo": [["providerId": "google.com", "rawId": .string("\(number)")]]
                    ])
                }
                if number == 3 { user = user.merging(["disabled": true, "email": "three@example.net"]) }
                return user
            }
            let uploaded = try await service.admin("accounts:batchCreate", ["users": .array(users)])
            #expect(uploaded["error"] == nil, "\(uploaded)")
            try await body(service)
        }
    }

    @Test("T-E18: what a user can name is in one field of a table")
    func fields() async throws {
        try await TestService.run { service in
            let name = "Ada  google.com:1\u{A0}\u{202E}\u{2028}x\u{2003} y"
            let user: JSON = [
                "localId": "forged", "displayName": .string(name),
                "providerUserInfo": [["providerId": "google.com", "rawId": "1 password"]],
            ]
            try await service.configure(ProviderConfiguration(provider: .google, enabled: true, clientID: "app"))
            let uploaded = try await service.admin("accounts:batchCreate", ["users": [user]])
            #expect(uploaded["error"] == nil, "\(uploaded)")
            let line = try await run(service, "users", "show", "forged").output.split(separator: "\n").last
            let fields = try #require(line).split(separator: #/ {2,}/#).map { String($0) }
            let shown = #"Ada \u{20}google.com:1\u{00A0}\u{202E}\u{2028}x\u{2003} y"#
            #expect(fields.contains(shown) && fields.contains(#"google.com:1\u{20}password"#), "\(fields)")
        }
    }

    @Test("users query lists and counts by conditions, in the order that it is told, as many as it is told")
    func query() async throws {
        try await withAccounts { service in
            let google = try json(
                try await run(service, "users", "query", "--method", "google.com", "--limit", "501", "--json")
            )
            #expect(google.count == 500 && google.first?["localId"] == "u1000" && google.last?["localId"] == "u1998")
            let some = try json(
                try await run(service, "users", "query", "--limit", "502", "--sort", "created", "--json")
            )
            #expect(some.count == 502 && some.first?["localId"] == "u1999" && some.last?["localId"] == "u1498")
            for (arguments, count) in [
                (["--disabled"], "1"), (["--no-disabled"], "999"), (["--email-domain", "example.net"], "1"),
                (["--unused-since", "2026-01-01"], "999"), (["--used-since", "2025-12-31T23:59:59Z"], "1"),
                (["--detached"], "0"), (["--no-signed-in"], "1000"),
            ] {
                let result = try await run(service, ["users", "query", "--count"] + arguments)
                #expect(result.output == count, "\(arguments): \(result)")
            }
            let table = try await run(service, "users", "query", "--disabled", "--descending", "--sort", "email")
            #expect(table.output.contains("three@example.net") && table.output.contains("disabled"), "\(table)")
        }
    }

    @Test("users merge previews, merges and names what is in conflict; users undo-merge undoes it")
    func merge() async throws {
        try await TestService.run { service in
            let google: JSON = [["providerId": "google.com", "rawId": "1"]]
            try await service.upload(
                [
                    "localId": "ada", "email": "ada@example.com", "emailVerified": true,
                    "rawPassword": "correct horse",
                ],
                [
                    "localId": "eda", "email": "eda@example.com", "rawPassword": "correct horse",
                    "providerUserInfo": google,
                ]
            )
            let refused = try await run(service, "users", "merge", "ada", "eda")
            #expect(refused.status == 1 && refused.errors.contains("MERGE_CONFLICT : password"), "\(refused)")
            let trial = try await run(service, "users", "merge", "ada", "eda", "--dry-run", "--json")
            #expect(try json(trial).first?["providerUserInfo"]?[0]?["rawId"] == "1", "\(trial)")
            #expect(trial.errors.contains("conflicts: password (alreadyLinked)"), "\(trial)")
            #expect(try await service.account("eda")?["localId"] == "eda")
            let done = try await run(service, "users", "merge", "ada", "eda", "--drop", "password")
            #expect(done.status == 0 && done.errors.contains("dropped: password"), "\(done)")
            #expect(done.errors.contains("reserved address: eda@example.com"), "\(done)")
            #expect(try await run(service, "users", "show", "eda").output.contains("google.com:1"))
            let id = try #require(done.errors.firstMatch(of: #/undo-merge ([0-9a-f-]+)/#)).1
            let undone = try await run(service, "users", "undo-merge", String(id))
            #expect(undone.status == 0 && undone.output.contains("eda@example.com"), "\(undone)")
            #expect(try await run(service, "users", "undo-merge", String(id)).errors.contains("MERGE_NOT_FOUND"))
        }
    }

    @Test("users providers and providers stats say what the providers are to accounts")
    func providers() async throws {
        try await withAccounts { service in
            let linked = try json(try await run(service, "users", "providers", "u1002", "--json"))
            #expect(linked.count == 1 && linked.first?["provider"] == "google.com" && linked.first?["subject"] == "2")
            #expect(linked.first?["state"] == "active" && linked.first?["relay"] == "no")
            #expect(try await run(service, "users", "providers", "nobody").status == 1)
            let stats = try json(try await run(service, "providers", "stats", "--json"))
            let google = stats.first { $0["provider"] == "google.com" }
            #expect(google?["accounts"] == "500" && google?["dependentAccounts"] == "500" && google?["state"] == "on")
            let table = try await run(service, "providers", "stats")
            #expect(table.output.hasPrefix("PROVIDER    STATE  ACCOUNTS  DEPENDENT ACCOUNTS  USED"), "\(table)")
        }
    }

    @Test("each answers for a tenant as for the project, and for the one that is named alone")
    func tenants() async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let tenant = try await service.makeTenant("Northwind", ["allowPasswordSignup": true])
            _ = try await service.admin("accounts", ["localId": "outside", "email": "ada@example.com"])
            let link: JSON = ["localId": "inside", "linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "R"]]
            _ = try await service.admin(
                "tenants/\(tenant)/accounts",
                ["localId": "inside", "email": "ada@example.com", "password": "correct horse"]
            )
            try await service.admin("tenants/\(tenant)/accounts:update", link).expectOK()
            for command in [
                ["users", "list"], ["users", "find", "--email", "ada@example.com"], ["users", "query"],
            ] {
                for (place, id) in [([], "outside"), (["--tenant", tenant], "inside")] {
                    let found = try json(try await run(service, command + place + ["--json"]))
                    #expect(found.map { $0["localId"]?.string } == [id], "\(command) \(place)")
                }
            }
            let found = try json(try await run(service, "users", "show", "inside", "--tenant", tenant, "--json"))
            #expect(found.count == 1)
            #expect(try await run(service, "users", "show", "inside").status == 1)
            #expect(try await run(service, "users", "query", "--count", "--tenant", tenant).output == "1")
            let linked = try json(try await run(service, "users", "providers", "inside", "--tenant", tenant, "--json"))
            #expect(linked.map { $0["provider"] } == ["oidc.acme"])
            #expect(try await run(service, "users", "providers", "inside").status == 1)
            let stats = try json(try await run(service, "providers", "stats", "--tenant", tenant, "--json"))
            #expect(stats.first { $0["provider"] == "password" }?["accounts"] == "1")
            let others = try json(try await run(service, "providers", "stats", "--json"))
            #expect(others.first { $0["provider"] == "password" }?["accounts"] == "0")
            for command in [
                ["users", "list"], ["users", "show", "inside"], ["users", "find", "--email", "ada@example.com"],
                ["users", "query"], ["users", "query", "--count"], ["users", "providers", "inside"],
                ["providers", "stats"],
            ] {
                let none = try await run(service, command + ["--tenant", "nobody-x1y2z"])
                let said = "project '\(service.project.id)' has no tenant 'nobody-x1y2z'"
                #expect(none.status == 1 && none.output.isEmpty && none.errors.contains(said), "\(command): \(none)")
            }
        }
    }
}
