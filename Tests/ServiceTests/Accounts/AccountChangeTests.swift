import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("Changing and removing accounts", .database, .testProvider, .serialized)
struct AccountChangeTests {
    private static let last = "OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed."

    private func update(_ world: LinkingWorld, _ user: Reply, _ members: JSON) async throws -> Reply {
        try await world.service.call("accounts:update", members.merging(["idToken": JSON(user.idToken)]))
    }

    @Test("unlinking the password keeps the address and its verification")
    func unlinksThePassword() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let linked = try await world.acme(world.person(), idToken: user.idToken)
            let reply = try await update(world, linked, ["deleteProvider": ["password", "facebook.com"]])
            reply.expectOK()
            #expect(reply.idToken == nil)
            #expect(reply["passwordHash"] == nil)
            let account = try #require(try await world.service.account(user.localID))
            #expect(account.providers == ["oidc.acme"])
            #expect(account["email"] == "ada@example.com")
            #expect(account["emailVerified"] == true)
            #expect(account["passwordUpdatedAt"] != nil)
            try await world.service.signInWithPassword("ada@example.com").expectRefused("INVALID_PASSWORD")
            try await world.service.signUp("ada@example.com").expectRefused("EMAIL_EXISTS")
            try await world.service.refresh(linked.refreshToken).expectOK()
        }
    }

    @Test(
        "unlinking the link of a mail, also by the name that SDKs know it by, and by an admin",
        arguments: [("emailLink", true), ("password", true), ("emailLink", false), ("password", false)]
    )
    func unlinksTheLink(_ name: String, _ byUser: Bool) async throws {
        try await MailScene.run { service in
            let first = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let user = try await service.signInWithLink("ada@example.com", first)
            #expect(try await service.account(user.localID)?["emailLinkSignin"] == true)
            let removal: JSON = ["deleteProvider": [.string(name)]]
            let reply =
                byUser
                ? try await service.call("accounts:update", removal.merging(["idToken": JSON(user.idToken)]))
                : try await service.admin("accounts:update", removal.merging(["localId": JSON(user.localID)]))
            reply.expectOK()
            let account = try #require(try await service.account(user.localID))
            #expect(account["emailLinkSignin"] == nil && account.providers == [], "\(account)")
            #expect(account["email"] == "ada@example.com" && account["emailVerified"] == true)
            // The address is still the user's, and opens the account again.
            let second = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            #expect(try await service.signInWithLink("ada@example.com", second).localID == user.localID)
        }
    }

    @Test("the link alone is unlinked, and the password stays")
    func keepsThePassword() async throws {
        try await MailScene.run { service in
            let first = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
            let user = try await service.signInWithLink("ada@example.com", first)
            let password: JSON = ["idToken": JSON(user.idToken), "password": "correct horse"]
            let both = try await service.call("accounts:update", password)
            let link: JSON = ["idToken": JSON(both.idToken), "deleteProvider": ["emailLink"]]
            try await service.call("accounts:update", link).expectOK()
            let account = try #require(try await service.account(user.localID))
            #expect(account["emailLinkSignin"] == nil && account.providers == ["password"], "\(account)")
            try await service.signInWithPassword("ada@example.com").expectOK()
        }
    }

    @Test("unlinking a provider frees its identity; signing in with it again finds the account by its address")
    func unlinksAProvider() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let linked = try await world.acme(world.person(), idToken: user.idToken)
            let reply = try await update(world, linked, ["deleteProvider": ["oidc.acme"]])
            #expect(reply["providerUserInfo"]?.array?.count == 1)
            #expect(try await world.service.account(user.localID)?.providers == ["password"])
            let other = try await world.service.signUp("eve@example.com")
            let nameless = world.person("R", email: nil)
            try await world.acme(nameless, idToken: other.idToken).expectSignedIn(as: other.localID)
            _ = try await update(world, other, ["deleteProvider": ["oidc.acme"]])
            try await world.acme(world.person()).expectSignedIn(as: user.localID)
        }
    }

    struct Removal: Sendable, CustomTestStringConvertible {
        var name: String
        var provider: Bool
        var password: Bool
        var members: JSON
        /// The provider proves the address.
        var verified = false
        var allowed: Bool
        var testDescription: String { name }
    }

    @Test(
        "T-A13: users cannot take their last way in, admins can",
        arguments: [
            Removal(
                name: "the password, of two",
                provider: true,
                password: true,
                members: ["deleteProvider": ["password"]],
                allowed: true
            ),
            Removal(
                name: "the password, alone",
                provider: false,
                password: true,
                members: ["deleteProvider": ["password"]],
                allowed: false
            ),
            Removal(
                name: "the password as an attribute, alone",
                provider: false,
                password: true,
                members: ["deleteAttribute": ["PASSWORD"]],
                allowed: false
            ),
            Removal(
                name: "the provider, alone",
                provider: true,
                password: false,
                members: ["deleteProvider": ["oidc.acme"]],
                allowed: false
            ),
            Removal(
                name: "the provider, alone, of a verified address",
                provider: true,
                password: false,
                members: ["deleteProvider": ["oidc.acme"]],
                verified: true,
                allowed: true
            ),
            Removal(
                name: "the provider with the address that it verified",
                provider: true,
                password: false,
                members: ["deleteProvider": ["oidc.acme"], "deleteAttribute": ["EMAIL"]],
                verified: true,
                allowed: false
            ),
            Removal(
                name: "both at once",
                provider: true,
                password: true,
                members: ["deleteProvider": ["oidc.acme", "password"]],
                allowed: false
            ),
            Removal(
                name: "one of each kind",
                provider: true,
                password: true,
                members: ["deleteProvider": ["oidc.acme"], "deleteAttribute": ["PASSWORD"]],
                allowed: false
            ),
            Removal(
                name: "one that is not there",
                provider: true,
                password: false,
                members: ["deleteProvider": ["google.com"]],
                allowed: true
            ),
            Removal(
                name: "the address of a password, alone",
                provider: false,
                password: true,
                members: ["deleteAttribute": ["EMAIL"]],
                allowed: false
            ),
            Removal(
                name: "the address of a password, of two",
                provider: true,
                password: true,
                members: ["deleteAttribute": ["EMAIL"]],
                allowed: true
            ),
            Removal(
                name: "the provider and the password's address",
                provider: true,
                password: true,
                members: ["deleteProvider": ["oidc.acme"], "deleteAttribute": ["EMAIL"]],
                allowed: false
            ),
        ]
    )
    func keepsTheLastMethod(removal: Removal) async throws {
        try await LinkingWorld.run { world in
            var user: Reply
            if removal.password {
                user = try await world.service.signUp("ada@example.com")
                if removal.provider {
                    user = try await world.acme(world.person(verified: removal.verified), idToken: user.idToken)
                }
            } else {
                user = try await world.acme(world.person(verified: removal.verified))
            }
            let before = try await world.service.account(user.localID)
            let reply = try await update(world, user, removal.members)
            if removal.allowed {
                reply.expectOK()
            } else {
                reply.expectRefused(Self.last)
                #expect(try await world.service.account(user.localID) == before)
                try await world.update(user.localID, removal.members)
            }
        }
        try await LinkingWorld.run({ $0.keepLastSignInMethod = false }) { world in
            let user = try await world.acme(world.person(verified: false))
            try await update(world, user, ["deleteProvider": ["oidc.acme"]]).expectOK()
        }
    }

    @Test("T-A13: in dev a provider without a configuration is a way in, one that is switched off is none")
    func countsUnconfiguredProviders() async throws {
        var options = LinkingWorld.options { $0.keepLastSignInMethod = true }
        options.development = true
        try await TestService.run(options) { service in
            func signIn(_ provider: String, idToken: String? = nil) async throws -> Reply {
                try await service.signInWithIdP(
                    postBody: #"id_token={"sub":"ada","email":"ada@example.com"}&providerId=\#(provider)"#,
                    idToken: idToken
                )
            }
            let user = try await signIn("google.com")
            _ = try await signIn("github.com", idToken: user.idToken)
            let last = try await signIn("facebook.com", idToken: user.idToken)
            last.expectOK()
            func unlink(_ provider: String) async throws -> Reply {
                try await service.call(
                    "accounts:update",
                    ["idToken": JSON(last.idToken), "deleteProvider": [.string(provider)]]
                )
            }
            for provider in ["google.com", "github.com"] {
                let reply = try await unlink(provider)
                #expect(reply.status == 200, "\(provider): \(reply)")
            }
            try await unlink("facebook.com").expectRefused(Self.last)
        }
    }

    @Test("T-A13: a verified address is a way in while mails open accounts, and not without")
    func countsVerifiedAddresses() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person())
            try await update(world, user, ["deleteProvider": ["oidc.acme"]]).expectOK()
            let ada: JSON = ["email": "ada@example.com"]
            let code = try await world.service.code(.passwordReset, ada, to: "ada@example.com")
            try await world.service.reset(code, to: "the owner's own").expectOK()
            let again = try await world.service.signInWithPassword("ada@example.com", "the owner's own")
            again.expectSignedIn(as: user.localID)
        }
        try await LinkingWorld.run({ $0.passwordSignIn = false }) { world in
            let user = try await world.acme(world.person())
            try await update(world, user, ["deleteProvider": ["oidc.acme"]]).expectRefused(Self.last)
        }
    }

    @Test("T-A13: a password without an address, or a provider that is switched off, is no way in")
    func countsUsableMethods() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let linked = try await world.acme(world.person(verified: false), idToken: user.idToken)
            let nameless = try await update(world, linked, ["deleteAttribute": ["EMAIL"]])
            nameless.expectOK()
            try await update(world, nameless, ["deleteProvider": ["oidc.acme"]]).expectRefused(Self.last)

            let second = try await world.service.signUp("eve@example.com")
            let two = try await world.github(
                world.githubPerson("5", email: "eve@example.com"),
                idToken: second.idToken
            )
            let off = try await world.service.admin(
                "defaultSupportedIdpConfigs/github.com?updateMask=enabled",
                ["enabled": false],
                method: "PATCH",
                version: "v2"
            )
            off.expectOK()
            try await update(world, two, ["deleteProvider": ["password"]]).expectRefused(Self.last)
        }
    }

    @Test("a deleted account is gone, and its address, number and identities are free")
    func deletes() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person())
            let linked = try await world.service.call(
                "accounts:signUp",
                ["idToken": JSON(user.idToken), "email": "ada@example.com", "password": "correct horse"]
            )
            #expect(linked.localID == user.localID, "\(linked)")
            try await world.update(user.localID, ["phoneNumber": "+491701234567"])
            let reply = try await world.service.call("accounts:delete", ["idToken": JSON(linked.idToken)])
            #expect(reply.json == ["kind": "identitytoolkit#DeleteAccountResponse"])
            #expect(try await world.service.account(user.localID) == nil)
            try await world.service.lookUp(linked.idToken).expectRefused("USER_NOT_FOUND")
            #expect(try await world.service.refresh(linked.refreshToken).error == "USER_NOT_FOUND")
            try await world.service.signInWithPassword("ada@example.com").expectRefused("EMAIL_NOT_FOUND")
            let again = try await world.acme(world.person())
            again.expectSignedIn(new: true)
            #expect(again.localID != user.localID)
            _ = try await world.account(["phoneNumber": "+491701234567"])
        }
        try await LinkingWorld.run({ $0.disabledUserDeletion = true }) { world in
            let user = try await world.service.signUp("ada@example.com")
            try await world.service.call("accounts:delete", ["idToken": JSON(user.idToken)])
                .expectRefused("ADMIN_ONLY_OPERATION")
        }
    }

    @Test("an anonymous account keeps its id when it gets a password")
    func upgradesAnonymous() async throws {
        try await LinkingWorld.run { world in
            let anonymous = try await world.service.call("accounts:signUp")
            #expect(anonymous.claims["firebase"]?["sign_in_provider"] == "anonymous")
            #expect(anonymous.claims["provider_id"] == "anonymous")
            #expect(anonymous.claims["firebase"]?["identities"] == [:])
            world.service.clock.advance(by: 30)
            let upgraded = try await world.service.call(
                "accounts:signUp",
                ["idToken": JSON(anonymous.idToken), "email": "ada@example.com", "password": "correct horse"]
            )
            #expect(upgraded.localID == anonymous.localID, "\(upgraded)")
            #expect(upgraded.claims["firebase"]?["sign_in_provider"] == "password")
            #expect(upgraded.claims["provider_id"] == nil)
            try await world.service.signInWithPassword("ada@example.com").expectSignedIn(as: anonymous.localID)
            let second = try await world.service.call("accounts:signUp")
            try await world.service.call(
                "accounts:signUp",
                ["idToken": JSON(second.idToken), "email": "ada@example.com", "password": "correct horse"]
            )
            .expectRefused("EMAIL_EXISTS")
        }
    }
}
