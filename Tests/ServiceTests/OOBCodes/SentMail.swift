import Delivery
import Foundation
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// A mail of the outbox whose code is good for something.
struct SentMail: Sendable {
    let mail: Mail
    /// What the link holds, by name.
    let items: [String: String]
    let type: OOBCodeType

    var code: String { items["oobCode"] ?? "" }
}

extension TestService {
    /// Mails that wait, with codes that were neither used nor replaced.
    func mails() async throws -> [SentMail] {
        let scope = Scope(project: project.id)
        var mails: [SentMail] = []
        for payload in try await stores.outbox.waiting(Mail.kind, in: scope) {
            let mail = try JSONDecoder().decode(Mail.self, from: Data(payload))
            let items = (URLComponents(string: mail.link)?.queryItems ?? [])
                .reduce(into: [String: String]()) { $0[$1.name] = $1.value }
            guard let found = try await stores.oobCodes.find(Secret(items["oobCode"] ?? ""), in: scope) else {
                continue
            }
            mails.append(SentMail(mail: mail, items: items, type: found.code.type))
        }
        return mails
    }

    /// The one live mail of a type to an address, but for those with these codes.
    func mail(
        _ type: OOBCodeType,
        to address: String,
        besides earlier: Set<String> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> SentMail {
        let found = try await mails().filter { $0.type == type && $0.mail.to == address && !earlier.contains($0.code) }
        #expect(found.count == 1, sourceLocation: sourceLocation)
        return try #require(found.first, sourceLocation: sourceLocation)
    }

    /// Asks for a mail, as an app does.
    func sendCode(_ type: OOBCodeType, _ more: JSON, headers: [(String, String)] = []) async throws -> Reply {
        let body = more.merging(["requestType": .string(type.rawValue)])
        return try await call("accounts:sendOobCode", body, headers: headers)
    }

    /// Asks for a mail and reads its code.
    func code(_ type: OOBCodeType, _ more: JSON, to address: String) async throws -> String {
        let earlier = Set(try await mails().map(\.code))
        let reply = try await sendCode(type, more)
        reply.expectOK()
        return try await mail(type, to: address, besides: earlier).code
    }

    func apply(_ code: String) async throws -> Reply {
        try await call("accounts:update", ["oobCode": .string(code)])
    }

    func inspect(_ code: String) async throws -> Reply {
        try await call("accounts:resetPassword", ["oobCode": .string(code)])
    }

    func reset(_ code: String, to password: String) async throws -> Reply {
        try await call("accounts:resetPassword", ["oobCode": .string(code), "newPassword": .string(password)])
    }

    func signInWithLink(_ email: String, _ code: String, idToken: String? = nil) async throws -> Reply {
        try await call(
            "accounts:signInWithEmailLink",
            ["email": .string(email), "oobCode": .string(code), "idToken": JSON(idToken)]
        )
    }
}

/// A service without enumeration protection, so that refusals say what they are for, with sign-in by link.
enum MailScene {
    static func run<R: Sendable>(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> R
    ) async throws -> R {
        var options = TestService.Options()
        options.settings.emailEnumerationProtection = false
        options.settings.allowsEmailLink = true
        change(&options.settings)
        return try await TestService.run(options, body)
    }
}

extension OOBCodeType {
    /// What a request of this type says, and no more.
    func request(_ idToken: String?, email: String = "ada@example.com", newEmail: String = "ada@example.net") -> JSON {
        switch self {
        case .verifyEmail, .recoverEmail, .revertSecondFactor: ["idToken": JSON(idToken)]
        case .verifyAndChangeEmail: ["idToken": JSON(idToken), "newEmail": .string(newEmail)]
        case .passwordReset, .emailSignIn: ["email": .string(email)]
        }
    }
}

extension TestService {
    /// The code in the mail to an address that the user wants to have.
    func changeCode(_ user: Reply, to address: String) async throws -> String {
        try await code(
            .verifyAndChangeEmail,
            ["idToken": JSON(user.idToken), "newEmail": .string(address)],
            to: address
        )
    }

    /// Changes the address without a mail to the new one.
    func move(_ user: Reply, to address: String) async throws -> Reply {
        try await call("accounts:update", ["idToken": JSON(user.idToken), "email": .string(address)])
    }
}
