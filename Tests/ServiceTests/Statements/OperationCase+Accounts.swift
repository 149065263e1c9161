import Projects
import TestKit

extension OperationCase {
    static let accounts: [OperationCase] =
        [
            signedIn("signOut", "accounts:signOut", ["scope": "all"]), signedIn("delete", "accounts:delete"),
            signedIn("update, the profile", "accounts:update", ["displayName": "Ada"]),
            signedIn("update, the password", "accounts:update", ["password": "another horse"]),
            signedIn("update, the address", "accounts:update", ["email": "ada@example.net"]),
        ] + [
            OperationCase("delete, with a linked provider") { world in
                let user = try await world.acme(world.person())
                return { try await world.service.call("accounts:delete", ["idToken": JSON(user.idToken)]) }
            },
            OperationCase("update, a provider unlinked") { world in
                let user = try await world.acme(world.person())
                let body: JSON = ["idToken": JSON(user.idToken), "deleteProvider": ["oidc.acme"]]
                return { try await world.service.call("accounts:update", body) }
            },
            OperationCase("token") { world in
                let user = try await world.service.signUp(ada)
                return { try await world.service.refresh(user.refreshToken) }
            },
            OperationCase("token, with rotation", { $0.rotateRefreshTokens = true }) { world in
                let user = try await world.service.signUp(ada)
                return { try await world.service.refresh(user.refreshToken) }
            },
        ] + cookies

    private static let cookies: [OperationCase] = [
        withCookies("performWithCookies, a sign-in by password") { try await $0.signIn(ada) },
        withCookies("performWithCookies, a refresh") { try await $0.refresh() },
        withCookies("endCookies") { try await $0.signOut() },
    ]

    private static func withCookies(
        _ name: String,
        _ request: @escaping @Sendable (CookieApp) async throws -> Reply
    ) -> OperationCase {
        OperationCase(name, { $0.authorizedDomains = ["app.example.com"] }) { world in
            _ = try await world.service.signUp(ada)
            let app = CookieApp(world.service)
            try await app.signIn(ada)
            return { try await request(app) }
        }
    }

    private static func signedIn(_ name: String, _ path: String, _ body: JSON = [:]) -> OperationCase {
        OperationCase(name) { world in
            let user = try await world.service.signUp(ada)
            return { try await world.service.call(path, body.merging(["idToken": JSON(user.idToken)])) }
        }
    }
}
