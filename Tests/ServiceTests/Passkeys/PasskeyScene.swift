import Foundation
import Projects
import TestKit
import Testing

/// A service whose project has passkeys for `example.com`, as `SoftwareAuthenticator` makes them.
enum PasskeyScene {
    static let config: JSON = ["rpId": "example.com", "expectedOrigins": ["https://example.com"]]

    static func run<R: Sendable>(
        _ change: (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> R
    ) async throws -> R {
        var options = TestService.Options()
        options.settings.passkeys.relyingPartyID = "example.com"
        options.settings.passkeys.origins = ["https://example.com"]
        options.settings.allowsTenants = true
        change(&options.settings)
        return try await TestService.run(options, body)
    }

    /// As the service writes it, and iOS reads it.
    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    static func bytes(_ value: JSON?) throws -> [UInt8] {
        [UInt8](try #require(value?.string.flatMap { Data(base64Encoded: $0) }, "\(value?.text ?? "")"))
    }
}

extension SoftwareAuthenticator {
    /// - Parameter write: how the client writes bytes.
    func registration(
        for challenge: [UInt8],
        _ write: ([UInt8]) -> String = PasskeyScene.base64
    ) -> JSON {
        let created = create(for: challenge)
        return [
            "id": .string(write(created.id)), "rawId": .string(write(created.id)), "type": "public-key",
            "response": [
                "clientDataJSON": .string(write(created.clientDataJSON)),
                "attestationObject": .string(write(created.attestationObject)),
            ],
        ]
    }

    func assertion(for challenge: [UInt8], _ write: ([UInt8]) -> String = PasskeyScene.base64) -> JSON {
        let used = use(for: challenge)
        return [
            "id": .string(write(used.id)), "rawId": .string(write(used.id)), "type": "public-key",
            "response": [
                "clientDataJSON": .string(write(used.clientDataJSON)),
                "authenticatorData": .string(write(used.authenticatorData)),
                "signature": .string(write(used.signature)),
                "userHandle": .string(used.userHandle.map(write) ?? ""),
            ],
        ]
    }
}

extension TestService {
    private func passkey(_ operation: String, _ body: JSON) async throws -> Reply {
        try await post("/v2/accounts/passkey\(operation)?key=\(apiKey)", text: body.text)
    }

    func startEnrollingPasskey(_ idToken: String?, in tenant: String? = nil) async throws -> Reply {
        try await passkey("Enrollment:start", ["idToken": JSON(idToken), "tenantId": JSON(tenant)])
    }

    func finishEnrollingPasskey(
        _ idToken: String?,
        _ registration: JSON,
        name: String? = nil,
        in tenant: String? = nil
    ) async throws -> Reply {
        try await passkey(
            "Enrollment:finalize",
            [
                "idToken": JSON(idToken), "tenantId": JSON(tenant), "name": JSON(name),
                "authenticatorRegistrationResponse": registration,
            ]
        )
    }

    /// Enrolls a new passkey of a signed-in account.
    func enrollPasskey(
        _ idToken: String?,
        in tenant: String? = nil,
        _ change: (inout SoftwareAuthenticator) -> Void = { _ in }
    ) async throws -> (passkey: SoftwareAuthenticator, reply: Reply) {
        let started = try await startEnrollingPasskey(idToken, in: tenant)
        let options = try #require(started["credentialCreationOptions"], "\(started)")
        var passkey = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(options["user"]?["id"]))
        change(&passkey)
        let registration = passkey.registration(for: try PasskeyScene.bytes(options["challenge"]))
        return (passkey, try await finishEnrollingPasskey(idToken, registration, in: tenant))
    }

    func passkeyChallenge(in tenant: String? = nil) async throws -> [UInt8] {
        let reply = try await passkey("SignIn:start", ["tenantId": JSON(tenant)])
        let options = try #require(reply["credentialRequestOptions"], "\(reply)")
        return try PasskeyScene.bytes(options["challenge"])
    }

    func finishPasskeySignIn(_ assertion: JSON, in tenant: String? = nil) async throws -> Reply {
        try await passkey(
            "SignIn:finalize",
            ["tenantId": JSON(tenant), "authenticatorAuthenticationResponse": assertion]
        )
    }

    func signIn(with passkey: SoftwareAuthenticator, in tenant: String? = nil) async throws -> Reply {
        let challenge = try await passkeyChallenge(in: tenant)
        return try await finishPasskeySignIn(passkey.assertion(for: challenge), in: tenant)
    }
}
