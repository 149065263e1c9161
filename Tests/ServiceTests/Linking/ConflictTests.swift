import Development
import Domain
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Resuming a conflict", .database, .testProvider, .serialized)
struct ConflictTests {
    /// Ada has a verified account with a password; her identity at `oidc.acme` does not prove the address.
    private func withConflict(
        _ body: @Sendable (_ world: LinkingWorld, _ owner: String, _ conflict: Reply) async throws -> Void
    ) async throws {
        try await LinkingWorld.run { world in
            let owner = try await makeOwner(world)
            let conflict = try await world.acme(world.person(verified: false))
            conflict.expectConflict(with: owner, providers: [])
            try await body(world, owner, conflict)
        }
    }

    private func makeOwner(_ world: LinkingWorld) async throws -> String {
        try await world.account(["email": "ada@example.com", "emailVerified": true, "password": "correct horse"])
    }

    @Test("R-35, R-37: by the pending token, without another visit to the provider")
    func byPendingToken() async throws {
        try await LinkingWorld.run { world in
            let owner = try await makeOwner(world)
            let conflict = try await world.github(world.githubPerson())
            conflict.expectConflict(with: owner, providers: [])
            #expect(conflict["email"] == "ada@example.com")
            #expect(conflict["providerId"] == "github.com")
            #expect(conflict["screenName"] == "ada7001")
            let visits = world.github.requests().count
            let user = try await world.service.signInWithPassword("ada@example.com")
            let linked = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            linked.expectSignedIn(as: owner)
            #expect(linked.pendingToken == nil)
            #expect(linked["oauthAccessToken"] == conflict["oauthAccessToken"])
            #expect(linked.claims["firebase"]?["sign_in_provider"] == "github.com")
            #expect(world.github.requests().count == visits)
            let account = try await world.service.account(owner)
            #expect(account?.providers == ["github.com", "password"])
            #expect(account?["email"] == "ada@example.com")
            try await world.github(world.githubPerson()).expectSignedIn(as: owner)
        }
    }

    @Test(
        "T-E11: conflicts count like sign-ups, and beyond the limit nothing of them is stored",
        arguments: [true, false]
    )
    func limit(isOfProject: Bool) async throws {
        var options = LinkingWorld.options()
        options.limitsRates = true
        let budget = RateLimitBudget(count: 2, seconds: 3_600)
        if isOfProject {
            options.settings.rateLimits[.signUpsPerAddress] = budget
        } else {
            var numbers = RateLimitSettings()
            numbers[.signUpsPerAddress] = budget
            options.deploymentLimits = DeploymentLimits(numbers)
        }
        try await TestService.run(options) { service in
            try await TestDatabase.current.client.execute("DELETE FROM rate_limits")
            let world = try await LinkingWorld(service)
            let owner = try await makeOwner(world)
            for number in 0..<3 {
                let reply = try await world.acme(world.person(verified: false))
                if number < 2 {
                    reply.expectConflict(with: owner, providers: [])
                } else {
                    reply.expectRefused(LimitScene.blocked)
                }
            }
            let stored = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM pending_credentials WHERE project = \(service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(stored == [2])
        }
    }

    @Test("R-35: with several accounts per email there is no conflict")
    func severalAccountsPerEmail() async throws {
        try await LinkingWorld.run({ $0.allowDuplicateEmails = true }) { world in
            let owner = try await makeOwner(world)
            let reply = try await world.github(world.githubPerson())
            reply.expectSignedIn(new: true)
            #expect(reply.localID != owner)
        }
    }

    @Test("R-37: Google resumes by the bare ID token, without the nonce that it carries")
    func byBareIDToken() async throws {
        try await LinkingWorld.run { world in
            let owner = try await makeOwner(world)
            var person = world.googlePerson()
            person.emailVerified = false
            world.google.everyLogin(world.google.addUser(person))
            let conflict = try await world.service.signIn(through: .google)
            conflict.expectConflict(with: owner, providers: [])
            let idToken = try #require(conflict["oauthIdToken"]?.string)
            let accessToken = try #require(conflict["oauthAccessToken"]?.string)
            #expect(Reply.claims(of: idToken)["nonce"] != nil)
            let visits = world.google.requests().count
            let user = try await world.service.signInWithPassword("ada@example.com")
            let postBody = "id_token=\(idToken)&access_token=\(accessToken)&providerId=google.com"
            // Alone too it meets the conflict, and the access token does what it always does.
            let bare = "id_token=\(idToken)&providerId=google.com"
            try await world.service.signInWithIdP(postBody: bare).expectConflict(with: owner, providers: [])
            try await world.service.signInWithIdP(postBody: postBody).expectConflict(with: owner, providers: [])
            let linked = try await world.service.signInWithIdP(postBody: postBody, idToken: user.idToken)
            linked.expectSignedIn(as: owner)
            #expect(world.google.requests(.token).count == 1)
            #expect(world.google.requests().count <= visits + 3, "the key set, and two looks at the access token")
            #expect(try await world.service.account(owner)?.providers == ["google.com", "password"])
            // The same again is the same answer, also later (K4).
            try await world.service.signInWithIdP(postBody: postBody, idToken: user.idToken).expectSignedIn(as: owner)
            world.service.clock.advance(by: 61)
            let late = try await world.service.signInWithIdP(postBody: postBody, idToken: linked.idToken)
            late.expectSignedIn(as: owner)
            let lateAndBare = try await world.service.signInWithIdP(postBody: bare, idToken: linked.idToken)
            #expect(lateAndBare.code == "MISSING_OR_INVALID_NONCE")
        }
    }

    @Test("R-37: GitHub resumes by the bare access token")
    func byBareAccessToken() async throws {
        try await LinkingWorld.run { world in
            let owner = try await makeOwner(world)
            let conflict = try await world.github(world.githubPerson())
            conflict.expectConflict(with: owner, providers: [])
            let postBody = "access_token=\(conflict["oauthAccessToken"]?.string ?? "")&providerId=github.com"
            // Alone it is the same conflict again, once GitHub has said that the token is ours.
            try await world.service.signInWithIdP(postBody: postBody).expectConflict(with: owner, providers: [])
            #expect(world.github.requests(.tokenCheck).count == 1)
            let visits = world.github.requests().count
            let user = try await world.service.signInWithPassword("ada@example.com")
            // The token of another provider's conflict is not this one's.
            let foreign = postBody.replacing("github.com", with: "google.com")
            #expect(
                try await world.service.signInWithIdP(postBody: foreign, idToken: user.idToken).code
                    == "INVALID_IDP_RESPONSE"
            )
            let linked = try await world.service.signInWithIdP(postBody: postBody, idToken: user.idToken)
            linked.expectSignedIn(as: owner)
            #expect(world.github.requests().count == visits)
            #expect(try await world.service.account(owner)?.providers == ["github.com", "password"])
        }
    }

