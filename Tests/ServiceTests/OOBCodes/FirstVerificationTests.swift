import Delivery
import Development
import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

/// Every way in which an address can become verified, walked from the registry.
@Suite("First verification", .database, .testProvider, .serialized)
struct FirstVerificationTests {
    private static let ada = "ada@example.com"

    /// An account that somebody opened with another person's address: with a password, sessions, a phone number, an
    /// identity of their own, a way back to an address of theirs, and codes.
    private struct Attack {
        var world: LinkingWorld
        var attacker: Reply
        var sessions: [Reply]
        var codes: [String]
        var recovery: String

        init(_ world: LinkingWorld) async throws {
            self.world = world
            let service = world.service
            let first = try await service.signUp("eve@example.com", "attacker's own")
            let moved = try await service.call(
                "accounts:update",
                ["idToken": JSON(first.idToken), "email": .string(ada)]
            )
            let linked = try await world.github(
                world.githubPerson("666", email: "eve@example.org"),
                idToken: moved.idToken
            )
            linked.expectSignedIn(as: first.localID)
            let other = try await service.signInWithPassword(ada, "attacker's own")
            try await world.update(
                first.localID,
                [
                    "phoneNumber": "+491701234567", "displayName": "Support",
                    "photoUrl": "https://evil.example/support.png",
                ]
            )
            attacker = linked
            sessions = [linked, other]
            codes = [
                try await service.code(
                    .verifyAndChangeEmail,
                    ["idToken": JSON(linked.idToken), "newEmail": "eve2@example.com"],
                    to: "eve2@example.com"
                )
            ]
            recovery = try await service.mail(.recoverEmail, to: "eve@example.com").code
        }
    }

    /// The paths on which nobody signed in as the account, written down once more: the registry is what is tested.
    private static let dropping: Set<VerifyingPath> = [
        .providerSignIn, .emailLinkSignIn, .passwordReset, .recoveryMail,
    ]

    /// Proves the address the way the path does it.
    ///
    /// - Returns: the session that this opens, if any.
    private func prove(_ path: VerifyingPath, _ attack: Attack) async throws -> Reply? {
        let service = attack.world.service
        let ada = JSON.string(Self.ada)
        switch path {
        case .providerSignIn:
            return try await attack.world.acme(attack.world.person())
        case .providerLink:
            return try await attack.world.acme(attack.world.person(), idToken: attack.attacker.idToken)
        case .emailLinkSignIn:
            let code = try await service.code(.emailSignIn, ["email": ada], to: Self.ada)
            return try await service.signInWithLink(Self.ada, code)
        case .emailLinkLink:
            let code = try await service.code(.emailSignIn, ["email": ada], to: Self.ada)
            return try await service.signInWithLink(Self.ada, code, idToken: attack.attacker.idToken)
        case .passwordReset:
            let code = try await service.code(.passwordReset, ["email": ada], to: Self.ada)
            try await service.reset(code, to: "the owner's own").expectOK()
            return try await service.signInWithPassword(Self.ada, "the owner's own")
        case .verificationMail:
            let code = try await service.code(.verifyEmail, ["idToken": JSON(attack.attacker.idToken)], to: Self.ada)
            try await service.apply(code).expectOK()
            return nil
        case .emailChangeMail:
            let code = try await service.code(
                .verifyAndChangeEmail,
                ["idToken": JSON(attack.attacker.idToken), "newEmail": "ada@example.net"],
                to: "ada@example.net"
            )
            try await service.apply(code).expectOK()
            return nil
        case .recoveryMail:
            // The attacker moves on; the address that never was theirs is told.
            try await TestDatabase.current.client.execute(
                "UPDATE accounts SET initial_email = NULL WHERE account = \(attack.attacker.localID ?? "")"
            )
            let moved = try await service.call(
                "accounts:update",
                ["idToken": JSON(attack.attacker.idToken), "email": "eve3@example.com"]
            )
            moved.expectOK()
            let code = try await service.mail(.recoverEmail, to: Self.ada).code
            try await service.apply(code).expectOK()
            return nil
        }
    }

