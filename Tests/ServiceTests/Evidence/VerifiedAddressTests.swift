import Linking
import Projects
import Storage
import TestKit
import Testing

@Suite("T-D12: an account with second factors keeps a verified address", .database, .testProvider, .serialized)
struct VerifiedAddressTests {
    private func run(
        _ body: @Sendable (TestService, _ app: AuthenticatorApp, _ user: Reply, _ localID: String) async throws -> Void
    ) async throws {
        try await MailScene.run {
            $0.offerApps()
            $0.keepLastSignInMethod = false
        } _: { service in
            let user = try await service.verifiedUser()
            let (app, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            try await body(service, app, enrolled, try #require(user.localID))
            let account = try await service.account(user.localID)
            #expect(account?["emailVerified"] == true && account?["email"] == "ada@example.com")
            #expect(account?["mfaInfo"]?.array?.count == 1)
        }
    }

    @Test("its user puts no unproved address in its place, nor takes it away")
    func refusesItsUser() async throws {
        try await run { service, _, user, _ in
            let unproved = "OPERATION_NOT_ALLOWED : Please verify the new email before changing email."
            let token = JSON(user.idToken)
            try await service.call("accounts:update", ["idToken": token, "email": "eve@example.com"])
                .expectRefused(unproved)
            try await service.call(
                "accounts:signUp",
                ["idToken": token, "email": "eve@example.com", "password": "another horse"]
            )
            .expectRefused(unproved)
            try await service.call("accounts:update", ["idToken": token, "deleteAttribute": ["EMAIL"]])
                .expectRefused("UNVERIFIED_EMAIL : An account with second factors requires a verified email.")
        }
    }

    @Test("nor does its user give it a first one that nobody proved, where an admin added the factor")
    func refusesAFirstAddress() async throws {
        // The project asks nobody for a second factor now; the account keeps it.
        try await MailScene.run { service in
            let guest = try await service.call("accounts:signUp")
            let added = try await service.admin(
                "accounts:update",
                [
                    "localId": JSON(guest.localID),
                    "mfa": ["enrollments": [["mfaEnrollmentId": "phone-1", "phoneInfo": "+491701234567"]]],
                ]
            )
            #expect(added.status == 200, "\(added)")
            try await service.call(
                "accounts:signUp",
                ["idToken": JSON(guest.idToken), "email": "eve@example.com", "password": "another horse"]
            )
            .expectRefused("OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
            #expect(try await service.account(guest.localID)?["email"] == nil)
        }
    }

    @Test("an admin proves the new address, or takes the factors away with it")
    func refusesAdmins() async throws {
        try await run { service, _, _, localID in
            let bad: [JSON] = [
                ["email": "eve@example.com"], ["emailVerified": false], ["deleteAttribute": ["EMAIL"]],
                ["email": "eve@example.com", "password": "another horse"],
            ]
            for change in bad {
                try await service.admin("accounts:update", change.merging(["localId": .string(localID)]))
                    .expectRefused("UNVERIFIED_EMAIL : An account with second factors requires a verified email.")
            }
            for address in ["eve@example.com", "ada@example.com"] {
                let reply = try await service.admin(
                    "accounts:update",
                    ["localId": .string(localID), "email": .string(address), "emailVerified": true]
                )
                #expect(reply.status == 200, "\(reply)")
            }
        }
        try await MailScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            _ = try await AuthenticatorApp.enroll(user.idToken, service)
            let reply = try await service.admin(
                "accounts:update",
                ["localId": JSON(user.localID), "email": "eve@example.com", "mfa": ["enrollments": []]]
            )
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test("a new address that was proved by mail takes no factor away, and the next sign-in asks for it")
    func changesByMail() async throws {
        try await MailScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            let code = try await service.code(
                .verifyAndChangeEmail,
                ["idToken": JSON(enrolled.idToken), "newEmail": "ada@example.net"],
                to: "ada@example.net"
            )
            #expect(try await service.apply(code)["email"] == "ada@example.net")
            try await service.signInWithPassword("ada@example.net").expectChallenge(for: app.enrollment)
        }
    }
}
