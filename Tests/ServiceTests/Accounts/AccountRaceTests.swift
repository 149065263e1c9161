import Development
import Domain
import Federation
import Foundation
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Sign-ins that meet a change of the account", .database)
struct AccountRaceTests {
    private let attacker = #"providerId=github.com&id_token={"sub":"mallory","email":"ada@example.com"}"#
    private let owner = #"providerId=google.com&id_token={"sub":"ada","email":"ada@example.com","email_verified":true}"#

    private var development: TestService.Options {
        var options = TestService.Options()
        options.development = true
        return options
    }

    private func liveSessions(_ account: String?) async throws -> Int64? {
        try await TestDatabase.current.client.query(
            "SELECT count(*) FROM sessions WHERE account = \(account ?? "") AND revoked_at IS NULL"
        ) { try $0.next(Int64.self) }.first
    }

    @Test("T-D6: a sign-in with a provider waits for the change, and is decided again")
    func providerSignInWaits() async throws {
        try await TestService.run(development) { service in
            let account = try await service.signInWithIdP(postBody: attacker).localID ?? ""
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        "UPDATE accounts SET version = version + 1, disabled = true WHERE account = \(account)"
                    )
                },
                { try await service.signInWithIdP(postBody: attacker) }
            )
            #expect(reply.error == "USER_DISABLED", "\(reply)")
            #expect(try await liveSessions(account) == 1)
        }
    }

    @Test("T-A2: a sign-in with the old password waits for the new one, and fails")
    func passwordSignInWaits() async throws {
        try await TestService.run { service in
            let account = try await service.signUp("ada@example.com").localID ?? ""
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        """
                        UPDATE accounts SET version = version + 1, password_hash = \([1] as [UInt8])
                        WHERE account = \(account)
                        """
                    )
                },
                { try await service.signInWithPassword("ada@example.com") }
            )
            #expect(reply.error == "INVALID_LOGIN_CREDENTIALS", "\(reply)")
            #expect(try await liveSessions(account) == 1)
        }
    }

    @Test("T-A1, T-A3: a take-over ends the session of a sign-in that it had to wait for")
    func takeOverSeesTheSessionBeforeIt() async throws {
        try await TestService.run(development) { service in
            let account = try await service.signInWithIdP(postBody: attacker).localID ?? ""
            let reply = try await Race.run(
                service,
                hold: { transaction in
                    try await transaction.execute("SELECT FROM accounts WHERE account = \(account) FOR SHARE")
                    try await transaction.execute(
                        """
                        INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time,
                            sign_in_provider, created_at, last_used_at)
                        SELECT project, account, 'another', tenant, secret_hash, auth_time, sign_in_provider,
                            created_at, last_used_at
                        FROM sessions WHERE account = \(account)
                        """
                    )
                },
                { try await service.signInWithIdP(postBody: owner) }
            )
            #expect(reply.localID == account, "\(reply)")
            #expect(try await liveSessions(account) == 1)
            try await service.lookUp(reply.idToken).expectOK()
        }
    }

    @Test("a take-over is not over before it began: the session that it opens is good in the next second")
    func takeOverKeepsItsOwnSession() async throws {
        try await TestService.run(development) { service in
            let id = try await service.signInWithIdP(postBody: attacker).localID ?? ""
            let scope = Scope(project: service.project.id)
            let found = try #require(try await service.stores.accounts.find(AccountID(id), session: nil, in: scope))
            let identity = FederatedIdentity(
                provider: "google.com",
                subject: "ada",
                issuer: "https://accounts.google.com",
                email: EmailAddress("ada@example.com")
            )
            let signedInAt = service.clock.seconds
            let credential = FederatedCredential(
                identity: identity,
                tokens: ProviderTokens(),
                rawUserInfo: "{}",
                federatedID: "ada"
            )
            let session = NewSession(
                id: SessionID(random: .system),
                secretHash: [1],
                evidence: Evidence(credential, at: signedInAt),
                signInProvider: "google.com"
            )
            let outcome = try await service.stores.accounts.carry(
                out: .takeOver(of: found.account),
                making: found.account,
                SignInWrite(
                    scope: scope,
                    credential: credential,
                    session: .open(session),
                    now: service.clock.current.addingTimeInterval(1),
                    allowsUnconfiguredProvider: true
                )
            )
            // The session that it ends began in the same second, and the one that it opens is not as old.
            #expect(outcome == .applied(validSince: signedInAt + 1))
            let after = try await service.stores.accounts.find(AccountID(id), session: session.id, in: scope)
            #expect(after?.account.validSince == signedInAt + 1)
            #expect(after?.session?.authTime == signedInAt + 1)
        }
    }

    @Test("T-D6: what was decided on an account does not happen to another one that has got its ID")
    func sameIDAgain() async throws {
        try await TestService.run(development) { service in
            let scope = Scope(project: service.project.id)
            let first = try await service.signInWithIdP(postBody: owner)
            let id = first.localID ?? ""
            let before = try #require(try await service.stores.accounts.find(AccountID(id), session: nil, in: scope))
            let known = try #require(before.account.linked.first)
            let credential = FederatedCredential(
                identity: FederatedIdentity(provider: known.provider, subject: known.subject, issuer: ""),
                tokens: ProviderTokens(),
                rawUserInfo: "{}",
                federatedID: known.subject
            )
            try await service.admin("accounts:delete", ["localId": JSON(id)]).expectOK()
            service.clock.advance(by: 1)
            try await service.admin("accounts", ["localId": JSON(id)]).expectOK()
            let plans: [SignInPlan] = [
                .signIn(to: before.account, effect: .none, isOpened: false),
                .signInAndLink(to: before.account, replaced: nil), .takeOver(of: before.account),
                .link(to: before.account, effect: .none),
            ]
            for plan in plans {
                let outcome = try await service.stores.accounts.carry(
                    out: plan,
                    making: before.account,
                    SignInWrite(
                        scope: scope,
                        credential: credential,
                        session: .none,
                        now: service.clock.current,
                        allowsUnconfiguredProvider: true
                    )
                )
                #expect(outcome == .stale, "\(plan)")
            }
            let session = NewSession(
                id: SessionID(random: .system),
                secretHash: [1],
                evidence: Evidence(credential, at: service.clock.seconds),
                signInProvider: "google.com"
            )
            let isOpened = try await service.stores.accounts.openSession(
                session,
                for: before.account,
                in: scope,
                now: service.clock.current
            )
            #expect(!isOpened)
            let after = try #require(try await service.account(id))
            #expect(after["providerUserInfo"]?.array?.isEmpty ?? true, "\(after)")
        }
    }

    @Test("T-A7, T-D6: a session that ended while it signed others out ends none of them")
    func signOutThatIsLate() async throws {
        try await TestService.run(development) { service in
            let opener = try await service.signUp("ada@example.com")
            let sessions = service.stores.sessions
            let (account, scope) = (AccountID(opener.localID ?? ""), Scope(project: service.project.id))
            let session = try #require(
                opener.claims["firebase"]?["sid"]?.string.flatMap(SessionID.init(rawValue:))
            )
            // Whose address it is takes the account over, after the opener's ID token was looked at.
            let taken = try await service.signInWithIdP(postBody: owner)
            #expect(taken.localID == opener.localID, "\(taken)")
            for which in [.allBut(session), .all] as [SessionStore.Which] {
                #expect(
                    try await sessions.revoke(which, of: account, by: session, in: scope, now: service.clock.current)
                        == nil
                )
            }
            try await service.lookUp(taken.idToken).expectOK()
        }
    }

    @Test("T-D6: signing out waits for what ends the session, and is refused", arguments: ["all", "others"])
    func signOutWaits(scope: String) async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let other = try await service.signInWithPassword("ada@example.com")
            let account = user.localID ?? ""
            let session = user.claims["firebase"]?["sid"]?.string ?? ""
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute("SELECT FROM accounts WHERE account = \(account) FOR UPDATE")
                    try await $0.execute("UPDATE sessions SET revoked_at = now() WHERE session = \(session)")
                },
                { try await service.call("accounts:signOut", ["idToken": JSON(user.idToken), "scope": JSON(scope)]) }
            )
            #expect(reply.error == "TOKEN_EXPIRED", "\(reply)")
            try await service.lookUp(other.idToken).expectOK()
        }
    }

    @Test("T-D6: linking waits for what ends the session, and is refused", arguments: [true, false])
    func linkingWaits(locksAccount: Bool) async throws {
        try await TestService.run(development) { service in
            let user = try await service.signUp("grace@example.com")
            let account = user.localID ?? ""
            let reply = try await Race.run(
                service,
                hold: {
                    if locksAccount {
                        try await $0.execute("SELECT FROM accounts WHERE account = \(account) FOR UPDATE")
                    }
                    try await $0.execute("UPDATE sessions SET revoked_at = now() WHERE account = \(account)")
                },
                { try await service.signInWithIdP(postBody: owner, idToken: user.idToken) }
            )
            #expect(reply.error == "TOKEN_EXPIRED", "\(reply)")
            #expect(try await service.account(account)?["providerUserInfo"]?.array?.count == 1)
        }
    }

    @Test("an upgrade that had to wait gives tokens that are good")
    func upgradeWaits() async throws {
        try await TestService.run { service in
            let guest = try await service.call("accounts:signUp")
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute("SELECT FROM accounts WHERE account = \(guest.localID ?? "") FOR UPDATE")
                },
                meanwhile: { service.clock.advance(by: 2) },
                {
                    try await service.call(
                        "accounts:signUp",
                        [
                            "idToken": JSON(guest.idToken), "email": "ada@example.com",
                            "password": "correct horse",
                        ]
                    )
                }
            )
            #expect(reply.localID == guest.localID, "\(reply)")
            let lookUp = try await service.lookUp(reply.idToken)
            lookUp.expectOK()
            try await service.refresh(reply.refreshToken).expectOK()
        }
    }

    @Test("the old refresh token is not ended by its own use while the new one is made")
    func refreshDuringRenewal() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 120)
            let account = user.localID ?? ""
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        """
                        UPDATE sessions SET previous_hash = secret_hash, secret_hash = \([1] as [UInt8]),
                            generation = generation + 1, successor_used_at = NULL
                        WHERE account = \(account)
                        """
                    )
                },
                { try await service.refresh(user.refreshToken) }
            )
            reply.expectOK()
            service.clock.advance(by: 120)
            let later = try await service.refresh(user.refreshToken)
            #expect(later.status == 200, "nobody has used the new one: \(later)")
        }
    }
}
