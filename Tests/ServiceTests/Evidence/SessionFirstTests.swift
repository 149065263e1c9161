import Development
import Passwords
import Projects
import Secrets
import Storage
import Synchronization
import TestKit
import Testing

/// What costs much, a hash or a call to another service, comes after the caller's session and its limit.
@Suite("The session first", .database, .testProvider)
struct SessionFirstTests {
    /// A list of leaked passwords that counts how often it was asked.
    private final class Leaks: LeakedPasswords {
        let asked = Mutex(0)

        func contains(_ password: Secret, share: String) -> Bool {
            asked.withLock { $0 += 1 }
            return false
        }
    }

    private struct Scene {
        let world: LinkingWorld
        let leaks: Leaks
        let functions: WebReceiver

        /// How much the service has hashed and asked of others.
        var effort: [Int] {
            let providers = [world.acme, world.google, world.github]
            return [world.service.passwords.begun, leaks.asked.withLock { $0 }, functions.received.count]
                + providers.map { $0.requests().count }
        }

        static func run(limitsRates: Bool = false, _ body: @Sendable (Scene) async throws -> Void) async throws {
            let leaks = Leaks()
            try await WebReceiver.run { receiver in
                receiver.answer { _ in (200, "{}") }
                var options = LinkingWorld.options {
                    $0.allowsEmailLink = true
                    $0.offerApps()
                    $0.phone.isEnabled = true
                    $0.refusesLeakedPasswords = true
                    $0.passkeys.relyingPartyID = "example.com"
                    $0.passkeys.origins = ["https://example.com"]
                    $0.blockingFunctions[.beforeSignIn] = receiver.baseURL + "/sign-in"
                }
                options.leakedPasswords = leaks
                options.limitsRates = limitsRates
                try await TestService.run(options) { service in
                    try await body(Scene(world: try await LinkingWorld(service), leaks: leaks, functions: receiver))
                }
            }
        }
    }

    /// Every operation of apps that takes a session, a code or a proved first factor.
    private static func operations() throws -> Set<String> {
        let document = try OpenAPIDocument.ofRepository()
        let proofs: Set = ["idToken", "oobCode", "mfaPendingCredential"]
        let found = document.operations.filter { operation in
            !operation.path.contains("{") && !proofs.isDisjoint(with: document.requestMembers(of: operation))
        }
        return Set(found.map(\.path))
    }

