import Projects
import TestKit
import Testing

/// A service where people sign in by phone; SMS stay in the outbox.
enum PhoneScene {
    static let number = "+4915550100"
    static let other = "+4915550101"

    static func options(_ change: (inout ProjectSettings) -> Void = { _ in }) -> TestService.Options {
        var options = TestService.Options()
        options.settings.phone.isEnabled = true
        options.settings.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        change(&options.settings)
        return options
    }

    static func run<R: Sendable>(
        _ change: (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> R
    ) async throws -> R {
        try await TestService.run(options(change), body)
    }
}

/// A code that is on its way, with what has to come with it.
struct SentCode: Sendable {
    var session: String
    var code: String

    /// Any code but this one.
    var wrong: String { code == "000000" ? "000001" : "000000" }

    func body(_ more: [String: JSON] = [:]) -> JSON {
        .object(["sessionInfo": .string(session), "code": .string(code)].merging(more) { $1 })
    }
}

extension String {
    /// As input methods of Japanese keyboards write digits.
    var inFullWidth: String {
        String(String.UnicodeScalarView(unicodeScalars.compactMap { Unicode.Scalar($0.value + 0xfee0) }))
    }
}

extension TestService {
    func sendSMS(to number: String, _ more: [String: JSON] = [:]) async throws -> Reply {
        let body = JSON.object(["phoneNumber": .string(number)].merging(more) { $1 })
        return try await call("accounts:sendVerificationCode", body)
    }

    /// Asks for an SMS and reads it.
    func code(to number: String) async throws -> SentCode {
        let reply = try await sendSMS(to: number)
        reply.expectOK()
        return SentCode(session: try #require(reply["sessionInfo"]?.string), code: try await smsCode(to: number))
    }

    func signInByPhone(_ body: JSON) async throws -> Reply {
        try await call("accounts:signInWithPhoneNumber", body)
    }

    /// The whole way: an SMS, and its code.
    func signInByPhone(_ number: String, idToken: String? = nil) async throws -> Reply {
        try await signInByPhone(code(to: number).body(["idToken": JSON(idToken)]))
    }
}
