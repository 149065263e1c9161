import InMemoryLogging
import TestKit
import Testing

/// A service and one person who signed up with a password.
struct SignedUp: Sendable {
    static let email = "ada.lovelace@example.com"
    static let password = "correct horse battery"

    let service: TestService
    let account: Reply

    static func run(_ body: @Sendable (SignedUp) async throws -> Void) async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let account = try await service.signUp(email, password)
                let scene = SignedUp(service: service, account: account)
                try await body(scene)
                let secrets = [
                    email, password, account.idToken, account.refreshToken, service.adminToken, service.apiKey,
                ]
                let log = service.logs.entries.map { "\($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
                for secret in secrets.compactMap(\.self) { #expect(!log.contains { $0.contains(secret) }) }
            }
        }
    }

    /// Expects a refusal with an error of the service, which changes nothing.
    @discardableResult
    func refuses(
        status: Int = 400,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ attempt: () async throws -> Reply
    ) async throws -> Reply {
        let before = try await Footprint(of: service)
        let reply = try await attempt()
        let after = try await Footprint(of: service)
        #expect(before == after, "\(reply)", sourceLocation: sourceLocation)
        #expect(reply.status == status, "\(reply)", sourceLocation: sourceLocation)
        reply.checkEnvelope(sourceLocation: sourceLocation)
        return reply
    }

    func post(_ operation: String, _ text: String) async throws -> Reply {
        try await service.post("/v1/\(operation)?key=\(service.apiKey)", text: text)
    }
}