    @Test("T-A8: an access token that nobody checked, beside a checked ID token, is no key to the conflict")
    func byUncheckedAccessToken() async throws {
        try await LinkingWorld.run { world in
            let owner = try await makeOwner(world)
            let user = try await world.service.signInWithPassword("ada@example.com")
            // Eve's identity, with the token that Ada's app will present.
            var eve = TestUser("666", email: "ada@example.com", name: "Eve")
            eve.emailVerified = false
            let token = try world.acme.mintIDToken(for: eve)
            let conflict = try await world.service.signInWithIdP(
                postBody: "id_token=\(token)&access_token=adas&providerId=oidc.acme"
            )
            conflict.expectConflict(with: owner, providers: [])
            let reply = try await world.service.signInWithIdP(
                postBody: "access_token=adas&providerId=oidc.acme",
                idToken: user.idToken
            )
            #expect(reply.status == 400, "\(reply)")
            #expect(try await world.service.account(owner)?.providers == ["password"])
        }
    }

    @Test("survives failed attempts")
    func survivesFailures() async throws {
        try await withConflict { world, owner, conflict in
            let other = try await world.service.signUp("eve@example.com")
            try await world.resume(conflict.pendingToken, idToken: "x").expectRefused("INVALID_ID_TOKEN")
            try await world.resume(conflict.pendingToken, idToken: " ").expectRefused("INVALID_ID_TOKEN")
            let refused = try await world.resume(conflict.pendingToken, idToken: other.idToken)
            refused.expectLinkRefused("EMAIL_EXISTS")
            #expect(refused.pendingToken == conflict.pendingToken)
            // Without an account to link to it is the same conflict again.
            let again = try await world.resume(conflict.pendingToken)
            again.expectConflict(with: owner, providers: [])
            #expect(again.pendingToken == conflict.pendingToken)
            let user = try await world.service.signInWithPassword("ada@example.com")
            try await world.resume(conflict.pendingToken, idToken: user.idToken).expectSignedIn(as: owner)
        }
    }

    @Test(
        "T-A2: proves nothing once its account has ended its sessions, or the provider's consent was withdrawn",
        arguments: [nil, "revocation", "consent"]
    )
    func endsWithSessions(by end: String?) async throws {
        try await withConflict { world, owner, conflict in
            let user = try await world.service.signInWithPassword("ada@example.com")
            // The owner links the identity that somebody else was at, too.
            let own = try await world.acme(world.person(verified: false))
            try await world.resume(own.pendingToken, idToken: user.idToken).expectSignedIn(as: owner)
            world.service.clock.advance(by: 60)
            if end == "revocation" {
                try await world.update(owner, ["validSince": .string("\(world.service.clock.seconds)")])
            }
            if end == "consent" {
                try await TestDatabase.current.client.execute(
                    "UPDATE credential_subjects SET revoked_at = now() WHERE project = \(world.service.project.id.rawValue)"
                )
            }
            let reply = try await world.resume(conflict.pendingToken)
            if end == nil { reply.expectSignedIn(as: owner) } else { reply.expectRefused("INVALID_PENDING_TOKEN") }
        }
    }

