import Development
import Domain
import Foundation
import Projects
import Storage
import Testing
import TestKit

/// A stranger's account with another person's address, to which the app's back end can always sign in.
@Suite("Custom tokens and takeovers", .database, .testProvider)
struct CustomTokenTakeoverTests {
    private static let ada = "ada@example.com"

    /// How custom tokens came to be a way into the account.
    enum Origin: CaseIterable {
        /// The first token made it.
        case made
        /// A password did, and a token signed in later.
        case signedIn
        /// It took over the account of a token.
        case merged
        /// An import replaced it.
        case imported
    }

    /// The ways in which a person proves the address without signing in as the account.
    enum Arrival: CaseIterable { case provider, link, reset }

    private struct Scene {
        let world: LinkingWorld
        let backEnd: TestServiceAccount
        var service: TestService { world.service }

        func token(_ uid: String) throws -> String {
            try backEnd.sign(backEnd.payload(uid: uid, at: service.clock.seconds))
        }

        func signIn(_ token: String) async throws -> Reply {
            try await service.call(
                "accounts:signInWithCustomToken",
                ["token": .string(token), "returnSecureToken": true]
            )
        }

        /// - Returns: the account, and the ID that the back end calls it by.
        func squatter(_ origin: Origin) async throws -> (account: String, uid: String) {
            switch origin {
            case .made, .merged, .imported:
                let first = try await signIn(try token("mallory"))
                first.expectOK()
                if origin == .merged {
                    let other = try await service.signUp(CustomTokenTakeoverTests.ada, "the stranger's own")
                    let merged = try await service.merge("mallory", into: other.localID ?? "")
                    merged.expectOK()
                    return (other.localID ?? "", "mallory")
                }
                if origin == .imported {
                    let imported = try await service.admin(
                        "accounts:batchCreate",
                        [
                            "users": [["localId": "mallory", "email": .string(CustomTokenTakeoverTests.ada)]],
                            "allowOverwrite": true,
                        ]
                    )
                    #expect(imported.status == 200 && imported["error"] == nil, "\(imported)")
                    return ("mallory", "mallory")
                }
                let linked = try await service.call(
                    "accounts:signUp",
                    [
                        "idToken": JSON(first.idToken), "email": .string(CustomTokenTakeoverTests.ada),
                        "password": "the stranger's own",
                    ]
                )
                linked.expectOK()
                return ("mallory", "mallory")
            case .signedIn:
                let user = try await service.signUp(CustomTokenTakeoverTests.ada, "the stranger's own")
                try await signIn(try token(user.localID ?? "")).expectOK()
                return (user.localID ?? "", user.localID ?? "")
            }
        }

