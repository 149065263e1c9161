import Development
import Postgres
import Projects
import TestKit
import Testing

@Suite("Changes of a busy configuration", .serialized, .timeLimit(.minutes(10)))
struct BusyConfigurationTests {
    /// What waits for the version's row.
    enum Change: String, CaseIterable, Sendable {
        case project, tenant, provider, addition

        /// The path of what is changed, and the method.
        func target(_ service: TestService) async throws -> (path: String, method: String) {
            switch self {
            case .project: return ("config", "PATCH")
            case .tenant:
                let made = try await service.admin("tenants", ["displayName": "Busy"], version: "v2")
                let name = try #require(made["name"]?.string)
                return ("tenants/\(name.split(separator: "/").last ?? "")", "PATCH")
            case .provider:
                let path = "oauthIdpConfigs?oauthIdpConfigId=oidc.busy"
                try await service.admin(path, Self.acme, version: "v2").expectOK()
                return ("oauthIdpConfigs/oidc.busy", "PATCH")
            case .addition: return ("oauthIdpConfigs?oauthIdpConfigId=oidc.busy-", "POST")
            }
        }

        func body(_ number: Int) -> JSON {
            switch self {
            case .project: ["identity": ["rotateRefreshTokens": .bool(number.isMultiple(of: 2))]]
            case .tenant, .provider: ["displayName": .string("Number-\(number)")]
            case .addition: Self.acme
            }
        }

        private static let acme: JSON = [
            "clientId": "ours", "issuer": "https://issuer.example", "enabled": true, "displayName": "Busy",
        ]
    }

    private static func options() -> TestService.Options {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        return options
    }

    @Test(
        "T-E11: changes of the configuration that wait for one another leave connections to requests",
        .database,
        arguments: Change.allCases
    )
    func leavesConnections(_ change: Change) async throws {
        try await TestService.run(Self.options()) { service in
            let user = try await service.signUp("ada@example.com")
            let (path, method) = try await change.target(service)
            let answered = Counter()
            let (held, end) = (TestGate(), TestGate())
            defer { end.open() }
            async let holder: Void = TestDatabase.current.client.transaction { transaction in
                try await transaction.execute("SELECT FROM configuration FOR UPDATE")
                held.open()
                await end.pass()
            }
            await held.pass()
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for number in 0..<70 {
                    group.addTask {
                        defer { answered.increment() }
                        return try await service.admin(
                            method == "POST" ? path + "\(number)" : path,
                            change.body(number),
                            method: method,
                            version: "v2"
                        )
                    }
                }
                // One waits for the row, and 64 for that one.
                try await waitUntil { answered.value >= 5 }
                try await service.lookUp(user.idToken).expectOK()
                end.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await holder
            let others = replies.filter { $0.status != 503 }
            #expect(others.count == 65 && others.allSatisfy { $0.status == 200 }, "\(others)")
        }
    }
}
