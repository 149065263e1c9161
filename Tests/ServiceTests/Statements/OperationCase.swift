import Projects
import TestKit
import Testing

/// An operation in one of the cases that cost differently.
struct OperationCase: Sendable, CustomTestStringConvertible {
    typealias Request = @Sendable () async throws -> Reply

    /// As in statements.tsv, or the operation's name in openapi.yaml.
    var name: String
    var settings: @Sendable (inout ProjectSettings) -> Void
    /// Does what comes before the request.
    var prepare: @Sendable (LinkingWorld) async throws -> Request

    var testDescription: String { name }

    init(
        _ name: String,
        _ settings: @escaping @Sendable (inout ProjectSettings) -> Void = { $0.allowsEmailLink = true },
        _ prepare: @escaping @Sendable (LinkingWorld) async throws -> Request
    ) {
        (self.name, self.settings, self.prepare) = (name, settings, prepare)
    }

    static let all =
        examples + providers + passwords + codes + mails + accounts + admins + notifications + configuration + pages
        + console + service + passkeys + oauth

    static let ada = "ada@example.com"
}