    @Test("survives a restart of the service")
    func survivesARestart() async throws {
        var options = LinkingWorld.options()
        let (world, owner, conflict) = try await TestService.run(options) { service in
            let world = try await LinkingWorld(service)
            let owner = try await makeOwner(world)
            return (world, owner, try await world.acme(world.person(verified: false)))
        }
        conflict.expectConflict(with: owner, providers: [])
        options.project = world.service.project
        options.clock = world.service.clock
        try await TestService.run(options) { service in
            let user = try await service.signInWithPassword("ada@example.com")
            try await world.on(service).resume(conflict.pendingToken, idToken: user.idToken).expectSignedIn(as: owner)
        }
    }

    @Test("lives for an hour", arguments: [(3599.0, true), (3600.0, false)])
    func livesForAnHour(age: Double, good: Bool) async throws {
        try await withConflict { world, owner, conflict in
            world.service.clock.advance(by: age)
            let user = try await world.service.signInWithPassword("ada@example.com")
            let reply = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            if good { reply.expectSignedIn(as: owner) } else { reply.expectRefused("INVALID_PENDING_TOKEN") }
        }
    }

    @Test("a failed attempt with the bare tokens lends it no second hour, and no second life")
    func failedAttemptsProlongNothing() async throws {
        try await withConflict { world, owner, conflict in
            let postBody = "id_token=\(conflict["oauthIdToken"]?.string ?? "")&providerId=oidc.acme"
            world.service.clock.advance(by: 3000)
            let other = try await world.service.signUp("eve@example.com")
            let refused = try await world.service.signInWithIdP(postBody: postBody, idToken: other.idToken)
            refused.expectLinkRefused("EMAIL_EXISTS")
            // By the handle of the first answer it ends, and with it the second answer's.
            let user = try await world.service.signInWithPassword("ada@example.com")
            try await world.resume(conflict.pendingToken, idToken: user.idToken).expectSignedIn(as: owner)
            world.service.clock.advance(by: 61)
            try await world.resume(refused.pendingToken).expectRefused("INVALID_PENDING_TOKEN")
        }
        try await withConflict { world, owner, conflict in
            let postBody = "id_token=\(conflict["oauthIdToken"]?.string ?? "")&providerId=oidc.acme"
            world.service.clock.advance(by: 3000)
            let other = try await world.service.signUp("eve@example.com")
            let refused = try await world.service.signInWithIdP(postBody: postBody, idToken: other.idToken)
            refused.expectLinkRefused("EMAIL_EXISTS")
            world.service.clock.advance(by: 600)
            let user = try await world.service.signInWithPassword("ada@example.com")
            try await world.resume(refused.pendingToken, idToken: user.idToken).expectRefused("INVALID_PENDING_TOKEN")
        }
    }

