import IdentityService
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// What a caller can write or change does not make it another one.
@Suite("Limits: who counts as one caller", .database)
struct LimitBypassTests {
    @Test("T-E8: a thousand addresses of one /64 are one caller, the next /64 is another")
    func ipv6Networks() async throws {
        try await LimitScene.run { service in
            var codes: [String: Int] = [:]
            for number in 0..<1_000 {
                let address = "2001:db8:1:2:\(String(number * 65, radix: 16))::\(String(number + 1, radix: 16))"
                let reply = try await service.signIn("ada@example.com", "wrong", from: address)
                codes[reply.code ?? "", default: 0] += 1
            }
            #expect(codes == ["INVALID_LOGIN_CREDENTIALS": 10, "TOO_MANY_ATTEMPTS_TRY_LATER": 990])
            try await service.signIn("ada@example.com", "wrong", from: "2001:db8:1:3::1")
                .expectRefused("INVALID_LOGIN_CREDENTIALS")
        }
    }

    @Test("T-F36: what pages of other sites ask for uses up nothing of those at their visitors' address")
    func foreignPages() async throws {
        try await LimitScene.run { service in
            /// What 120 sign-ups are answered.
            func signUp(_ origins: [String?], _ more: [(String, String)] = []) async throws -> [String: Int] {
                var answers: [String: Int] = [:]
                for number in 0..<120 {
                    let origin = origins[number % origins.count].map { [("Origin", $0)] } ?? []
                    let headers = [("X-Forwarded-For", "198.18.34.1")] + origin + more
                    let reply = try await service.call("accounts:signUp", headers: headers)
                    answers[reply.code ?? "", default: 0] += 1
                }
                return answers
            }
            let limited = ["": 100, "TOO_MANY_ATTEMPTS_TRY_LATER": 20]
            let foreign = ["https://evil.example", "null", "http://evil.example:81", "https://evil.example/x"]
            let pages = try await signUp(foreign)
            #expect(pages == ["": 25, "TOO_MANY_ATTEMPTS_TRY_LATER": 95])
            let parts = try await signUp([nil], [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "image")])
            #expect(parts == ["TOO_MANY_ATTEMPTS_TRY_LATER": 120])
            // An app without a browser, and pages of the project.
            let own = try await signUp([nil, "http://localhost:5000", "capacitor://localhost"])
            #expect(own == limited)
        }
    }

    @Test("T-F36: a page that the user visits does not lock the user out of the password")
    func foreignPasswords() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com", from: "198.18.35.1")
            for number in 0..<12 {
                let reply = try await service.call(
                    "accounts:signInWithPassword",
                    ["email": "ada@example.com", "password": "wrong"],
                    headers: [("X-Forwarded-For", "198.18.35.1"), ("Origin", "https://evil.example")]
                )
                reply.expectRefused(number < 10 ? "INVALID_LOGIN_CREDENTIALS" : LimitScene.locked)
            }
            try await service.signIn("ada@example.com", "correct horse", from: "198.18.35.1").expectOK()
        }
    }

    @Test("T-E8: spellings of one email address are one")
    func spellings() async throws {
        try await LimitScene.run { service in
            let spellings = [
                "ada@example.com", "ADA@example.com", "Ada@EXAMPLE.com", "aDa@Example.Com", "adA@example.COM",
            ]
            for spelling in spellings + spellings {
                try await service.signIn(spelling, "wrong", from: "198.18.12.1")
                    .expectRefused("INVALID_LOGIN_CREDENTIALS")
            }
            for spelling in spellings {
                try await service.signIn(spelling, "wrong", from: "198.18.12.1").expectRefused(LimitScene.locked)
            }
        }
    }

    @Test("T-E8: whatever a caller writes into X-Forwarded-For, it is who the proxy saw")
    func forgedHeaders() async throws {
        try await LimitScene.run { service in
            var random = SplitMix(seed: 8)
            for number in 0..<60 {
                let forged = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.forged(using: &random) }
                // The proxy appends what it saw, with or without a space.
                let header = (forged + ["198.18.13.7"]).joined(separator: number % 2 == 0 ? ", " : ",")
                let reply = try await service.signIn("ada@example.com", "wrong", from: header)
                #expect(
                    reply.code == (number < 10 ? "INVALID_LOGIN_CREDENTIALS" : "TOO_MANY_ATTEMPTS_TRY_LATER"),
                    "\(header): \(reply)"
                )
            }
        }
    }

    @Test("T-E8: without a proxy no header says who calls")
    func untrustedHeaders() async throws {
        var options = try LimitScene.options()
        options.limits.proxies = .none
        try await TestService.run(options) { service in
            var random = SplitMix(seed: 9)
            let names = [
                "X-Forwarded-For", "Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP",
                "Client-IP", "Via",
            ]
            for number in 0..<40 {
                let reply = try await service.call(
                    "accounts:signInWithPassword",
                    ["email": "ada@example.com", "password": "wrong"],
                    headers: names.map { ($0, Self.forged(using: &random)) }
                )
                #expect(
                    reply.code == (number < 10 ? "INVALID_LOGIN_CREDENTIALS" : "TOO_MANY_ATTEMPTS_TRY_LATER"),
                    "\(reply)"
                )
            }
        }
    }

    @Test("T-E8: another project of the deployment is no further allowance")
    func otherProjects() async throws {
        try await LimitScene.run { first in
            try await LimitScene.run { second in
                for number in 0..<100 {
                    let reply = try await (number % 2 == 0 ? first : second)
                        .call("accounts:signUp", [:], from: "198.18.14.2")
                    reply.expectOK()
                }
                for service in [first, second] {
                    try await service.call("accounts:signUp", [:], from: "198.18.14.2")
                        .expectRefused(LimitScene.blocked)
                }
            }
        }
    }

    @Test("T-E8: a project's own numbers narrow nothing of another's, and widen nothing")
    func ownNumbers() async throws {
        let (narrow, wide) = ("carol.narrow@example.org", "carol.wide@example.org")
        try await LimitScene.run { first in
            try await LimitScene.run { second in
                try await first.limit(["mailsPerRecipient": ["count": 1, "seconds": 86_400]])
                try await first.askForReset(narrow, from: "198.18.15.1").expectOK()
                #expect(try await first.askForReset(narrow, from: "198.18.15.1").status == 400)
                for _ in 0..<5 {
                    let reply = try await second.askForReset(narrow, from: "198.18.15.2")
                    reply.expectOK()
                }
                #expect(try await second.askForReset(narrow, from: "198.18.15.2").status == 400)
                let reply = try await first.admin(
                    "config?updateMask=identity.rateLimits.mailsPerRecipient",
                    ["identity": ["rateLimits": ["mailsPerRecipient": ["count": 1_000_000, "seconds": 1]]]],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(reply.code == "INVALID_CONFIG", "\(reply)")
                // Numbers that were there before the deployment's became narrower widen nothing either.
                _ = try await first.stores.configuration.updateSettings(of: first.project.id) { settings in
                    settings.rateLimits[.mailsPerRecipient] = RateLimitBudget(count: 1_000_000, seconds: 1)
                    return ["identity.rateLimits.mailsPerRecipient"]
                }
                try await first.stores.configuration.refresh()
                for _ in 0..<5 { #expect(try await first.askForReset(wide, from: "198.18.15.3").status == 200) }
                #expect(try await first.askForReset(wide, from: "198.18.15.3").status == 400)
            }
        }
    }

    @Test("T-E8: only an admin of all projects turns off the limits, those over all projects among them")
    func turnedOff() async throws {
        try await LimitScene.run { service in
            let (_, token) = try await service.stores.configuration.createAdminCredential(
                name: "project",
                project: service.project.id,
                scopes: [.manageConfiguration],
                expiresAt: nil
            )
            let projectToken = token.reveal()
            func turn(on: Bool, _ token: String) async throws -> Reply {
                let body: JSON = ["identity": ["rateLimits": ["enabled": .bool(on)]]]
                return try await service.send(
                    "PATCH",
                    "/v2/projects/\(service.project.id)/config?updateMask=identity.rateLimits.enabled",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: Array(body.text.utf8)
                )
            }
            let email = "dora@example.org"
            #expect(try await turn(on: false, projectToken).status == 403)
            for _ in 0..<5 { #expect(try await service.askForReset(email, from: "198.18.16.1").status == 200) }
            #expect(try await service.askForReset(email, from: "198.18.16.1").status == 400)
            try await turn(on: false, service.adminToken).expectOK()
            try await service.askForReset(email, from: "198.18.16.1").expectOK()
            try await turn(on: true, projectToken).expectOK()
            #expect(try await service.askForReset(email, from: "198.18.16.1").status == 400)
        }
    }

    @Test("T-E7: only an admin of all projects chooses the sender's local part, and widens the emails of a day")
    func sender() async throws {
        try await LimitScene.run { service in
            let (_, token) = try await service.stores.configuration.createAdminCredential(
                name: "project",
                project: service.project.id,
                scopes: [.manageConfiguration],
                expiresAt: nil
            )
            func set(_ path: String, _ body: JSON, by token: String) async throws -> Int {
                try await service.send(
                    "PATCH",
                    "/v2/projects/\(service.project.id)/config?updateMask=\(path)",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: Array(body.text.utf8)
                ).status
            }
            let path = "notification.sendEmail.resetPasswordTemplate.senderLocalPart"
            let template: JSON = ["resetPasswordTemplate": ["senderLocalPart": "security"]]
            let body: JSON = ["notification": ["sendEmail": template]]
            // The third changes nothing.
            for (token, status) in [(token.reveal(), 403), (service.adminToken, 200), (token.reveal(), 200)] {
                #expect(try await set(path, body, by: token) == status)
            }
            // Nor does a project widen how many emails it has sent from there; it narrows that.
            for (count, status) in [(1_000_000, 403), (10, 200)] {
                let mails: JSON = ["mailsPerProject": ["count": .number(Double(count)), "seconds": 86_400]]
                let limits: JSON = ["identity": ["rateLimits": mails]]
                #expect(try await set("identity.rateLimits.mailsPerProject", limits, by: token.reveal()) == status)
            }
        }
    }

    /// What somebody could write who wants to be another, or nobody.
    private static func forged(using random: inout SplitMix) -> String {
        let byte = { (random: inout SplitMix) in String(UInt8.random(in: 0...255, using: &random)) }
        let address = (0..<4).map { _ in byte(&random) }.joined(separator: ".")
        let forms = [
            address, "\(address):443", "2001:db8::\(byte(&random))", "[2001:db8::1]:80", "for=\(address)", "unknown",
            "_hidden", "127.0.0.1", "", "::ffff:\(address)", "\"\(address)\"", "\(address) \(address)", "1.2.3",
            "-", "fe80::1%eth0",
        ]
        return forms[Int.random(in: forms.indices, using: &random)]
    }
}
