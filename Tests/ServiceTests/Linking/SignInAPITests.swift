import Development
import Domain
import Projects
import StrictJSON
import Testing
import TestKit

@Suite("Sign-in through the API", .database, .testProvider, .serialized)
struct SignInAPITests {
    @Test("S1: the identity's account signs in, whichever account has the address")
    func signsInTheOwner() async throws {
        try await LinkingWorld.run { world in
            let first = try await world.acme(world.person(email: nil))
            first.expectSignedIn(new: true)
            let other = try await world.service.signUp("ada@example.com")
            let before = try await world.service.account(first.localID)
            world.service.clock.advance(by: 60)
            let again = try await world.acme(world.person())
            again.expectSignedIn(as: first.localID)
            #expect(again["email"] == "ada@example.com")
            #expect(again["emailVerified"] == true)
            #expect(again["federatedId"] == "oidc.acme/R")
            let after = try #require(try await world.service.account(first.localID))
            #expect(
                after.without("lastLoginAt", "lastRefreshAt", "providerUserInfo")
                    == before?.without("lastLoginAt", "lastRefreshAt", "providerUserInfo"),
                "the stored account stays as it is"
            )
            #expect(after["providerUserInfo"]?[0]?["email"] == "ada@example.com", "what the provider says now")
            #expect(after["lastLoginAt"]?.string == "\(world.service.clock.seconds)000")
            #expect(try await world.service.account(other.localID)?.providers == ["password"])
        }
    }

    @Test("S2: a disabled owner is refused on every path")
    func refusesADisabledOwner() async throws {
        try await LinkingWorld.run { world in
            let owner = try await world.acme(world.person())
            let signedUp = try await world.service.signUp("eve@example.com")
            let password = try await world.service.signInWithPassword("eve@example.com")
            try await world.update(owner.localID, ["disableUser": true])
            try await world.update(signedUp.localID, ["disableUser": true])
            try await world.acme(world.person()).expectRefused("USER_DISABLED")
            world.acme.nextLogin(world.person())
            try await world.service.signIn(through: "oidc.acme").expectRefused("USER_DISABLED")
            try await world.service.lookUp(owner.idToken).expectRefused("USER_DISABLED")
            #expect(try await world.service.refresh(owner.refreshToken).error == "USER_DISABLED")
            try await world.google(world.googlePerson(), idToken: owner.idToken).expectRefused("USER_DISABLED")
            try await world.service.signInWithPassword("eve@example.com").expectRefused("USER_DISABLED")
            try await world.service.signInWithPassword("eve@example.com", "wrong horse")
                .expectRefused("INVALID_PASSWORD")
            try await world.service.call("accounts:update", ["idToken": JSON(password.idToken), "displayName": "Eve"])
                .expectRefused("USER_DISABLED")
            try await world.service.call("accounts:delete", ["idToken": JSON(password.idToken)])
                .expectRefused("USER_DISABLED")
            #expect(try await world.service.account(owner.localID)?.providers == ["oidc.acme"])
            try await world.update(owner.localID, ["disableUser": false])
            try await world.acme(world.person()).expectSignedIn(as: owner.localID)
        }
    }

    @Test("S3: an identity without an address opens an account without one")
    func opensWithoutAnAddress() async throws {
        try await LinkingWorld.run { world in
            let reply = try await world.acme(world.person(email: nil))
            reply.expectSignedIn(new: true)
            #expect(reply["emailVerified"] == false)
            #expect(reply["email"] == nil)
            #expect(reply.claims["email"] == nil)
            #expect(reply.claims["email_verified"] == nil)
            let account = try #require(try await world.service.account(reply.localID))
            #expect(account["email"] == nil)
            #expect(account["emailVerified"] == nil)
            #expect(account["displayName"] == "Ada of Acme")
        }
    }

    @Test("S4: a new address becomes the account's own, proven or not", arguments: [true, false])
    func opensWithTheAddress(proven: Bool) async throws {
        try await LinkingWorld.run { world in
            let reply = try await world.acme(world.person(email: "Ada@Example.com", verified: proven))
            reply.expectSignedIn(new: true)
            #expect(reply["email"] == "ada@example.com")
            #expect(reply["emailVerified"] == .bool(proven))
            #expect(reply.claims["email"] == "ada@example.com")
            #expect(reply.claims["email_verified"] == .bool(proven))
            let account = try #require(try await world.service.account(reply.localID))
            #expect(account["emailVerified"] == .bool(proven))
            try await world.service.signUp("ADA@example.com").expectRefused("EMAIL_EXISTS")
        }
    }

    @Test("S10: the identity is unknown, and the caller wants an existing account")
    func opensNothingWithoutAutoCreate() async throws {
        try await LinkingWorld.run { world in
            try await world.acme(world.person(), ["autoCreate": false]).expectRefused("EMAIL_NOT_FOUND")
            try await world.acme(world.person(email: nil), ["autoCreate": false]).expectRefused("EMAIL_NOT_FOUND")
            world.acme.everyLogin(world.person())
            try await world.service.signIn(through: "oidc.acme", start: ["authType": "reauthViaPopup"])
                .expectRefused("EMAIL_NOT_FOUND")
            #expect(try await world.service.admin("accounts:batchGet")["users"] == nil)
            let reply = try await world.acme(world.person())
            reply.expectSignedIn(new: true)
            try await world.acme(world.person(), ["autoCreate": false]).expectSignedIn(as: reply.localID)
        }
    }

    @Test("S5 to S7 in reauthentication: the address finds no account, nothing is linked", arguments: [true, false])
    func reauthenticationLinksNothing(verified: Bool) async throws {
        try await LinkingWorld.run { world in
            let owner = try await world.account(["email": "ada@example.com", "emailVerified": .bool(verified)])
            let before = try await world.service.account(owner)
            world.acme.everyLogin(world.person())
            try await world.service.signIn(through: "oidc.acme", start: ["authType": "reauthViaRedirect"])
                .expectRefused("EMAIL_NOT_FOUND")
            // SDKs that have the credential say it this way.
            try await world.acme(world.person(), ["autoCreate": false]).expectRefused("EMAIL_NOT_FOUND")
            #expect(try await world.service.account(owner) == before)
        }
    }

    @Test("S11: sign-up is closed on every path that would open an account")
    func opensNothingWhenClosed() async throws {
        try await LinkingWorld.run({ $0.disabledUserSignup = true }) { world in
            try await world.acme(world.person()).expectRefused("ADMIN_ONLY_OPERATION")
            try await world.acme(world.person(email: nil)).expectRefused("ADMIN_ONLY_OPERATION")
            try await world.service.signUp("ada@example.com").expectRefused("ADMIN_ONLY_OPERATION")
            try await world.service.call("accounts:signUp").expectRefused("ADMIN_ONLY_OPERATION")
            #expect(try await world.service.admin("accounts:batchGet")["users"] == nil)
            let owner = try await world.account(["email": "ada@example.com", "emailVerified": true])
            try await world.acme(world.person()).expectSignedIn(as: owner)
        }
    }

    @Test("D1, D2: several accounts per email: the address links nothing and is no conflict")
    func keepsAccountsApart() async throws {
        try await LinkingWorld.run({ $0.allowDuplicateEmails = true }) { world in
            let owner = try await world.account(
                ["email": "ada@example.com", "emailVerified": true, "password": "correct horse"]
            )
            let before = try await world.service.account(owner)
            for verified in [true, false] {
                let subject = "R\(verified)"
                let reply = try await world.acme(world.person(subject, verified: verified))
                reply.expectSignedIn(new: true)
                #expect(reply.localID != owner)
                #expect(reply["email"] == "ada@example.com")
                #expect(reply["emailVerified"] == .bool(verified))
                #expect(reply.claims["email"] == nil)
                let account = try #require(try await world.service.account(reply.localID))
                #expect(account["email"] == nil)
                #expect(account["providerUserInfo"]?[0]?["email"] == "ada@example.com")
                try await world.acme(world.person(subject, verified: verified)).expectSignedIn(as: reply.localID)
            }
            #expect(try await world.service.account(owner) == before)
            try await world.service.signUp("ada@example.com").expectRefused("EMAIL_EXISTS")
        }
    }

    @Test("R-30, R-31, R-32, R-42: the provider's profile, its own id and its tokens come with the sign-in")
    func givesWhatTheProviderSaid() async throws {
        try await LinkingWorld.run { world in
            let user = world.acme.addUser(
                TestUser(
                    "00u1|Ada/λ",
                    email: "ada@example.com",
                    name: "Ada Lovelace",
                    givenName: "Ada",
                    familyName: "Lovelace",
                    picture: "https://acme.example/ada.png",
                    claims: ["department": "engines"]
                )
            )
            world.acme.everyLogin(user)
            let reply = try await world.service.signIn(through: "oidc.acme", start: ["oauthScope": "email profile"])
            reply.expectSignedIn(new: true)
            let profile = try JSON(parsing: Array((reply["rawUserInfo"]?.string ?? "").utf8))
            #expect(profile["sub"] == "00u1|Ada/λ")
            #expect(profile["department"] == "engines")
            #expect(reply["displayName"] == "Ada Lovelace" && reply["fullName"] == "Ada Lovelace")
            #expect(reply.claims["sub"] == reply["localId"])
            #expect(reply["firstName"] == "Ada")
            #expect(reply["lastName"] == "Lovelace")
            #expect(reply["photoUrl"] == "https://acme.example/ada.png")
            // The provider's ID token, as it came.
            #expect(Reply.claims(of: reply["oauthIdToken"]?.string ?? "")["sub"] == "00u1|Ada/λ")
            // Its access token opens the provider's API.
            let userInfo = try await PlainHTTP.send(
                "GET",
                try #require(world.acme.url(.userinfo)),
                headers: [("Authorization", "Bearer \(reply["oauthAccessToken"]?.string ?? "")")]
            )
            userInfo.expectOK()
            #expect(try JSON(parsing: userInfo.body)["sub"] == "00u1|Ada/λ")
            // What the account shows to its user and to tokens.
            let shown = try await world.service.lookUp(reply.idToken)["users"]?[0]
            let entry = shown?["providerUserInfo"]?[0]
            #expect(entry?["rawId"] == "00u1|Ada/λ")
            #expect(entry?["federatedId"] == "00u1|Ada/λ")
            #expect(shown?["displayName"] == "Ada Lovelace")
            #expect(shown?["photoUrl"] == "https://acme.example/ada.png")
            #expect(reply.claims["sub"] == reply["localId"])
            #expect(reply.claims["user_id"] == reply["localId"])
            #expect(reply.claims["name"] == "Ada Lovelace")
            #expect(reply.claims["firebase"]?["identities"]?["oidc.acme"] == ["00u1|Ada/λ"])
            #expect(reply.claims["firebase"]?["sign_in_provider"] == "oidc.acme")
        }
    }

    @Test("R-36: the sign-in methods of an address, and nothing at all under enumeration protection")
    func listsMethods() async throws {
        let ask: JSON = ["identifier": "ADA@example.com", "continueUri": "http://localhost/"]
        try await LinkingWorld.run { world in
            let owner = try await world.account(
                ["email": "ada@example.com", "emailVerified": true, "password": "correct horse"]
            )
            try await world.acme(world.person()).expectSignedIn(as: owner)
            try await world.github(world.githubPerson("7", email: "hub@example.com")).expectSignedIn(new: true)
            let known = try await world.service.call("accounts:createAuthUri", ask)
            #expect(known["registered"] == true)
            #expect(known["signinMethods"] == ["password", "oidc.acme"])
            #expect(known["allProviders"] == ["password", "oidc.acme"])
            let unknown = try await world.service.call(
                "accounts:createAuthUri",
                ask.merging(["identifier": "eve@example.com"])
            )
            #expect(unknown["registered"] == false)
            #expect(unknown["signinMethods"] == nil)
            #expect(unknown["allProviders"] == nil)
        }
        try await LinkingWorld.run({ $0.emailEnumerationProtection = true }) { world in
            _ = try await world.account(["email": "ada@example.com", "password": "correct horse"])
            for identifier in ["ada@example.com", "eve@example.com"] {
                let reply = try await world.service.call(
                    "accounts:createAuthUri",
                    ask.merging(["identifier": .string(identifier), "sessionId": "s"])
                )
                #expect(
                    reply.json == ["kind": "identitytoolkit#CreateAuthUriResponse", "sessionId": "s"],
                    "\(identifier)"
                )
            }
        }
    }
}
