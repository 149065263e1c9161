import Foundation
import Secrets
import Sessions
import TestKit
import Testing

/// A call of a client operation as an app makes it, for tests of what holds for all of them.
struct ExampleCall: Sendable, CustomTestStringConvertible {
    let path: String
    /// What a call needs that can be made but once: an account, a code; nil for a GET.
    let body: (@Sendable (TestService) async throws -> JSON)?
    let status: Int

    var testDescription: String { path }
    var method: String { body == nil ? "GET" : "POST" }

    private init(
        _ path: String,
        status: Int = 200,
        _ body: (@Sendable (TestService) async throws -> JSON)? = nil
    ) {
        self.path = path
        self.body = body
        self.status = status
    }

    /// One for each client operation; what needs a provider, a phone or a second factor is refused.
    static let all: [ExampleCall] = {
        let own = account + passwords + codes + providers + phones + secondFactors
        return own + documented.filter { example in !own.contains { $0.path == example.path } }
    }()

    /// Those of openapi.yaml.
    private static let documented = ((try? OpenAPIDocument.ofRepository())?.examples ?? []).filter {
        $0.credentials.contains("apiKey")
    }
    .map { example in
        guard let body = example.body else { return ExampleCall(example.operation.path) }
        return ExampleCall(example.operation.path) { service in
            guard body["idToken"] != nil else { return body }
            return body.replacing(["idToken": try await idToken(service)])
        }
    }

    /// Addresses that nobody has.
    private static func address() -> String { RandomSource.system.text(12, of: "abcdefghijklm") + "@example.com" }

    private static func signedUp(_ service: TestService) async throws -> (email: JSON, account: Reply) {
        let email = address()
        return (.string(email), try await service.signUp(email))
    }

    private static func idToken(_ service: TestService) async throws -> JSON {
        JSON(try await signedUp(service).account.idToken)
    }

    private static func code(_ type: JSON, for email: JSON, _ service: TestService) async throws -> JSON {
        let body: JSON = [
            "requestType": type, "email": email, "returnOobLink": true, "continueUrl": "http://localhost/",
        ]
        return try #require(try await service.admin("accounts:sendOobCode", body)["oobCode"])
    }

    private static let account: [ExampleCall] = [
        ExampleCall("/v1/accounts:update") {
            [
                "idToken": try await idToken($0), "displayName": "Ada", "deleteAttribute": ["PHOTO_URL"],
                "validSince": 1, "returnSecureToken": true,
            ]
        },
        ExampleCall("/v1/token") {
            [
                "grantType": "refresh_token",
                "refreshToken": JSON(try await signedUp($0).account.refreshToken),
            ]
        },
    ]

    private static let passwords: [ExampleCall] = [
        ExampleCall("/v1/accounts:signUp") { _ in
            [
                "email": .string(address()), "password": "correct horse", "displayName": "Ada",
                "returnSecureToken": true, "tenantId": "",
            ]
        },
        ExampleCall("/v1/accounts:signInWithPassword") {
            ["email": try await signedUp($0).email, "password": "correct horse", "returnSecureToken": true]
        },
        ExampleCall("/v1/accounts:signInWithCustomToken") { _ in
            let parts = [#"{"alg":"none","typ":"JWT"}"#, #"{"uid":"ada","aud":"\#(CustomToken.audience)"}"#].map {
                Base64URL.encode(Array($0.utf8))
            }
            return ["token": .string(parts.joined(separator: ".") + "."), "returnSecureToken": true]
        },
    ]

    private static let codes: [ExampleCall] = [
        ExampleCall("/v1/accounts:sendOobCode") {
            [
                "requestType": "PASSWORD_RESET", "email": try await signedUp($0).email,
                "continueUrl": "http://localhost/", "canHandleCodeInApp": false,
            ]
        },
        ExampleCall("/v1/accounts:resetPassword") {
            let email = try await signedUp($0).email
            return ["oobCode": try await code("PASSWORD_RESET", for: email, $0), "newPassword": "battery staple"]
        },
        ExampleCall("/v1/accounts:signInWithEmailLink") {
            let email = try await signedUp($0).email
            return ["email": email, "oobCode": try await code("EMAIL_SIGNIN", for: email, $0)]
        },
    ]

    private static let phones: [ExampleCall] = [
        ExampleCall("/v1/accounts:sendVerificationCode") { _ in
            ["phoneNumber": "+4915550100", "recaptchaToken": "not-checked"]
        },
        ExampleCall("/v1/accounts:verifyIosClient", status: 400) { _ in ["appToken": "ab12", "isSandbox": true] },
        ExampleCall("/v1/accounts:signInWithPhoneNumber", status: 400) { _ in ["sessionInfo": "x", "code": "123456"] },
    ]

    private static let secondFactors: [ExampleCall] = [
        ExampleCall("/v2/accounts/mfaEnrollment:start", status: 400) {
            ["idToken": try await idToken($0), "totpEnrollmentInfo": [:]]
        },
        ExampleCall("/v2/accounts/mfaEnrollment:finalize", status: 400) {
            [
                "idToken": try await idToken($0), "displayName": "Phone",
                "totpVerificationInfo": ["sessionInfo": "x", "verificationCode": "000000"],
            ]
        },
        ExampleCall("/v2/accounts/mfaEnrollment:withdraw", status: 400) {
            ["idToken": try await idToken($0), "mfaEnrollmentId": "x"]
        },
        ExampleCall("/v2/accounts/passkeyEnrollment:finalize", status: 400) {
            ["idToken": try await idToken($0), "name": "Key"]
        },
        ExampleCall("/v2/accounts/passkeySignIn:start") { _ in ["tenantId": ""] },
        ExampleCall("/v2/accounts/passkeySignIn:finalize", status: 400) { _ in ["name": "Key"] },
        ExampleCall("/v2/accounts/mfaSignIn:start", status: 400) { _ in
            ["mfaPendingCredential": "x", "mfaEnrollmentId": "x", "phoneSignInInfo": [:]]
        },
        ExampleCall("/v2/accounts/mfaSignIn:finalize", status: 400) { _ in
            [
                "mfaPendingCredential": "x", "mfaEnrollmentId": "x",
                "totpVerificationInfo": ["verificationCode": "000000"],
            ]
        },
    ]

    private static let providers: [ExampleCall] = [
        ExampleCall("/v1/accounts:signInWithIdp") { _ in
            // Somebody new each time.
            let token = #"{"sub":"\#(address())","email":"\#(address())","email_verified":true}"#
            return [
                "requestUri": "http://localhost",
                "postBody": .string("providerId=google.com&id_token=\(token.replacing("\"", with: "%22"))"),
                "returnSecureToken": true, "returnIdpCredential": true, "autoCreate": true,
            ]
        },
        ExampleCall("/v1/accounts:createAuthUri") {
            ["identifier": try await signedUp($0).email, "continueUri": "http://localhost", "sessionId": "s"]
        },
        ExampleCall("/v1/accounts:providerToken", status: 400) {
            ["idToken": try await idToken($0), "providerId": "google.com"]
        },
        ExampleCall("/v2/accounts:revokeToken", status: 400) {
            ["idToken": try await idToken($0), "providerId": "google.com", "tokenType": "CODE", "token": "c0de"]
        },
    ]
}