    @Test(
        "T-A1, T-A3, T-A7: who proves an address without signing in as the account leaves its opener no way in",
        arguments: VerifyingPath.allCases
    )
    func leavesNoWayIn(_ path: VerifyingPath) async throws {
        try await LinkingWorld.run({ $0.allowsEmailLink = true }) { world in
            let attack = try await Attack(world)
            let service = world.service
            service.clock.advance(by: 5)
            let owner = try await prove(path, attack)
            if let owner { owner.expectMine(attack.attacker.localID) }
            let account = try #require(try await service.account(attack.attacker.localID))
            #expect(account["emailVerified"] == true, "every path of the registry verifies")
            let address = account["email"]?.string ?? ""
            let password = try await service.signInWithPassword(address, "attacker's own")
            let stranger = try await world.github(world.githubPerson("666", email: "eve@example.org"))
            try await service.apply(attack.recovery).expectRefused("INVALID_OOB_CODE")
            guard Self.dropping.contains(path) else {
                // The account's own session asked for it: password and identities stay, as Firebase does it.
                #expect(password.localID == attack.attacker.localID, "\(password)")
                #expect(stranger.localID == attack.attacker.localID, "\(stranger)")
                return
            }
            #expect(password.status == 400, "\(password)")
            #expect(stranger["isNewUser"] == true && stranger.localID != attack.attacker.localID, "\(stranger)")
            for session in attack.sessions {
                #expect(try await service.refresh(session.refreshToken).error == "TOKEN_EXPIRED")
                try await service.lookUp(session.idToken).expectRefused("TOKEN_EXPIRED")
            }
            for code in attack.codes { try await service.apply(code).expectRefused("INVALID_OOB_CODE") }
            #expect(account["phoneNumber"] == nil && account["initialEmail"] == nil)
            #expect(account["displayName"] != "Support", "\(account)")
            #expect(account["photoUrl"]?.string?.contains("evil") != true, "\(account)")
            #expect(!account.providers.contains("github.com"))
            // Later than the sessions that ended, of which some began in this second.
            let since = Int64(account["validSince"]?.string ?? "") ?? 0
            #expect((service.clock.seconds...service.clock.seconds + 1).contains(since))
            // The number is free again, and what went is on record.
            _ = try await world.account(["phoneNumber": "+491701234567"])
            let lost = try await service.admin(
                "accounts:listDetachedCredentials",
                ["localId": JSON(attack.attacker.localID)]
            )
            let providers = lost["detachedCredentials"]?.array?.compactMap { $0["providerId"]?.string }
            #expect(providers.map(Set.init) == ["github.com", "password", "phone"], "\(lost)")
            if let owner {
                try await service.refresh(owner.refreshToken).expectOK()
                try await service.lookUp(owner.idToken).expectOK()
                // A later change tells the owner's address, not the attacker's.
                let moved = try await service.call(
                    "accounts:update",
                    ["idToken": JSON(owner.idToken), "email": "ada@example.org"]
                )
                moved.expectOK()
                #expect(try await service.mails().filter { $0.type == .recoverEmail }.map(\.mail.to) == [Self.ada])
            }
        }
    }

    @Test(
        "T-D12: a second factor from before the first proof stays and is asked for, though everything else goes",
        arguments: [VerifyingPath.providerSignIn, .emailLinkSignIn, .passwordReset]
    )
    func keepsFactors(_ path: VerifyingPath) async throws {
        try await LinkingWorld.run({
            $0.allowsEmailLink = true
            $0.offerApps()
        }) { world in
            let service = world.service
            let ada = JSON.string(Self.ada)
            let user = try await service.verifiedUser(Self.ada)
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            // As an admin of an earlier release could make it.
            try await TestDatabase.current.client.execute(
                """
                UPDATE accounts SET email_verified = false, version = version + 1
                WHERE project = \(service.project.id.rawValue) AND account = \(user.localID ?? "")
                """
            )
            service.clock.advance(by: 60)
            let challenge: Reply
            switch path {
            case .providerSignIn: challenge = try await world.acme(world.person())
            case .emailLinkSignIn:
                let code = try await service.code(.emailSignIn, ["email": ada], to: Self.ada)
                challenge = try await service.signInWithLink(Self.ada, code)
            default:
                let code = try await service.code(.passwordReset, ["email": ada], to: Self.ada)
                try await service.reset(code, to: "the owner's own").expectOK()
                challenge = try await service.signInWithPassword(Self.ada, "the owner's own")
            }
            challenge.expectChallenge(for: app.enrollment)
            let provider = path == .providerSignIn ? LinkingWorld.acmeID.rawValue : "password"
            try await app.signIn(challenge).expectSecondFactor(app.enrollment, provider: provider, of: user.localID)
            let account = try await service.account(user.localID)
            #expect(account?["emailVerified"] == true && account?["mfaInfo"]?.array?.count == 1)
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.signInWithPassword(Self.ada).status == 400)
        }
    }

    @Test("T-A7: nothing but the registry's paths and admins sets an address verified")
    func registryIsComplete() throws {
        // Tests/ServiceTests/OOBCodes/FirstVerificationTests.swift
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let files = try #require(
            FileManager.default.enumerator(at: root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        )
        let setting = try Regex(
            #"(?i)email_?verified\s*=\s*(true|new\.|request\.|changes\.|amendment\.|verified|proven)"#
        )
        var found: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains(setting) { found.insert(file.lastPathComponent) }
        }
        #expect(
            found == [
                // Take-over and link by a provider, in the database and in the answer; accounts that they open.
                "SignInPlan.swift", "Account+Linking.swift", "SignInWithIdP+Proof.swift",
                // The codes of mails, by VerifyingPath.
                "AccountChanges.swift", "VerifyingPath.swift", "SignInWithEmailLink.swift",
                "ResetPassword.swift",
                // The project's own functions.
                "AccountsService+BlockingFunctions.swift", "Amendment.swift",
                // Admins.
                "AdminAccounts.swift", "AdminAccounts+Update.swift",
            ]
        )
    }
}

extension Reply {
    fileprivate func expectMine(_ localID: String?, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == 200 && self.localID == localID, "\(self)", sourceLocation: sourceLocation)
    }
}
