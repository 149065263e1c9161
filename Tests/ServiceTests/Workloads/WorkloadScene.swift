import Development
import Foundation
import InMemoryLogging
import Projects
import Secrets
import Storage
import StrictJSON
import TestKit
import Testing

/// A platform whose jobs have tokens, and a workload that trusts one of them.
struct WorkloadScene: Sendable {
    var service: TestService
    /// Plays the platform: it signs, and publishes its keys.
    var platform: TestTenant
    var workload: Workload

    static let audience = "https://id.example.com"
    static let subject = "repo:acme/shop:environment:production"

    static func run(
        _ change: @Sendable (inout Workload, TestService) -> Void = { _, _ in },
        _ body: @Sendable (WorkloadScene) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            let platform = try await TestProvider.tenant(.genericOIDC)
            try await body(try await register(service, platform, change))
        }
    }

    /// Two nodes, and two workloads that trust the same token.
    static func runPair(_ body: @Sendable (WorkloadScene, WorkloadScene) async throws -> Void) async throws {
        try await TestService.runPair { first, second in
            let platform = try await TestProvider.tenant(.genericOIDC)
            let scene = try await register(first, platform)
            let other = try await register(second, platform)
            try await first.stores.configuration.refresh()
            try await body(scene, other)
        }
    }

    static func register(
        _ service: TestService,
        _ platform: TestTenant,
        _ change: @Sendable (inout Workload, TestService) -> Void = { _, _ in }
    ) async throws -> WorkloadScene {
        var workload = Workload(
            credential: AdminCredential(
                id: "",
                name: "deployments",
                project: service.project.id,
                scopes: [.readAccounts, .manageAccounts]
            ),
            issuer: platform.issuer,
            audience: audience,
            claims: ["sub": subject, "environment": "production"]
        )
        change(&workload, service)
        workload = try await service.stores.configuration.create(workload)
        return WorkloadScene(service: service, platform: platform, workload: workload)
    }

    /// A token as the platform gives it to the job, if nothing is changed.
    func token(
        of platform: TestTenant? = nil,
        set: JSONObject = [:],
        remove: Set<String> = [],
        _ change: (inout IDTokenChanges) -> Void = { _ in }
    ) throws -> String {
        let now = service.clock.seconds
        var claims: JSONObject = [
            "environment": "production", "jti": .string(UUID().uuidString), "iat": .integer(now),
            "exp": .integer(now + 300), "nbf": .integer(now),
        ]
        for member in set.members { claims[member.name] = member.value }
        for name in remove { claims[name] = nil }
        var changes = IDTokenChanges(set: claims, remove: remove.union(["azp"]))
        change(&changes)
        return try (platform ?? self.platform).mintIDToken(
            for: TestUser(Self.subject),
            client: Self.audience,
            changes: changes
        )
    }

    func exchange(_ token: String, _ more: [String: JSON] = [:]) async throws -> Reply {
        var body: [String: JSON] = [
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": .string(token),
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        ]
        body.merge(more) { $1 }
        return try await service.post("/token", text: JSON.object(body).text)
    }

    func accessToken(_ more: [String: JSON] = [:]) async throws -> String {
        let reply = try await exchange(try token(), more)
        return try #require(reply["access_token"]?.string, "\(reply)")
    }

    /// The one answer to a token that is not accepted.
    func expectRefused(
        _ token: String,
        _ more: [String: JSON] = [:],
        because reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        service.logs.clear()
        let reply = try await exchange(token, more)
        #expect(reply.status == 400, "\(reply)", sourceLocation: sourceLocation)
        #expect(
            reply.json == ["error": "invalid_request", "error_description": "The subject token is not accepted"],
            "\(reply)",
            sourceLocation: sourceLocation
        )
        let reasons = service.logs.entries.compactMap { $0.metadata["reason"].map { "\($0)" } }
        #expect(reasons == [reason], sourceLocation: sourceLocation)
    }

    /// Reads accounts, or makes one.
    func status(_ token: String, manages: Bool = false, project: String? = nil) async throws -> Int {
        let path = "/v1/projects/\(project ?? service.project.id.rawValue)/accounts\(manages ? "" : ":lookup")"
        let headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
        let body: JSON = manages ? [:] : ["localId": ["nobody"]]
        return try await service.send("POST", path, headers: headers, body: Array(body.text.utf8)).status
    }
}
