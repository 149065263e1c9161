import Domain
import Projects
import Testing
import TestKit

/// A call that asks for a recent sign-in, or does not.
struct AccountCall: Sendable, CustomTestStringConvertible {
    var name: String
    var path: String
    var body: JSON
    var testDescription: String { name }

    func call(_ world: LinkingWorld, _ idToken: String?) async throws -> Reply {
        try await world.service.call(path, body.merging(["idToken": JSON(idToken)]))
    }

    static let sensitive: [AccountCall] = [
        .init(name: "delete the account", path: "accounts:delete", body: [:]),
        .init(name: "change the email", path: "accounts:update", body: ["email": "new@example.com"]),
        .init(name: "set the password", path: "accounts:update", body: ["password": "another horse"]),
        .init(
            name: "link a password",
            path: "accounts:signUp",
            body: ["email": "ada@example.com", "password": "another horse"]
        ),
        .init(name: "remove the address", path: "accounts:update", body: ["deleteAttribute": ["EMAIL"]]),
        .init(name: "remove the password", path: "accounts:update", body: ["deleteAttribute": ["PASSWORD"]]),
        .init(name: "unlink the password", path: "accounts:update", body: ["deleteProvider": ["password"]]),
        .init(name: "unlink a phone number", path: "accounts:update", body: ["deleteProvider": ["phone"]]),
        .init(name: "end the other sessions", path: "accounts:update", body: ["validSince": "1"]),
        .init(name: "sign out elsewhere", path: "accounts:signOut", body: ["scope": "others"]),
        .init(
            name: "email and profile",
            path: "accounts:update",
            body: ["displayName": "Ada", "email": "new@example.com"]
        ),
    ]

    static let ordinary: [AccountCall] = [
        .init(name: "change the profile", path: "accounts:update", body: ["displayName": "Ada"]),
        .init(name: "unlink a provider", path: "accounts:update", body: ["deleteProvider": ["google.com"]]),
        .init(name: "look up", path: "accounts:lookup", body: [:]),
        .init(name: "list sessions", path: "accounts:listSessions", body: [:]),
    ]
}

@Suite("Recent sign-in through the API", .database, .testProvider, .serialized)
struct RecentSignInServiceTests {
    /// Ada has a password, Google and Acme.
    private func signIn(_ world: LinkingWorld) async throws -> Reply {
        let user = try await world.service.signUp("ada@example.com")
        let linked = try await world.google(world.googlePerson(), idToken: user.idToken)
        linked.expectSignedIn(as: user.localID)
        let second = try await world.acme(world.person(), idToken: linked.idToken)
        second.expectSignedIn(as: user.localID)
        return second
    }

    @Test(
        "T-A15: sensitive operations want a sign-in of the last five minutes, which a refresh is not",
        arguments: AccountCall.sensitive
    )
    func wantsARecentSignIn(operation: AccountCall) async throws {
        try await LinkingWorld.run { world in
            let user = try await signIn(world)
            let before = try await world.service.account(user.localID)
            world.service.clock.advance(by: 301)
            try await operation.call(world, user.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let refreshed = try await world.service.refresh(user.refreshToken)
            try await operation.call(world, refreshed.idToken).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            #expect(
                try await world.service.account(user.localID)?.without("lastRefreshAt")
                    == before?.without("lastRefreshAt")
            )
            let again = try await world.service.signInWithPassword("ada@example.com")
            world.service.clock.advance(by: 300)
            let reply = try await operation.call(world, again.idToken)
            reply.expectOK()
        }
    }

    @Test("T-A15: changes that are not sensitive need no recent sign-in", arguments: AccountCall.ordinary)
    func needsNone(operation: AccountCall) async throws {
        try await LinkingWorld.run { world in
            let user = try await signIn(world)
            world.service.clock.advance(by: 3000)
            let reply = try await operation.call(world, user.idToken)
            reply.expectOK()
        }
    }

    @Test("T-A15: linking a provider needs no recent sign-in")
    func linksWithoutOne() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            world.service.clock.advance(by: 3000)
            try await world.acme(world.person(), idToken: user.idToken).expectSignedIn(as: user.localID)
        }
    }

    @Test(
        "the window is a project's choice, and zero asks for nothing",
        arguments: [(600, 601), (0, 3000)] as [(Int64, Double)]
    )
    func followsTheSetting(window: Int64, age: Double) async throws {
        try await LinkingWorld.run({ $0.recentSignInSeconds = window }) { world in
            let user = try await world.service.signUp("ada@example.com")
            world.service.clock.advance(by: 599)
            let early = try await world.service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "new@example.com"]
            )
            early.expectOK()
            world.service.clock.advance(by: age)
            let late = try await world.service.call("accounts:delete", ["idToken": JSON(early.idToken)])
            if window == 0 {
                late.expectOK()
            } else {
                late.expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            }
        }
    }
}
