import Accounts
import Domain
import Federation
import HTTPTypes
import IdentityService
import NIOCore
import Storage
import Testing
import TestKit

@Suite("Errors on the wire")
struct WireErrorTests {
    private func body(_ error: WireError, _ envelope: ErrorEnvelope) -> String {
        String(buffer: error.response(in: envelope).body)
    }

    @Test("has three shapes")
    func shapes() {
        #expect(
            body(WireError("EMAIL_EXISTS"), .accounts)
                == #"{"error":{"code":400,"message":"EMAIL_EXISTS","errors":[{"message":"EMAIL_EXISTS","domain":"global","reason":"invalid"}]}}"#
        )
        #expect(
            body(WireError("TOKEN_EXPIRED"), .status)
                == #"{"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}"#
        )
        let invalid = WireError.invalidRequest("Invalid value at 'a' (TYPE_BOOL), 1", field: "a")
        #expect(
            body(invalid, .status)
                == #"{"error":{"code":400,"message":"Invalid value at 'a' (TYPE_BOOL), 1","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a","description":"Invalid value at 'a' (TYPE_BOOL), 1"}]}]}}"#
        )
    }

    @Test("is plain text for 429 and 5xx where JSON would sign people out, and JSON for the rest")
    func plainText() {
        let plain = WireError.unavailable(cause: "x").response(in: .plainFailures(.accounts))
        #expect(plain.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(plain.headers[.retryAfter] == "1")
        let json = WireError("INVALID_ID_TOKEN").response(in: .plainFailures(.accounts))
        #expect(json.headers[.contentType] == "application/json; charset=utf-8")
        #expect(json.headers[.cacheControl] == "no-store")
    }

    @Test(
        "separates code and detail once",
        arguments: [
            "plain", "a : b", "a : : b", " : ", "a\r\n : \u{0} : b", "x :  : y", String(repeating: " : ", count: 900),
        ]
    )
    func separatesOnce(_ detail: String) {
        let error = WireError("INVALID_IDP_RESPONSE", detail)
        #expect(error.message.split(separator: " : ", omittingEmptySubsequences: false).count <= 2)
        #expect(error.message.hasPrefix("INVALID_IDP_RESPONSE : "))
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 })
        #expect(error.code == "INVALID_IDP_RESPONSE")
    }

    @Test(
        "knows the code of a message",
        arguments: [
            ("EMAIL_EXISTS", nil, "EMAIL_EXISTS"), ("WEAK_PASSWORD", "short", "WEAK_PASSWORD"),
        ] as [(String, String?, String)]
    )
    func code(_ code: String, _ detail: String?, _ expected: String) {
        #expect(WireError(code, detail).code == expected)
        #expect(WireError.notFound.code == nil)
    }

    // MARK: Mapping

    @Test(
        "uses the documented texts",
        arguments: [
            (.missingIDToken, "MISSING_ID_TOKEN"), (.recentSignInRequired, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"),
            (.accountNotFound, "EMAIL_NOT_FOUND"), (.signUpClosed, "ADMIN_ONLY_OPERATION"),
            (.passwordSignInDisabled, "PASSWORD_LOGIN_DISABLED"),
            (.weakPassword, "WEAK_PASSWORD : Password should be at least 6 characters"),
            (.passwordTooLong, "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Password cannot be longer than 4096 characters"),
            (.verifyEmailBeforeChange, "OPERATION_NOT_ALLOWED : Please verify the new email before changing email."),
            (.lastSignInMethod, "OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed."),
            (.unsupportedParameters, "INVALID_REQ_TYPE : Unsupported request parameters."),
            (.displayNameTooLong, "INVALID_PROFILE_ATTRIBUTE : Display name too long."),
            (.invalidPhoneNumber, "INVALID_PHONE_NUMBER : Invalid format."),
            (.forbiddenClaim("sub"), "FORBIDDEN_CLAIM : sub"),
            (
                .missingIdentifierForLink,
                "MISSING_IDENTIFIER : providerId & rawId are both required for provider linking"
            ),
            (.linking(.identityLinkedToAnotherAccount), "FEDERATED_USER_ID_ALREADY_LINKED"),
            (.linking(.providerAlreadyLinked), "PROVIDER_ALREADY_LINKED"), (.linking(.emailExists), "EMAIL_EXISTS"),
            (.providerNotFound, "OPERATION_NOT_ALLOWED : The identity provider configuration is not found."),
            (
                .duplicateCredential,
                "MISSING_OR_INVALID_NONCE : Duplicate credential received. Please try again with a new credential."
            ),
            (
                .missingProviderOrCredential(
                    requestURI: "https://app.example/cb?code=secret#x",
                    provider: "google.com"
                ),
                "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: https://app.example/cb?providerId=google.com"
            ),
            (
                .federation(.audienceMismatch(got: ["a", "b"], want: "c")),
                "INVALID_IDP_RESPONSE : The audience in ID Token [a, b] does not match the expected audience c."
            ),
            (.federation(.cancelled), "USER_CANCELLED"),
        ] as [(AccountsError, String)]
    )
    func texts(_ error: AccountsError, _ message: String) {
        let wire = WireError(mapping: error)
        #expect(wire.message == message)
        #expect(wire.status == .badRequest)
    }

    @Test("says nothing of an error that it does not know")
    func hidesUnknownErrors() async throws {
        struct Leak: Error, CustomStringConvertible { var description: String { "password=hunter2" } }
        let wire = WireError(mapping: Leak())
        #expect(wire.status == .internalServerError)
        #expect(wire.message == "INTERNAL_ERROR")
        #expect(wire.cause == "Leak")
    }

    @Test("asks to try again when accounts are contended or hashing is full")
    func transientErrors() {
        #expect(WireError(mapping: AccountsError.contended).status == .serviceUnavailable)
        #expect(WireError(mapping: AccountsError.overloaded).status == .serviceUnavailable)
        #expect(WireError(mapping: CancellationError()).status == .serviceUnavailable)
    }

    @Test("keeps a provider's words out of the log, and has a reason there")
    func causes() {
        let wire = WireError(mapping: AccountsError.federation(.issuerMismatch(got: "https://evil", want: "https://x")))
        #expect(wire.cause == "idToken.issuer")
    }

    @Test("answers for configurations")
    func configuration() {
        #expect(WireError(mapping: ConfigurationError.notFound).message == "CONFIGURATION_NOT_FOUND")
        #expect(WireError(mapping: ConfigurationError.notFound).status == .notFound)
        #expect(WireError(mapping: ConfigurationError.unreadable("secret row")).message == "INTERNAL_ERROR")
    }
}
