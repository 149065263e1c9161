import IdentityService
import Projects
import TestKit
import Testing

/// A service whose limits are those of production, behind a proxy that says who calls.
enum LimitScene {
    static let blocked =
        "TOO_MANY_ATTEMPTS_TRY_LATER : We have blocked all requests from this device due to unusual activity. "
        + "Try again later."
    static let locked =
        "TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled due to many failed login "
        + "attempts. You can immediately restore it by resetting your password or you can try again later."

    static func options(_ change: (inout ProjectSettings) -> Void = { _ in }) throws -> TestService.Options {
        var options = TestService.Options()
        options.limitsRates = true
        options.limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
        options.settings.allowsEmailLink = true
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

extension TestService {
    /// A call that the proxy passed on.
    func call(_ operation: String, _ body: JSON, from address: String) async throws -> Reply {
        try await call(operation, body, headers: [("X-Forwarded-For", address)])
    }

    func signIn(_ email: String, _ password: String, from address: String) async throws -> Reply {
        try await call(
            "accounts:signInWithPassword",
            ["email": .string(email), "password": .string(password)],
            from: address
        )
    }

    func signUp(_ email: String, from address: String) async throws -> Reply {
        try await call(
            "accounts:signUp",
            ["email": .string(email), "password": "correct horse"],
            from: address
        )
    }

    func askForReset(_ email: String, from address: String) async throws -> Reply {
        try await call(
            "accounts:sendOobCode",
            ["requestType": "PASSWORD_RESET", "email": .string(email)],
            from: address
        )
    }

    /// Sets limits as an admin does.
    func limit(_ limits: JSON) async throws {
        let body: JSON = ["identity": ["rateLimits": limits]]
        let names = (limits.object ?? [:]).keys.map { "identity.rateLimits.\($0)" }.joined(separator: ",")
        let reply = try await admin("config?updateMask=\(names)", body, method: "PATCH", version: "v2")
        reply.expectOK()
    }
}
