import Development
import Domain
import InMemoryLogging
import Logging
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Attacks on linking", .database, .testProvider, .serialized)
struct LinkingAttackTests {
    @Test("T-A5: an address that the provider does not verify opens no other account, and does not lock its owner out")
    func provesNothing() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            // Somebody comes first with another person's address.
            let attacker = try await world.acme(world.person(verified: false))
            attacker.expectSignedIn(new: true)
            #expect(attacker.claims["email_verified"] == false)
            try await service.signUp("ada@example.com").expectRefused("EMAIL_EXISTS")
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            service.clock.advance(by: 5)
            try await service.reset(code, to: "the owner's own").expectOK()
            let owner = try await service.signInWithPassword("ada@example.com", "the owner's own")
            #expect(owner.claims["email_verified"] == true)
            #expect(try await service.account(owner.localID)?.providers == ["password"])
            #expect(try await service.refresh(attacker.refreshToken).error == "TOKEN_EXPIRED")
            let again = try await world.acme(world.person(verified: false))
            again.expectConflict(with: owner.localID, providers: [])
            #expect(try await service.account(owner.localID)?.providers == ["password"])

            // And somebody who comes second.
            let bob = try await service.signUp("bob@example.com")
            let second = try await world.acme(world.person("B", email: "bob@example.com", verified: false))
            second.expectConflict(with: bob.localID, providers: [])
            let account = try await service.account(bob.localID)
            #expect(account?.providers == ["password"] && account?["emailVerified"] == false)
        }
    }

    @Test("T-A1: an attacker who registered another person's address loses every way in when the owner signs in")
    func takesTheAccountBack() async throws {
        try await LinkingWorld.run { world in
            let attacker = try await world.service.signUp("ada@example.com", "attacker's own")
            let other = try await world.service.signInWithPassword("ada@example.com", "attacker's own")
            // An identity and a number of the attacker's, and the start of linking another.
            let linked = try await world.github(
                world.githubPerson("666", email: "eve@example.com"),
                idToken: attacker.idToken
            )
            linked.expectSignedIn(as: attacker.localID)
            try await world.update(attacker.localID, ["phoneNumber": "+491701234567"])
            let started = try await world.service.startFlow(through: .google, ["authType": "linkViaPopup"])
            world.google.nextLogin(world.googlePerson("667", email: "eve2@example.com"))
            let callback = try await ScriptedBrowser().open(started.authURI, until: ["http://localhost/callback"])

            let victim = try await world.acme(world.person())
            victim.expectSignedIn(as: attacker.localID)

            try await world.service.signInWithPassword("ada@example.com", "attacker's own")
                .expectRefused("INVALID_PASSWORD")
            for session in [attacker, other, linked] {
                #expect(try await world.service.refresh(session.refreshToken).error == "TOKEN_EXPIRED")
                try await world.service.lookUp(session.idToken).expectRefused("TOKEN_EXPIRED")
                try await world.service.call(
                    "accounts:update",
                    ["idToken": JSON(session.idToken), "password": "another one"]
                )
                .expectRefused("TOKEN_EXPIRED")
                try await world.service.call("accounts:delete", ["idToken": JSON(session.idToken)])
                    .expectRefused("TOKEN_EXPIRED")
                try await world.service.call("accounts:listSessions", ["idToken": JSON(session.idToken)])
                    .expectRefused("TOKEN_EXPIRED")
            }
            try await world.service.finishFlow(
                at: callback.url,
                sessionID: started.sessionID,
                idToken: attacker.idToken
            )
            .expectRefused("TOKEN_EXPIRED")
            // The attacker's identity is a stranger now.
            let stranger = try await world.github(world.githubPerson("666", email: "eve@example.com"))
            stranger.expectSignedIn(new: true)
            #expect(stranger.localID != victim.localID)
            let account = try #require(try await world.service.account(victim.localID))
            #expect(account.providers == ["oidc.acme"])
            #expect(account["phoneNumber"] == nil)
            // The number is free again.
            _ = try await world.account(["phoneNumber": "+491701234567"])
            let sessions = try await world.service.call("accounts:listSessions", ["idToken": JSON(victim.idToken)])
            #expect(sessions["sessions"]?.array?.count == 1)
        }
    }

    @Test("T-A8: a pending credential links only the subject it was made for, whatever is sent with it")
    func bindsTheSubject() async throws {
        try await LinkingWorld.run { world in
            let owner = try await world.account(["email": "ada@example.com", "password": "correct horse"])
            let conflict = try await world.acme(world.person("S1", verified: false))
            let user = try await world.service.signInWithPassword("ada@example.com")
            let foreign = try world.acme.mintIDToken(for: world.person("S2", email: "eve@example.com"))
            let linked = try await world.resume(
                conflict.pendingToken,
                idToken: user.idToken,
                ["postBody": .string("id_token=\(foreign)&providerId=oidc.acme")]
            )
            linked.expectSignedIn(as: owner)
            let subject = try await world.service.account(owner)?["providerUserInfo"]?[0]?["rawId"]
            #expect(subject == "S1")
            // A handle is no key to the credential of another row.
            _ = try await world.service.signUp("third@example.com")
            let eve = try await world.service.signUp("fourth@example.com")
            let second = try await world.acme(world.person("S3", email: "third@example.com"), idToken: eve.idToken)
            second.expectLinkRefused("EMAIL_EXISTS")
            let count = try await TestDatabase.current.client.execute(
                """
                UPDATE pending_credentials p SET payload = q.payload FROM pending_credentials q
                WHERE p.subject = 'S3' AND q.subject = 'S1' AND p.project = \(world.service.project.id.rawValue)
                    AND q.project = p.project
                """
            )
            #expect(count == 1)
            let swapped = try await world.resume(second.pendingToken)
            swapped.expectRefused("INVALID_PENDING_TOKEN")
            let audited = world.service.logs.entries.filter {
                $0.message.description.contains("belongs to another row")
            }
            #expect(audited.count == 1)
            let recorded = try await world.service.admin("auditEntries?action=PENDING_CREDENTIAL_REFUSED")
            #expect(recorded["auditEntries"]?.array?.count == 1, "\(recorded)")
        }
    }

    @Test("T-A8: a pending credential opens in its own row alone, and only while that names its identity")
    func bindsTheRow() async throws {
        try await LinkingWorld.run { world in
            let owner = try await world.account(["email": "ada@example.com", "password": "correct horse"])
            // The same identity each time, so that a row alone tells them apart.
            var handles: [String] = []
            for _ in 0..<5 {
                let conflict = try await world.acme(world.person("S1", verified: false))
                handles.append(try #require(conflict.pendingToken))
                world.service.clock.advance(by: 1)
            }
            let intact = handles[3]
            let rows = handles.map { SecureHash.sha256($0) }
            let user = try await world.service.signInWithPassword("ada@example.com")
            let database = TestDatabase.current.client
            let changes: [SQL] = [
                """
                UPDATE pending_credentials p SET payload = q.payload FROM pending_credentials q
                WHERE p.handle_hash = \(rows[0]) AND q.handle_hash = \(rows[4])
                """,
                "UPDATE pending_credentials SET subject = 'S2' WHERE handle_hash = \(rows[1])",
                "UPDATE pending_credentials SET provider = 'google.com' WHERE handle_hash = \(rows[2])",
            ]
            for (number, change) in changes.enumerated() {
                #expect(try await database.execute(change) == 1)
                let reply = try await world.resume(handles[number], idToken: user.idToken)
                reply.expectRefused("INVALID_PENDING_TOKEN")
            }
            #expect(try await world.service.account(owner)?.providers == ["password"])
            // Nor does a row open in another project.
            try await TestService.run(LinkingWorld.options()) { service in
                let other = try await LinkingWorld(service)
                let stranger = try await service.signUp("ada@example.com")
                let copied = try await database.execute(
                    """
                    INSERT INTO pending_credentials (project, handle_hash, tenant, provider, subject, payload,
                        created_at, expires_at)
                    SELECT \(service.project.id.rawValue), handle_hash, tenant, provider, subject, payload,
                        created_at, expires_at + interval '1 day'
                    FROM pending_credentials WHERE handle_hash = \(rows[3])
                    """
                )
                #expect(copied == 1)
                let reply = try await other.resume(intact, idToken: stranger.idToken)
                reply.expectRefused("INVALID_PENDING_TOKEN")
            }
            try await world.resume(intact, idToken: user.idToken).expectSignedIn(as: owner)
        }
    }

    @Test("T-A9: a conflict cannot be edited, and confirming one acts only for oneself")
    func bindsTheAddress() async throws {
        try await LinkingWorld.run { world in
            let victim = try await world.account(["email": "victim@example.com", "emailVerified": true])
            let before = try await world.service.account(victim)
            let attacker = try await world.account(["email": "ada@example.com", "password": "correct horse"])
            let conflict = try await world.acme(world.person(verified: false))
            let user = try await world.service.signInWithPassword("ada@example.com")
            let edited: JSON = [
                "email": "victim@example.com", "emailVerified": true, "localId": .string(victim),
                "postBody": "email=victim%40example.com&providerId=oidc.acme",
            ]
            let linked = try await world.resume(conflict.pendingToken, idToken: user.idToken, edited)
            linked.expectSignedIn(as: attacker)
            #expect(linked["email"] == "ada@example.com")
            let account = try await world.service.account(attacker)
            #expect(account?["email"] == "ada@example.com" && account?["emailVerified"] == false)
            #expect(account?["providerUserInfo"]?[0]?["email"] == "ada@example.com")
            #expect(try await world.service.account(victim) == before)

            // An address that changed hands between the conflict and its confirmation.
            let second = try await world.acme(world.person("S", email: "victim@example.com", verified: false))
            second.expectConflict(with: victim, providers: [])
            let stranger = try await world.service.signUp("eve@example.com")
            try await world.resume(second.pendingToken, idToken: stranger.idToken).expectLinkRefused("EMAIL_EXISTS")
            #expect(try await world.service.account(victim) == before)
            try await world.update(victim, ["email": "moved@example.com"])
            let successor = try await world.service.signUp("victim@example.com")
            try await world.resume(second.pendingToken, idToken: stranger.idToken).expectLinkRefused("EMAIL_EXISTS")
            #expect(try await world.service.account(successor.localID)?.providers == ["password"])
            #expect(try await world.service.account(victim)?.providers == [])
        }
    }

    @Test("T-A10: a provider that is disabled during a sign-in signs no one in")
    func refusesASwitchedOffProvider() async throws {
        try await TestService.runPair(LinkingWorld.options()) { first, second in
            let world = try await LinkingWorld(first)
            let member = try await world.acme(world.person("member", email: "member@example.com"))
            let owner = try await first.signUp("ada@example.com")
            let conflict = try await world.acme(world.person(verified: false))
            conflict.expectConflict(with: owner.localID, providers: [])
            let proven = try await world.account(["email": "proven@example.com", "emailVerified": true])
            let unproven = try await world.account(["email": "unproven@example.com"])
            let newcomer = world.person("newcomer", email: "new@example.com")
            let flow = try await first.startFlow(through: "oidc.acme")
            world.acme.nextLogin(newcomer)
            let callback = try await ScriptedBrowser().open(flow.authURI, until: ["http://localhost/callback"])
            let later = try await first.startFlow(through: "oidc.acme")
            world.acme.nextLogin(newcomer)
            let laterCallback = try await ScriptedBrowser().open(later.authURI, until: ["http://localhost/callback"])
            let codes = world.acme.requests(.token).count

            try await second.stores.configuration.refresh()
            let off = try await second.admin(
                "oauthIdpConfigs/oidc.acme?updateMask=enabled",
                ["enabled": false],
                method: "PATCH",
                version: "v2"
            )
            off.expectOK()

            // The first node has not looked yet: the statement itself must know.
            let disabled = "OPERATION_NOT_ALLOWED : The identity provider configuration is disabled."
            try await world.acme(world.person("member", email: "member@example.com")).expectRefused(disabled)
            try await world.acme(newcomer).expectRefused(disabled)
            for email in ["proven@example.com", "unproven@example.com"] {
                try await world.acme(world.person(email, email: email)).expectRefused(disabled)
            }
            try await world.acme(world.person("linked", email: nil), idToken: owner.idToken).expectRefused(disabled)
            try await world.resume(conflict.pendingToken, idToken: owner.idToken).expectRefused(disabled)
            try await first.finishFlow(at: callback.url, sessionID: flow.sessionID).expectRefused(disabled)
            #expect(try await first.account(owner.localID)?.providers == ["password"])
            for account in [proven, unproven] {
                #expect(try await first.account(account)?.providers == [])
            }
            try await first.stores.configuration.refresh()
            // Nor does it ask the provider any more.
            let before = world.acme.requests(.token).count
            try await world.resume(conflict.pendingToken, idToken: owner.idToken).expectRefused(disabled)
            try await first.call(
                "accounts:createAuthUri",
                ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"]
            )
            .expectRefused(disabled)
            try await first.finishFlow(at: laterCallback.url, sessionID: later.sessionID).expectRefused(disabled)
            #expect(world.acme.requests(.token).count == before)
            #expect(codes <= before)
            // Sessions that it opened go on: the account is not disabled.
            try await first.refresh(member.refreshToken).expectOK()
            #expect(try await first.admin("accounts:lookup", ["email": ["new@example.com"]])["users"] == nil)
        }
    }

    @Test("T-A11: a provider's address that now belongs to another account changes nothing")
    func ignoresARenamedAddress() async throws {
        try await LinkingWorld.run { world in
            let ada = try await world.acme(world.person())
            let eve = try await world.acme(world.person("eve", email: "eve@example.com"))
            let again = try await world.acme(world.person("R", email: "eve@example.com"))
            again.expectSignedIn(as: ada.localID)
            #expect(again["email"] == "eve@example.com")
            #expect(again.claims["email"] == "ada@example.com")
            #expect(try await world.service.account(ada.localID)?["email"] == "ada@example.com")
            #expect(try await world.service.account(eve.localID)?["email"] == "eve@example.com")
            let users = try await world.service.admin("accounts:batchGet")["users"]?.array
            #expect(users?.count == 2)
        }
    }

    @Test("T-A14: a flow can be finished by the client that began it alone")
    func finishesOnlyAtHome() async throws {
        try await LinkingWorld.run { world in
            let attacker = try await world.service.signUp("eve@example.com")
            let victim = try await world.service.signUp("ada@example.com")
            let started = try await world.service.startFlow(through: "oidc.acme", ["authType": "linkViaPopup"])
            let ownFlow = try await world.service.startFlow(through: "oidc.acme", ["authType": "linkViaPopup"])
            world.acme.nextLogin(world.person("eve", email: nil))
            let callback = try await ScriptedBrowser().open(started.authURI, until: ["http://localhost/callback"])
            let unknown = """
                INVALID_IDP_RESPONSE : The sign-in request is unknown, expired, already used, or not this client's.
                """
            for sessionID in [nil, "", "guess", ownFlow.sessionID] {
                try await world.service.finishFlow(at: callback.url, sessionID: sessionID, idToken: victim.idToken)
                    .expectRefused(unknown)
            }
            #expect(try await world.service.account(victim.localID)?.providers == ["password"])
            // The code was spared: whoever began finishes, once.
            try await world.service.finishFlow(
                at: callback.url,
                sessionID: started.sessionID,
                idToken: attacker.idToken
            )
            .expectSignedIn(as: attacker.localID)
            try await world.service.finishFlow(
                at: callback.url,
                sessionID: started.sessionID,
                idToken: attacker.idToken
            )
            .expectRefused(unknown)
        }
    }

    @Test("a flow opens in its own row alone, before the provider is asked")
    func bindsTheFlow() async throws {
        try await LinkingWorld.run { world in
            let started = try await world.service.startFlow(through: "oidc.acme")
            world.acme.nextLogin(world.person())
            let callback = try await ScriptedBrowser().open(started.authURI, until: ["http://localhost/callback"])
            _ = try await world.service.startFlow(through: "oidc.acme")
            let swapped = try await TestDatabase.current.client.execute(
                """
                UPDATE flows f SET payload = g.payload FROM flows g
                WHERE f.project = \(world.service.project.id.rawValue) AND g.project = f.project
                    AND g.state_hash <> f.state_hash
                """
            )
            #expect(swapped == 2)
            let reply = try await world.service.finishFlow(at: callback.url, sessionID: started.sessionID)
            #expect(reply.status >= 400, "\(reply)")
            #expect(world.acme.requests(.token).isEmpty)
        }
    }
}