        func arrive(_ arrival: Arrival) async throws -> Reply {
            switch arrival {
            case .provider: return try await world.acme(world.person())
            case .link:
                let code = try await service.code(
                    .emailSignIn,
                    ["email": .string(CustomTokenTakeoverTests.ada)],
                    to: CustomTokenTakeoverTests.ada
                )
                return try await service.signInWithLink(CustomTokenTakeoverTests.ada, code)
            case .reset:
                let code = try await service.code(
                    .passwordReset,
                    ["email": .string(CustomTokenTakeoverTests.ada)],
                    to: CustomTokenTakeoverTests.ada
                )
                let reset = try await service.reset(code, to: "the owner's own")
                #expect(reset.status == 200 && reset["email"]?.string == CustomTokenTakeoverTests.ada, "\(reset)")
                try await service.reset(code, to: "the owner's own").expectRefused("INVALID_OOB_CODE")
                return try await service.signInWithPassword(CustomTokenTakeoverTests.ada, "the owner's own")
            }
        }
    }

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        try await LinkingWorld.run({
            $0.allowsEmailLink = true
            change(&$0)
        }) { world in
            let service = world.service
            let backEnd = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            try await body(Scene(world: world, backEnd: backEnd))
        }
    }

    @Test(
        "T-A17: the address leaves the account, and who proved it goes on as if nobody had it (S16)",
        arguments: Origin.allCases.flatMap { origin in Arrival.allCases.map { (origin, $0) } }
    )
    func leavesTheAccount(_ origin: Origin, _ arrival: Arrival) async throws {
        try await run { scene in
            let service = scene.service
            let (squatter, uid) = try await scene.squatter(origin)
            let before = try scene.token(uid)
            service.clock.advance(by: 5)
            let owner = try await scene.arrive(arrival)
            #expect(owner.status == 200 && owner.localID != squatter, "\(owner)")
            let account = try #require(try await service.account(owner.localID))
            #expect(account["email"]?.string == Self.ada && account["emailVerified"] == true, "\(account)")
            #expect(account["customAuth"] == nil)
            // The stranger's tokens, old and new, lead to what is left of the stranger's account.
            service.clock.advance(by: 5)
            for token in [before, try scene.token(uid)] {
                let stranger = try await scene.signIn(token)
                // An import and a merge end what was issued before.
                if stranger.status == 400, token == before {
                    #expect(origin == .merged || origin == .imported, "\(stranger)")
                    continue
                }
                #expect(stranger.claims["sub"]?.string == squatter, "\(stranger)")
                #expect(stranger.claims["email"] == nil, "\(stranger.claims)")
            }
            let left = try #require(try await service.account(squatter))
            #expect(left["email"] == nil && left["emailVerified"] != true && left["customAuth"] == true, "\(left)")
            try await service.signInWithPassword(Self.ada, "the stranger's own").expectAnyRefusal()
            try await service.refresh(owner.refreshToken).expectOK()
            try await service.lookUp(owner.idToken).expectOK()
        }
    }

    @Test("T-A17: a first custom token and a takeover at once: never both on one account", .twoNodes)
    func race() async throws {
        try await run { scene in
            let service = scene.service
            for round in 0..<20 {
                let address = "ada\(round)@example.com"
                let user = try await service.signUp(address, "the stranger's own")
                let token = try scene.token(user.localID ?? "")
                let person = scene.world.person("R\(round)", email: address)
                async let custom = scene.signIn(token)
                async let owner = scene.world.acme(person)
                let (stranger, victim) = try await (custom, owner)
                victim.expectOK()
                if victim.localID == user.localID {
                    // The token came first and has ended with everything else, or came too late.
                    if let refresh = stranger.refreshToken {
                        try await service.refresh(refresh).expectRefused("TOKEN_EXPIRED")
                    }
                } else {
                    #expect(try await service.account(user.localID)?["email"] == nil)
                }
            }
        }
    }

    @Test("T-A17: a token of before a takeover is refused, also where none had come before")
    func tokensOfBefore() async throws {
        try await run { scene in
            let service = scene.service
            let user = try await service.signUp(Self.ada, "the stranger's own")
            let before = try scene.token(user.localID ?? "")
            service.clock.advance(by: 5)
            let owner = try await scene.arrive(Arrival.provider)
            #expect(owner.localID == user.localID, "S7: \(owner)")
            try await scene.signIn(before).expectRefused(
                "INVALID_CUSTOM_TOKEN : The assertion was issued before the user's tokens were revoked"
            )
            #expect(try await service.account(user.localID)?["customAuth"] == nil)
        }
    }

    @Test("S11, S16: with sign-up closed the address stays where it is")
    func closed() async throws {
        try await run { scene in
            let (squatter, _) = try await scene.squatter(Origin.made)
            let reset = try await scene.service.code(.passwordReset, ["email": .string(Self.ada)], to: Self.ada)
            let settings: JSON = ["client": ["permissions": ["disabledUserSignup": true]]]
            let changed = try await scene.service.admin(
                "config?updateMask=client.permissions.disabledUserSignup",
                settings,
                method: "PATCH",
                version: "v2"
            )
            changed.expectOK()
            try await scene.world.acme(scene.world.person()).expectRefused("ADMIN_ONLY_OPERATION")
            try await scene.service.reset(reset, to: "the owner's own").expectRefused("ADMIN_ONLY_OPERATION")
            #expect(try await scene.service.account(squatter)?["email"]?.string == Self.ada)
        }
    }

    @Test("T-A17: a mail to an address that the account never verified brings it no email back")
    func recovery() async throws {
        try await run { scene in
            let service = scene.service
            let first = try await service.signUp(Self.ada, "the stranger's own")
            let moved = try await service.call(
                "accounts:update",
                ["idToken": JSON(first.idToken), "email": "eve@example.com"]
            )
            moved.expectOK()
            let code = try await service.mail(.recoverEmail, to: Self.ada).code
            try await scene.signIn(try scene.token(first.localID ?? "")).expectOK()
            try await service.apply(code).expectRefused("INVALID_OOB_CODE")
            #expect(try await service.account(first.localID)?["email"]?.string == "eve@example.com")
        }
    }

    @Test("S16: the log says what the account lost")
    func isRecorded() async throws {
        try await run { scene in
            let (squatter, _) = try await scene.squatter(Origin.made)
            let owner = try await scene.arrive(Arrival.provider)
            let log = try await scene.service.admin("auditEntries?localId=\(squatter)&action=ACCOUNT_UPDATED")
            let changes = log["auditEntries"]?.array?.compactMap { $0["changes"] } ?? []
            #expect(changes.contains(["email"]), "\(log)")
            #expect(owner["isNewUser"] == true)
        }
    }
}

extension Reply {
    fileprivate func expectAnyRefusal(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == 400, "\(self)", sourceLocation: sourceLocation)
    }
}
