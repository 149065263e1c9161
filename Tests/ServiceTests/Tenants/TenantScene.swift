import Development
import Domain
import Projects
import Storage
import Testing
import TestKit

/// A project with two tenants in which everything is switched on, each with its own configuration of `oidc.acme`.
struct TenantScene: Sendable {
    let world: LinkingWorld
    /// Their ids.
    let first: String
    let second: String

    var service: TestService { world.service }

    static func run<R: Sendable>(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TenantScene) async throws -> R
    ) async throws -> R {
        try await LinkingWorld.run({
            $0.allowsTenants = true
            $0.phone.isEnabled = true
            change(&$0)
        }) { world in
            let first = try await world.service.makeTenant("first", everything)
            let second = try await world.service.makeTenant("second", everything)
            for tenant in [first, second] {
                try await world.service.stores.configuration.createProvider(
                    world.acme.configuration(as: LinkingWorld.acmeID),
                    in: Scope(project: world.service.project.id, tenant: TenantID(rawValue: tenant))
                )
            }
            return try await body(TenantScene(world: world, first: first, second: second))
        }
    }

    static let number = "+4915550100"

    static let everything: JSON = [
        "allowPasswordSignup": true, "enableEmailLinkSignin": true, "enableAnonymousUser": true,
        "testPhoneNumbers": [number: "112233"],
        "mfaConfig": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]],
    ]

    /// A native ID token of Acme for somebody, as a sign-in or a link takes it.
    func acme(_ user: TestUser, in tenant: String?, idToken: String? = nil) async throws -> Reply {
        try await world.acme(user, idToken: idToken, ["tenantId": JSON(tenant)])
    }

    func signUp(_ email: String = "ada@example.com", in tenant: String?) async throws -> Reply {
        try await service.call(
            "accounts:signUp",
            ["email": .string(email), "password": "correct horse", "tenantId": JSON(tenant)]
        )
    }

    func signIn(_ email: String = "ada@example.com", in tenant: String?) async throws -> Reply {
        try await service.call(
            "accounts:signInWithPassword",
            ["email": .string(email), "password": "correct horse", "tenantId": JSON(tenant)]
        )
    }

    /// As an admin sees it; nil when there is none.
    func account(_ localID: String?, in tenant: String) async throws -> JSON? {
        try await service.admin("tenants/\(tenant)/accounts:lookup", ["localId": [JSON(localID)]])["users"]?[0]
    }
}

extension TestService {
    /// - Returns: its id.
    func makeTenant(_ name: String, _ members: JSON = [:]) async throws -> String {
        let reply = try await admin("tenants", members.merging(["displayName": .string(name)]), version: "v2")
        reply.expectOK()
        let id = reply["name"]?.string?.split(separator: "/").last
        return String(try #require(id, "\(reply)"))
    }

    func tenant(_ id: String) async throws -> Reply { try await admin("tenants/\(id)", version: "v2") }

    func updateTenant(_ id: String, mask: String? = nil, _ members: JSON) async throws -> Reply {
        let query = mask.map { "?updateMask=\($0)" } ?? ""
        return try await admin("tenants/\(id)\(query)", members, method: "PATCH", version: "v2")
    }

    func deleteTenant(_ id: String) async throws -> Reply {
        try await admin("tenants/\(id)", method: "DELETE", version: "v2")
    }
}

extension Reply {
    /// The tenant of its ID token.
    var tenant: String? { claims["firebase"]?["tenant"]?.string }
}
