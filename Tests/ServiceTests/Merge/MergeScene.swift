import Foundation
import Postgres
import Projects
import Secrets
import TestKit
import Testing

/// A service in which people have accounts of every kind; identities are made up, mails and SMS stay in the outbox.
enum MergeScene {
    static func options(_ change: (inout ProjectSettings) -> Void = { _ in }) -> TestService.Options {
        var options = PhoneScene.options { settings in
            settings.emailEnumerationProtection = false
            settings.allowsEmailLink = true
            settings.secondFactors.isEnabled = true
            settings.offerApps()
            change(&settings)
        }
        options.development = true
        return options
    }

    static func run<R: Sendable>(
        _ change: (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> R
    ) async throws -> R {
        try await TestService.run(options(change), body)
    }

    /// What signs in with an identity of a provider.
    static func identity(_ provider: String, _ subject: String, email: String? = nil, verified: Bool = true) -> String {
        let address = email.map { #","email":"\#($0)","email_verified":\#(verified)"# } ?? ""
        return #"providerId=\#(provider)&id_token={"sub":"\#(subject)"\#(address)}"#
    }
}

extension TestService {
    /// Accounts as they were elsewhere.
    func upload(_ users: JSON...) async throws {
        let reply = try await admin("accounts:batchCreate", ["users": .array(users)])
        #expect(reply.status == 200 && reply["error"] == nil, "\(reply)")
    }

    func merge(
        _ merged: String?,
        into survivor: String?,
        dropping: [String] = [],
        _ more: JSON = [:]
    ) async throws -> Reply {
        let body: JSON = [
            "localId": JSON(survivor), "mergedLocalId": JSON(merged),
            "dropProviders": .array(dropping.map { .string($0) }),
        ]
        return try await admin("accounts:merge", body.merging(more))
    }

    func undo(_ merge: Reply) async throws -> Reply {
        try await admin("accounts:undoMerge", ["mergeId": merge["mergeId"] ?? ""])
    }

    func identity(_ provider: String, _ subject: String) async throws -> Reply {
        try await signInWithIdP(postBody: MergeScene.identity(provider, subject))
    }

    /// What no account may hold twice: each claim is of the one account that says so, and each account has its claims.
    func expectConsistentClaims(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let project = project.id.rawValue
        let odd = try await TestDatabase.current.client.query(
            """
            SELECT 'email ' || coalesce(e.email_key, a.email) FROM account_emails e
            FULL JOIN accounts a ON a.project = e.project AND a.account = e.account AND a.tenant = e.tenant
                AND a.email = e.email_key
            WHERE coalesce(e.project, a.project) = \(project) AND (a.account IS NULL AND e.account IS NOT NULL
                OR e.account IS NULL AND a.email IS NOT NULL)
            UNION ALL
            SELECT 'phone ' || coalesce(p.phone_number, a.phone_number) FROM account_phones p
            FULL JOIN accounts a ON a.project = p.project AND a.account = p.account AND a.tenant = p.tenant
                AND a.phone_number = p.phone_number
            WHERE coalesce(p.project, a.project) = \(project) AND (a.account IS NULL AND p.account IS NOT NULL
                OR p.account IS NULL AND a.phone_number IS NOT NULL)
            UNION ALL
            SELECT 'identity ' || coalesce(c.provider, l.provider) FROM credential_subjects c
            FULL JOIN linked_credentials l ON l.project = c.project AND l.account = c.account
                AND l.tenant = c.tenant AND l.provider = c.provider AND l.subject = c.subject
            WHERE coalesce(c.project, l.project) = \(project) AND (c.account IS NULL OR l.account IS NULL)
            UNION ALL
            SELECT 'orphan ' || l.account FROM linked_credentials l
            WHERE l.project = \(project) AND NOT EXISTS (
                SELECT FROM accounts a WHERE a.project = l.project AND a.account = l.account AND a.tenant = l.tenant
                    AND l.provider = ANY (a.methods)
            )
            """
        ) { try $0.next(String.self) }
        #expect(odd == [], sourceLocation: sourceLocation)
    }
}

extension JSON {
    /// An account without what every change and every sign-in moves.
    var lasting: JSON { without("validSince", "lastLoginAt", "lastRefreshAt") }
}
