import Development
import Domain
import Postgres
import Projects
import StrictJSON
import Testing
import TestKit

@Suite("Linking through the API", .database, .testProvider, .serialized)
struct LinkAPITests {
    private static let inBand: JSON = ["returnIdpCredential": true]
    private static let asError: JSON = ["returnIdpCredential": false]

    @Test("K1: a token that is bad is an error, whatever was asked for")
    func refusesBadTokens() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("eve@example.com")
            for (token, error) in [
                (" ", "INVALID_ID_TOKEN"), ("x", "INVALID_ID_TOKEN"), (user.refreshToken ?? "", "INVALID_ID_TOKEN"),
            ] {
                try await world.acme(world.person(), idToken: token, Self.inBand).expectRefused(error)
            }
            _ = try await world.service.admin("accounts:delete", ["localId": JSON(user.localID)])
            try await world.acme(world.person(), idToken: user.idToken, Self.inBand).expectRefused("USER_NOT_FOUND")
            let late = try await world.service.signUp("late@example.com")
            world.service.clock.advance(by: 3601)
            try await world.acme(world.person(), idToken: late.idToken, Self.inBand).expectRefused("INVALID_ID_TOKEN")
            #expect(
                try await world.service.admin(
                    "accounts:lookup",
                    ["federatedUserId": [["providerId": "oidc.acme", "rawId": "R"]]]
                )["users"] == nil
            )
        }
    }

    @Test(
        "K2: another account has the identity; the credential comes back and signs in there",
        arguments: [false, true]
    )
    func refusesAnothersIdentity(duplicates: Bool) async throws {
        try await LinkingWorld.run({ $0.allowDuplicateEmails = duplicates }) { world in
            let owner = try await world.acme(world.person())
            let user = try await world.service.signUp("eve@example.com")
            let before = try await world.service.account(user.localID)
            try await world.acme(world.person(), idToken: user.idToken, Self.asError)
                .expectRefused("FEDERATED_USER_ID_ALREADY_LINKED")
            let refused = try await world.acme(world.person(), idToken: user.idToken, Self.inBand)
            refused.expectLinkRefused("FEDERATED_USER_ID_ALREADY_LINKED")
            #expect(refused["email"] == "ada@example.com")
            #expect(try await world.service.account(user.localID) == before)
            try await world.resume(refused.pendingToken).expectSignedIn(as: owner.localID)
        }
    }

    @Test("K3: the account has another subject of the provider")
    func refusesASecondSubject() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person("first"))
            let second = world.person("second", email: nil)
            try await world.acme(second, idToken: user.idToken, Self.asError).expectRefused("PROVIDER_ALREADY_LINKED")
            // Never in band, where the SDK for Apple platforms does not know the code and ends the app.
            try await world.acme(second, idToken: user.idToken, Self.inBand).expectRefused("PROVIDER_ALREADY_LINKED")
            let account = try await world.service.account(user.localID)
            #expect(account?["providerUserInfo"]?[0]?["rawId"] == "first")
        }
    }

    @Test("K4: the account has this identity already: tokens, and nothing changes")
    func keepsTheSame() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person())
            let before = try await world.service.account(user.localID)
            world.service.clock.advance(by: 400)
            for answer in [Self.asError, Self.inBand] {
                let again = try await world.acme(world.person(), idToken: user.idToken, answer)
                again.expectSignedIn(as: user.localID)
                #expect(again["isNewUser"] == nil && again["errorMessage"] == nil, "\(again)")
                // It proves the identity, not that the account's user is here.
                #expect(again.claims["auth_time"] == user.claims["auth_time"])
                #expect(again.claims["firebase"]?["sid"] == user.claims["firebase"]?["sid"])
                let delete: JSON = ["idToken": JSON(again.idToken)]
                try await world.service.call("accounts:delete", delete).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            }
            let after = try await world.service.account(user.localID)
            #expect(after?["providerUserInfo"] == before?["providerUserInfo"])
            // A provider that reported somebody else at the account is not got around, as at a sign-in.
            _ = try await TestDatabase.current.client.execute(
                """
                UPDATE credential_subjects SET blocked_at = now()
                WHERE project = \(world.service.project.id.rawValue) AND provider = 'oidc.acme'
                """
            )
            try await world.acme(world.person(), idToken: user.idToken, Self.inBand).expectRefused("USER_DISABLED")
        }
    }

    @Test("K5: the address is another account's, proven or not", arguments: [true, false])
    func refusesAnothersAddress(proven: Bool) async throws {
        try await LinkingWorld.run { world in
            let owner = try await world.service.signUp("ada@example.com")
            let user = try await world.service.signUp("eve@example.com")
            let person = world.person(verified: proven)
            try await world.acme(person, idToken: user.idToken, Self.asError).expectRefused("EMAIL_EXISTS")
            try await world.acme(person, idToken: user.idToken, Self.inBand).expectLinkRefused("EMAIL_EXISTS")
            #expect(try await world.service.account(owner.localID)?.providers == ["password"])
            #expect(try await world.service.account(user.localID)?.providers == ["password"])
        }
    }

    @Test("K6: with several accounts per email the address is no obstacle")
    func linksWithDuplicates() async throws {
        try await LinkingWorld.run({ $0.allowDuplicateEmails = true }) { world in
            _ = try await world.service.signUp("ada@example.com")
            let user = try await world.service.signUp("eve@example.com")
            let linked = try await world.acme(world.person(), idToken: user.idToken, Self.inBand)
            linked.expectSignedIn(as: user.localID)
            let account = try await world.service.account(user.localID)
            #expect(account?["email"] == "eve@example.com")
            #expect(account?.providers == ["oidc.acme", "password"])
            let anonymous = try await world.service.call("accounts:signUp")
            let upgraded = try await world.acme(world.person("other"), idToken: anonymous.idToken, Self.inBand)
            upgraded.expectSignedIn(as: anonymous.localID)
            #expect(try await world.service.account(anonymous.localID)?["email"] == nil)
        }
    }

    @Test("R-33: several providers on one account, and each signs in")
    func linksSeveral() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("eve@example.com")
            try await world.update(user.localID, ["customAttributes": #"{"role":"captain"}"#])
            world.service.clock.advance(by: 30)
            let first = try await world.acme(world.person(), idToken: user.idToken)
            first.expectSignedIn(as: user.localID)
            #expect(first.claims["firebase"]?["sign_in_provider"] == "oidc.acme")
            #expect(first.claims["auth_time"] == user.claims["auth_time"])
            #expect(first.claims["role"] == "captain")
            #expect(first["email"] == "ada@example.com")
            let second = try await world.google(
                world.googlePerson("9", email: "third@example.com"),
                idToken: first.idToken
            )
            second.expectSignedIn(as: user.localID)
            let third = try await world.github(
                world.githubPerson("8", email: "fourth@example.com"),
                idToken: second.idToken
            )
            third.expectSignedIn(as: user.localID)
            let account = try #require(try await world.service.account(user.localID))
            #expect(account.providers == ["github.com", "google.com", "oidc.acme", "password"])
            #expect(account["email"] == "eve@example.com")
            #expect(account["emailVerified"] == false)
            // Old tokens live on; the renewed session's are good.
            try await world.service.lookUp(user.idToken).expectOK()
            try await world.service.refresh(third.refreshToken).expectOK()
            try await world.acme(world.person()).expectSignedIn(as: user.localID)
            try await world.google(world.googlePerson("9", email: "third@example.com")).expectSignedIn(as: user.localID)
            try await world.github(world.githubPerson("8", email: "fourth@example.com"))
                .expectSignedIn(as: user.localID)
            try await world.service.signInWithPassword("eve@example.com").expectSignedIn(as: user.localID)
        }
    }

    @Test("K7: an anonymous account becomes permanent, under its own id", arguments: [true, false])
    func upgradesAnonymous(proven: Bool) async throws {
        try await LinkingWorld.run { world in
            let anonymous = try await world.service.call("accounts:signUp")
            #expect(anonymous.claims["provider_id"] == "anonymous")
            let linked = try await world.acme(world.person(verified: proven), idToken: anonymous.idToken)
            linked.expectSignedIn(as: anonymous.localID)
            #expect(linked["emailVerified"] == .bool(proven))
            #expect(linked.claims["provider_id"] == nil)
            let account = try #require(try await world.service.account(anonymous.localID))
            #expect(account["email"] == "ada@example.com")
            #expect(account["emailVerified"] == .bool(proven))
            #expect(account["initialEmail"] == nil)
            try await world.acme(world.person(verified: proven)).expectSignedIn(as: anonymous.localID)
            try await world.service.signUp("ada@example.com").expectRefused("EMAIL_EXISTS")
        }
    }

    @Test("K7: the provider proves the account's own address; password and sessions stay")
    func verifiesTheAddress() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let elsewhere = try await world.service.signInWithPassword("ada@example.com")
            world.service.clock.advance(by: 30)
            let linked = try await world.acme(world.person(), idToken: user.idToken)
            linked.expectSignedIn(as: user.localID)
            #expect(linked["emailVerified"] == true)
            #expect(linked.claims["email_verified"] == true)
            let account = try await world.service.account(user.localID)
            #expect(account?["emailVerified"] == true)
            try await world.service.refresh(elsewhere.refreshToken).expectOK()
            try await world.service.signInWithPassword("ada@example.com").expectSignedIn(as: user.localID)
        }
    }

    @Test("K7: the address without proof verifies nothing")
    func verifiesNothingUnproven() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            let linked = try await world.github(world.githubPerson(), idToken: user.idToken)
            linked.expectSignedIn(as: user.localID)
            #expect(linked["emailVerified"] == false)
            #expect(try await world.service.account(user.localID)?["emailVerified"] == false)
        }
    }

    @Test("R-34: reauthentication opens the window for sensitive operations, for the same user alone")
    func reauthenticates() async throws {
        try await LinkingWorld.run { world in
            world.acme.everyLogin(world.person())
            let user = try await world.service.signIn(through: "oidc.acme")
            user.expectSignedIn(new: true)
            world.service.clock.advance(by: 301)
            let change: JSON = ["idToken": JSON(user.idToken), "email": "new@example.com"]
            try await world.service.call("accounts:update", change).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let again = try await world.service.signIn(through: "oidc.acme", start: ["authType": "reauthViaPopup"])
            again.expectSignedIn(as: user.localID)
            #expect(again.claims["auth_time"]?.number == Double(world.service.clock.seconds))
            let changed = try await world.service.call(
                "accounts:update",
                change.merging(["idToken": JSON(again.idToken)])
            )
            #expect(changed["newEmail"] == "new@example.com")
            // Somebody else at the same provider, unknown here: refused without an account.
            world.acme.everyLogin(world.person("stranger", email: "stranger@example.com"))
            try await world.service.signIn(through: "oidc.acme", start: ["authType": "reauthViaPopup"])
                .expectRefused("EMAIL_NOT_FOUND")
            try await world.acme(world.person("stranger", email: "stranger@example.com"), ["autoCreate": false])
                .expectRefused("EMAIL_NOT_FOUND")
            // Nor with the account's own address: reauthentication links nothing.
            let before = try await world.service.account(user.localID)
            world.acme.everyLogin(world.person("stranger", email: "new@example.com"))
            try await world.service.signIn(through: "oidc.acme", start: ["authType": "reauthViaPopup"])
                .expectRefused("EMAIL_NOT_FOUND")
            #expect(try await world.service.account(user.localID) == before)
        }
    }

    @Test("R-34: reauthentication as somebody else who has an account leaves the first one's window closed")
    func reauthenticatesAsAnother() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person())
            let other = try await world.acme(world.person("other", email: "other@example.com"))
            world.service.clock.advance(by: 301)
            for reply in try await [
                world.acme(world.person("other", email: "other@example.com"), ["autoCreate": false]),
                {
                    world.acme.everyLogin(world.person("other", email: "other@example.com"))
                    return try await world.service.signIn(through: "oidc.acme", start: ["authType": "reauthViaPopup"])
                }(),
            ] {
                // The SDK compares the accounts, and says `user-mismatch`.
                reply.expectSignedIn(as: other.localID)
                let change: JSON = ["idToken": JSON(user.idToken), "email": "new@example.com"]
                try await world.service.call("accounts:update", change)
                    .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            }
        }
    }

    @Test("an admin links without proof, but never what another account has")
    func adminLinks() async throws {
        try await LinkingWorld.run { world in
            let owner = try await world.acme(world.person())
            let target = try await world.account(["email": "eve@example.com"])
            let taken: JSON = [
                "localId": .string(target), "linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "R"],
            ]
            try await world.service.admin("accounts:update", taken).expectRefused("FEDERATED_USER_ID_ALREADY_LINKED")
            try await world.update(target, ["linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "R2"]])
            try await world.acme(world.person("R2", email: nil)).expectSignedIn(as: target)
            #expect(try await world.service.account(owner.localID)?.providers == ["oidc.acme"])
            for bad: JSON in [["providerId": "oidc.acme"], ["rawId": "x"]] {
                try await world.service.admin(
                    "accounts:update",
                    ["localId": .string(target), "linkProviderUserInfo": bad]
                )
                .expectRefused("MISSING_IDENTIFIER : providerId & rawId are both required for provider linking")
            }
            try await world.service.admin(
                "accounts:update",
                ["localId": .string(target), "linkProviderUserInfo": ["providerId": "password", "rawId": "x"]]
            )
            .expectRefused(Messages.unsupportedProvider)
        }
    }
}
