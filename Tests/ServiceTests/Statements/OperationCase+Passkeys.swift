import Projects
import TestKit

extension OperationCase {
    static let passkeys: [OperationCase] = [
        passkey("startPasskeyEnrollment") { service in
            let user = try await service.signUp(ada)
            return { try await service.startEnrollingPasskey(user.idToken) }
        },
        passkey("finalizePasskeyEnrollment") { service in
            let user = try await service.signUp(ada)
            let options = try await service.startEnrollingPasskey(user.idToken)["credentialCreationOptions"]
            let passkey = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(options?["user"]?["id"]))
            let registration = passkey.registration(for: try PasskeyScene.bytes(options?["challenge"]))
            return { try await service.finishEnrollingPasskey(user.idToken, registration) }
        },
        passkey("startPasskeySignIn") { service in
            { try await service.post("/v2/accounts/passkeySignIn:start?key=\(service.apiKey)", text: "{}") }
        },
        passkey("finalizePasskeySignIn, the first of the day") { service in
            let user = try await service.signUp(ada)
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            let assertion = passkey.assertion(for: try await service.passkeyChallenge())
            return { try await service.finishPasskeySignIn(assertion) }
        },
        passkey("finalizePasskeySignIn, a later one without a counter") { service in
            let user = try await service.signUp(ada)
            let (passkey, _) = try await service.enrollPasskey(user.idToken)
            _ = try await service.signIn(with: passkey)
            let assertion = passkey.assertion(for: try await service.passkeyChallenge())
            return { try await service.finishPasskeySignIn(assertion) }
        },
        passkey("update, a passkey removed") { service in
            let user = try await service.signUp(ada)
            let (passkey, session) = try await service.enrollPasskey(user.idToken)
            let id = JSON.string(PasskeyScene.base64(passkey.id))
            return {
                try await service.call(
                    "accounts:update",
                    ["idToken": JSON(session.idToken), "deletePasskey": [id]]
                )
            }
        },
    ]

    private static func passkey(
        _ name: String,
        _ prepare: @escaping @Sendable (TestService) async throws -> Request
    ) -> OperationCase {
        OperationCase(
            name,
            {
                $0.passkeys.relyingPartyID = "example.com"
                $0.passkeys.origins = ["https://example.com"]
            },
            { try await prepare($0.service) }
        )
    }
}