    @Test("ends with its first success; the same request within a minute gets the same answer")
    func endsWithSuccess() async throws {
        try await withConflict { world, owner, conflict in
            let user = try await world.service.signInWithPassword("ada@example.com")
            let first = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            first.expectSignedIn(as: owner)
            let before = try await world.service.account(owner)
            world.service.clock.advance(by: 59)
            let retry = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            retry.expectSignedIn(as: owner)
            let changing = ["idToken", "refreshToken"]
            #expect(Set(retry.json.object?.keys.map { $0 } ?? []) == Set(first.json.object?.keys.map { $0 } ?? []))
            for (name, value) in first.json.object ?? [:] where !changing.contains(name) {
                #expect(retry.json[name] == value, "\(name)")
            }
            #expect(
                try await world.service.account(owner)?.without("lastLoginAt", "lastRefreshAt")
                    == before?.without("lastLoginAt", "lastRefreshAt")
            )
            try await world.service.refresh(retry.refreshToken).expectOK()
            // The minute counts from the first success.
            world.service.clock.advance(by: 2)
            try await world.resume(conflict.pendingToken, idToken: user.idToken).expectRefused("INVALID_PENDING_TOKEN")
            try await world.resume(conflict.pendingToken).expectRefused("INVALID_PENDING_TOKEN")
        }
    }

    @Test("another account's attempt after the success is refused")
    func refusesAnotherAccount() async throws {
        try await withConflict { world, owner, conflict in
            let user = try await world.service.signInWithPassword("ada@example.com")
            try await world.resume(conflict.pendingToken, idToken: user.idToken).expectSignedIn(as: owner)
            let other = try await world.service.signUp("eve@example.com")
            let refused = try await world.resume(conflict.pendingToken, idToken: other.idToken)
            refused.expectLinkRefused("FEDERATED_USER_ID_ALREADY_LINKED")
            world.service.clock.advance(by: 61)
            try await world.resume(conflict.pendingToken, idToken: other.idToken)
                .expectRefused("INVALID_PENDING_TOKEN")
            try await world.resume(refused.pendingToken, idToken: other.idToken)
                .expectRefused("INVALID_PENDING_TOKEN")
            #expect(try await world.service.account(other.localID)?.providers == ["password"])
        }
    }

    @Test("a request that read the pending credential before its success, and writes after it, is told to read again")
    func isRedeemedWhereItIsWritten() async throws {
        try await withConflict { world, owner, conflict in
            let stores = world.service.stores
            let scope = Scope(project: world.service.project.id)
            let handle = try #require(conflict.pendingToken)
            let now = world.service.clock.now()
            let pending = try #require(try await stores.pendingCredentials.find(.handle(handle), in: scope, now: now))
            let user = try await world.service.signInWithPassword("ada@example.com")
            let linked = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            linked.expectSignedIn(as: owner)
            let unlinked = try await world.service.call(
                "accounts:update",
                ["idToken": JSON(linked.idToken), "deleteProvider": ["oidc.acme"]]
            )
            unlinked.expectOK()
            world.service.clock.advance(by: 61)
            let (account, _) = try #require(try await stores.accounts.find(AccountID(owner), session: nil, in: scope))
            let write = SignInWrite(
                scope: scope,
                credential: pending.credential,
                session: .none,
                now: world.service.clock.now(),
                allowsUnconfiguredProvider: false,
                redeems: pending.handleHash
            )
            let linkedLate = try await stores.accounts.carry(
                out: .link(to: account, effect: .none),
                making: account,
                write
            )
            #expect(linkedLate == .stale)
            let signedInLate = try await stores.accounts.carry(
                out: .signInAndLink(to: account, replaced: nil),
                making: account,
                write
            )
            #expect(signedInLate == .stale)
            #expect(try await world.service.account(owner)?.providers == ["password"])
        }
    }

    @Test("T-D1: a pending token is nothing in another project")
    func isOfOneProject() async throws {
        try await withConflict { world, owner, conflict in
            try await TestService.run(LinkingWorld.options()) { service in
                let other = try await LinkingWorld(service)
                let user = try await service.signUp("ada@example.com")
                try await other.resume(conflict.pendingToken, idToken: user.idToken)
                    .expectRefused("INVALID_PENDING_TOKEN")
                try await other.resume(conflict.pendingToken).expectRefused("INVALID_PENDING_TOKEN")
            }
            let user = try await world.service.signInWithPassword("ada@example.com")
            try await world.resume(conflict.pendingToken, idToken: user.idToken).expectSignedIn(as: owner)
        }
    }

    @Test("pending tokens come with conflicts alone")
    func comesWithConflictsAlone() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person())
            user.expectSignedIn(new: true)
            #expect(user.pendingToken == nil)
            let linked = try await world.google(world.googlePerson("9", email: "b@example.com"), idToken: user.idToken)
            linked.expectSignedIn(as: user.localID)
            #expect(linked.pendingToken == nil)
        }
    }

    struct Disclosure: Sendable, CustomTestStringConvertible {
        var protected: Bool
        var asserted: Bool
        var tells: Bool
        var testDescription: String { "protection \(protected), asserted as verified \(asserted)" }
    }

    @Test(
        "under enumeration protection a conflict names the account only to who has a provider's word for the address",
        arguments: [
            Disclosure(protected: false, asserted: false, tells: true),
            Disclosure(protected: false, asserted: true, tells: true),
            Disclosure(protected: true, asserted: false, tells: false),
            Disclosure(protected: true, asserted: true, tells: true),
        ]
    )
    func tellsWhoMayKnow(disclosure: Disclosure) async throws {
        try await LinkingWorld.run({ $0.emailEnumerationProtection = disclosure.protected }) { world in
            let owner = try await world.google(world.googlePerson())
            // GitHub's word is not enough to take over, yet it is somebody's word.
            let conflict =
                disclosure.asserted
                ? try await world.github(world.githubPerson()) : try await world.acme(world.person(verified: false))
            conflict.expectConflict(
                with: disclosure.tells ? owner.localID : nil,
                providers: disclosure.tells ? ["google.com"] : []
            )
            let user = try await world.google(world.googlePerson())
            try await world.resume(conflict.pendingToken, idToken: user.idToken).expectSignedIn(as: owner.localID)
        }
    }
}