    @Test("T-E29: no operation hashes or asks anybody for a session, code or first factor that has ended")
    func ended() async throws {
        try await Scene.run { scene in
            let (world, service) = (scene.world, scene.world.service)
            let user = try await service.verifiedUser()
            let (app, enrolled) = try await AuthenticatorApp.enroll(user.idToken, service)
            let pending = try await service.signInWithPassword("ada@example.com")["mfaPendingCredential"]
            // What each provider would be asked about.
            let flow = try await service.startFlow(through: LinkingWorld.acmeID)
            world.acme.nextLogin(world.person())
            let visit = try await ScriptedBrowser().open(flow.authURI, until: ["http://localhost/callback"])
            let github = world.github.mintAccessToken(for: world.githubPerson(), client: "client")
            let google = try world.google.mintIDToken(for: world.googlePerson())
            let out = try await service.call("accounts:signOut", ["idToken": JSON(enrolled.idToken), "scope": "all"])
            out.expectOK()

            let (v1, v2, idToken) = ("/v1/accounts:", "/v2/accounts", JSON(enrolled.idToken))
            let ended: JSON = ["idToken": idToken]
            let verification: JSON = [
                "totpVerificationInfo": ["sessionInfo": "x", "verificationCode": .string(app.code(1))]
            ]
            let cases: [(String, JSON, String)] = [
                (v1 + "lookup", [:], "TOKEN_EXPIRED"), (v1 + "delete", [:], "TOKEN_EXPIRED"),
                (v1 + "signOut", [:], "TOKEN_EXPIRED"), (v1 + "listSessions", [:], "TOKEN_EXPIRED"),
                (v1 + "update", ["password": "another horse"], "TOKEN_EXPIRED"),
                (v1 + "signUp", ["email": "new@example.com", "password": "another horse"], "TOKEN_EXPIRED"),
                (
                    v1 + "signInWithIdp",
                    ["requestUri": .string(visit.url), "sessionId": .string(flow.sessionID)], "TOKEN_EXPIRED"
                ),
                (
                    v1 + "signInWithIdp",
                    [
                        "requestUri": "http://localhost",
                        "postBody": .string("access_token=\(github)&providerId=github.com"),
                    ],
                    "TOKEN_EXPIRED"
                ),
                (
                    v1 + "signInWithIdp",
                    [
                        "requestUri": "http://localhost",
                        "postBody": .string("id_token=\(google)&providerId=google.com"),
                    ],
                    "TOKEN_EXPIRED"
                ),
                (v1 + "signInWithEmailLink", ["email": "ada@example.com", "oobCode": "x"], "INVALID_OOB_CODE"),
                (v1 + "signInWithPhoneNumber", ["sessionInfo": "x", "code": "123456"], "INVALID_SESSION_INFO"),
                (v1 + "sendOobCode", ["requestType": "VERIFY_EMAIL"], "TOKEN_EXPIRED"),
                (v1 + "providerToken", ["providerId": "oidc.acme"], "TOKEN_EXPIRED"),
                (v1 + "credentialState", ["providerId": "oidc.acme"], "TOKEN_EXPIRED"),
                (
                    v2 + ":revokeToken",
                    ["providerId": "google.com", "tokenType": "ACCESS_TOKEN", "token": "x"], "TOKEN_EXPIRED"
                ),
                (v2 + "/mfaEnrollment:start", ["totpEnrollmentInfo": [:]], "TOKEN_EXPIRED"),
                (v2 + "/mfaEnrollment:finalize", verification, "INVALID_SESSION_INFO"),
                (v2 + "/mfaEnrollment:withdraw", ["mfaEnrollmentId": .string(app.enrollment)], "TOKEN_EXPIRED"),
                (v2 + "/passkeyEnrollment:start", [:], "TOKEN_EXPIRED"),
            ]
            let others: [(String, JSON, String)] = [
                (v1 + "resetPassword", ["oobCode": "x", "newPassword": "another horse"], "INVALID_OOB_CODE"),
                (
                    v2 + "/mfaSignIn:finalize",
                    [
                        "mfaPendingCredential": pending ?? .null, "mfaEnrollmentId": .string(app.enrollment),
                        "totpVerificationInfo": ["verificationCode": .string(app.code(1))],
                    ], "INVALID_MFA_PENDING_CREDENTIAL"
                ),
            ]
            // These have tests of their own: they never hash, nor ask anybody.
            let plain: Set = [v2 + "/passkeyEnrollment:finalize", v2 + "/mfaSignIn:start"]
            let all = cases.map { ($0, ended.merging($1), $2) } + others
            #expect(try Self.operations() == Set(all.map(\.0)).union(plain))
            let before = scene.effort
            for (path, body, error) in all {
                let reply = try await service.post("\(path)?key=\(service.apiKey)", text: body.text)
                #expect(reply.error?.hasPrefix(error) == true, "\(path) \(body.text): \(reply)")
                #expect(scene.effort == before, "\(path): \(scene.effort)")
            }
            // Neither the flow nor the code was used up.
            let link = try await service.finishFlow(at: visit.url, sessionID: flow.sessionID)
            #expect(link.error == nil, "\(link)")
            #expect(scene.effort != before)
        }
    }

    @Test("T-E29: nothing is hashed, and nobody asked, for an account that has set too many passwords")
    func limited() async throws {
        try await Scene.run(limitsRates: true) { scene in
            let service = scene.world.service
            try await service.limit(["passwordChanges": ["count": 1, "seconds": 3_600]])
            let user = try await service.verifiedUser()
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            let guest = try await service.call("accounts:signUp")
            let first: JSON = ["idToken": JSON(user.idToken), "password": "another horse", "returnSecureToken": true]
            let changed = try await service.call("accounts:update", first)
            changed.expectOK()
            let linked: JSON = ["email": "guest@example.com", "password": "another horse"]
            let set = try await service.call("accounts:signUp", linked.merging(["idToken": JSON(guest.idToken)]))
            set.expectOK()
            // Reset codes count apart (`PasswordChangeLimitTests`).
            let reset = try await service.call(
                "accounts:resetPassword",
                ["oobCode": .string(code), "newPassword": "a third horse"]
            )
            reset.expectOK()
            let again = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            let later = try await service.signIn("ada@example.com", "a third horse", from: "198.18.44.1")
            let before = scene.effort
            for (operation, body) in [
                ("update", ["idToken": JSON(later.idToken), "password": "a third horse"]),
                ("signUp", linked.merging(["idToken": JSON(set.idToken), "password": "a third horse"])),
                ("resetPassword", ["oobCode": .string(again), "newPassword": "a third horse"]),
            ] as [(String, JSON)] {
                try await service.call("accounts:\(operation)", body).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                #expect(scene.effort == before, "\(operation)")
            }
        }
    }
}
