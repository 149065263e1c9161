import Accounts
import Delivery
import Foundation
import InMemoryLogging
import Postgres
import Projects
import Storage
import TestKit
import Testing
import Text

@Suite("Sending one-time codes", .database, .serialized)
struct SendCodeTests {
    @Test("an app gets a mail sent, and no code; the type may come as name, number or digits")
    func sendsMails() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("Ada@example.com")
            for type: JSON in ["PASSWORD_RESET", 1, "1"] {
                let reply = try await service.call(
                    "accounts:sendOobCode",
                    ["requestType": type, "email": "ADA@example.com"],
                    headers: [("X-Firebase-Locale", "de-CH")]
                )
                #expect(
                    reply.json == [
                        "kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": "ada@example.com",
                    ],
                    "\(reply)"
                )
            }
            let mails = try await service.mails().filter { $0.mail.to == "Ada@example.com" }
            #expect(mails.count == 1)
            for sent in mails {
                #expect(sent.mail.template == .passwordReset && sent.mail.language == "de-CH")
                let link = "https://id.example.com/__/auth/action?mode=resetPassword&oobCode=\(sent.code)"
                #expect(sent.mail.link == link + "&apiKey=\(service.apiKey)&lang=de-CH")
                #expect(sent.code.count == 43)
            }
        }
    }

    @Test("each type has its mail", arguments: OOBCodeType.allCases)
    func everyType(_ type: OOBCodeType) async throws {
        try await MailScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let page: JSON = ["continueUrl": "http://localhost:8080/done?a=b&c=d#/x", "canHandleCodeInApp": true]
            let reply = try await service.sendCode(type, type.request(user.idToken).merging(page))
            guard type != .recoverEmail, type != .revertSecondFactor else {
                reply.expectRefused("INVALID_REQ_TYPE : Unsupported request type.")
                return
            }
            #expect(reply["email"] == "ada@example.com", "\(reply)")
            #expect(reply["oobCode"] == nil && reply["oobLink"] == nil)
            let changes = type == .verifyAndChangeEmail
            let sent = try await service.mail(type, to: changes ? "ada@example.net" : "ada@example.com")
            #expect(sent.mail.newEmail == (changes ? "ada@example.net" : nil))
            #expect(sent.items["continueUrl"] == "http://localhost:8080/done?a=b&c=d#/x")
            #expect(sent.items["apiKey"] == service.apiKey)
            let modes: [OOBCodeType: String] = [
                .passwordReset: "resetPassword", .verifyEmail: "verifyEmail", .emailSignIn: "signIn",
                .verifyAndChangeEmail: "verifyAndChangeEmail",
            ]
            #expect(sent.items["mode"] == modes[type])
            let looked = try await service.inspect(sent.code)
            #expect(looked["requestType"] == .string(type.rawValue), "\(looked)")
            #expect(looked["email"] == (type == .emailSignIn ? nil : "ada@example.com"))
            #expect(looked["newEmail"] == (changes ? "ada@example.net" : nil))
        }
    }

    @Test("an admin gets the link, and no mail goes out; the admin's form of the app's path does the same")
    func givesLinks() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("ada@example.com")
            for type: OOBCodeType in [.passwordReset, .verifyEmail, .emailSignIn, .verifyAndChangeEmail] {
                var members: [String: JSON] = [
                    "requestType": .string(type.rawValue), "email": "ada@example.com", "returnOobLink": true,
                ]
                if type == .verifyAndChangeEmail { members["newEmail"] = "ada@example.net" }
                let body = JSON.object(members)
                let reply = try await service.admin("accounts:sendOobCode", body)
                let code = try #require(reply["oobCode"]?.string, "\(reply)")
                let link = try #require(reply["oobLink"]?.string)
                #expect(
                    link.hasPrefix(
                        "https://id.example.com/__/auth/action?mode=\(type.mode)&oobCode=\(code)&apiKey=AIza"
                    )
                )
                #expect(try await service.inspect(code)["requestType"] == .string(type.rawValue))
                let other = try await service.send(
                    "POST",
                    "/v1/accounts:sendOobCode?key=\(service.apiKey)",
                    headers: [("Authorization", "Bearer \(service.adminToken)")],
                    body: Array(body.text.utf8)
                )
                #expect(other["oobLink"] != nil, "\(other)")
            }
            #expect(try await service.mails().isEmpty)
            let mailed = try await service.admin(
                "accounts:sendOobCode",
                ["requestType": "VERIFY_EMAIL", "email": "ada@example.com"]
            )
            #expect(mailed.status == 200 && mailed["oobLink"] == nil)
            #expect(try await service.mails().count == 1)
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var body: JSON
        var error: String
        var admin = false
        var signedIn = false
        var testDescription: String { "\(error): \(body.text)" }
    }

    @Test(
        "says what is wrong",
        arguments: [
            Refused(body: [:], error: "MISSING_REQ_TYPE"),
            Refused(body: ["requestType": 0], error: "MISSING_REQ_TYPE"),
            Refused(
                body: ["requestType": 2, "email": "a@b.example"],
                error: "INVALID_REQ_TYPE : Unsupported request type."
            ),
            Refused(
                body: ["requestType": 1, "email": "ada@example.com", "returnOobLink": true],
                error: "INSUFFICIENT_PERMISSION"
            ),
            Refused(body: ["requestType": "PASSWORD_RESET"], error: "MISSING_EMAIL"),
            Refused(body: ["requestType": "PASSWORD_RESET", "email": " ada@example.com"], error: "INVALID_EMAIL"),
            Refused(body: ["requestType": "PASSWORD_RESET", "email": "bob@example.com"], error: "EMAIL_NOT_FOUND"),
            Refused(
                body: ["requestType": "PASSWORD_RESET", "email": "bob@example.com"],
                error: "EMAIL_NOT_FOUND",
                admin: true
            ),
            Refused(body: ["requestType": "EMAIL_SIGNIN"], error: "MISSING_EMAIL"),
            Refused(body: ["requestType": "EMAIL_SIGNIN", "email": "ada"], error: "INVALID_EMAIL"),
            Refused(body: ["requestType": "EMAIL_SIGNIN", "email": "eve@example.com"], error: "USER_DISABLED"),
            Refused(body: ["requestType": "VERIFY_EMAIL"], error: "MISSING_ID_TOKEN"),
            Refused(body: ["requestType": "VERIFY_EMAIL", "idToken": "x"], error: "INVALID_ID_TOKEN"),
            Refused(body: ["requestType": "VERIFY_EMAIL"], error: "MISSING_EMAIL", admin: true),
            Refused(
                body: ["requestType": "VERIFY_EMAIL", "email": "bob@example.com"],
                error: "USER_NOT_FOUND",
                admin: true
            ),
            Refused(body: ["requestType": "VERIFY_AND_CHANGE_EMAIL"], error: "MISSING_NEW_EMAIL"),
            Refused(
                body: ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "a@b.example"],
                error: "MISSING_ID_TOKEN"
            ),
            Refused(
                body: ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "a@b.example"],
                error: "MISSING_EMAIL",
                admin: true
            ),
            Refused(
                body: ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "a@"],
                error: "INVALID_NEW_EMAIL",
                signedIn: true
            ),
            Refused(
                body: ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "Eve@example.com"],
                error: "EMAIL_EXISTS",
                signedIn: true
            ),
            Refused(
                body: ["requestType": 1, "email": "ada@example.com", "canHandleCodeInApp": true],
                error: "MISSING_CONTINUE_URI"
            ),
            Refused(
                body: ["requestType": 1, "email": "ada@example.com", "continueUrl": "/done"],
                error: "INVALID_CONTINUE_URI : The continue URL must be an absolute http or https URL."
            ),
            Refused(
                body: ["requestType": 1, "email": "ada@example.com", "continueUrl": "javascript:alert(1)//x.example"],
                error: "INVALID_CONTINUE_URI : The continue URL must be an absolute http or https URL."
            ),
            Refused(
                body: ["requestType": 1, "email": "ada@example.com", "continueUrl": "https://evil.example/"],
                error: "UNAUTHORIZED_DOMAIN : Domain not allowlisted by project"
            ),
            Refused(
                body: ["requestType": 1, "email": "ada@example.com", "continueUrl": "https://127.0.0.1/"],
                error: "UNAUTHORIZED_DOMAIN : Domain not allowlisted by project",
                admin: true
            ),
        ]
    )
    func refuses(_ refused: Refused) async throws {
        try await MailScene.run { service in
            let user = try await service.signUp("ada@example.com")
            _ = try await service.admin("accounts", ["email": "eve@example.com", "disabled": true])
            let body = refused.signedIn ? refused.body.merging(["idToken": JSON(user.idToken)]) : refused.body
            let reply =
                refused.admin
                ? try await service.admin("accounts:sendOobCode", body)
                : try await service.call("accounts:sendOobCode", body)
            reply.expectRefused(refused.error)
            let rows = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM oob_codes WHERE project = \(service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(rows == [0])
        }
    }

    @Test("sign-in links are sent where the project has switched them on alone")
    func emailLinkOff() async throws {
        try await TestService.run { service in
            try await service.sendCode(.emailSignIn, ["email": "ada@example.com"])
                .expectRefused("OPERATION_NOT_ALLOWED")
            let on: JSON = ["signIn": ["email": ["enabled": true, "passwordRequired": false]]]
            let config = try await service.admin("config?updateMask=signIn.email", on, method: "PATCH", version: "v2")
            #expect(config["signIn"]?["email"] == ["enabled": true, "passwordRequired": false], "\(config)")
            try await service.sendCode(.emailSignIn, ["email": "ada@example.com"]).expectOK()
            let off: JSON = ["signIn": ["email": ["enabled": true, "passwordRequired": true]]]
            let back = try await service.admin("config?updateMask=signIn.email", off, method: "PATCH", version: "v2")
            #expect(back["signIn"]?["email"] == ["enabled": true, "passwordRequired": true], "\(back)")
            try await service.sendCode(.emailSignIn, ["email": "ada@example.com"])
                .expectRefused("OPERATION_NOT_ALLOWED")
        }
    }

    @Test("T-A15: a change of address asks for a recent sign-in")
    func recentSignIn() async throws {
        try await MailScene.run { service in
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 301)
            try await service.sendCode(
                .verifyAndChangeEmail,
                ["idToken": JSON(user.idToken), "newEmail": "ada@example.net"]
            )
            .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)]).expectOK()
        }
    }

    @Test(
        "T-E3: links begin where configuration says, whatever the request came with",
        arguments: [
            "Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Original-Host", "X-Host", "Origin", "Referer",
        ]
    )
    func ignoresForwarding(_ header: String) async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("ada@example.com")
            let value = header == "Forwarded" ? "host=evil.example;proto=http" : "http://evil.example"
            let reply = try await service.sendCode(
                .passwordReset,
                ["email": "ada@example.com"],
                headers: [(header, value), ("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-Port", "666")]
            )
            reply.expectOK()
            let sent = try await service.mail(.passwordReset, to: "ada@example.com")
            #expect(sent.mail.link.hasPrefix("https://id.example.com/__/auth/action?mode="))
            #expect(!sent.mail.link.contains("evil"))
        }
    }

    @Test("T-E3: the Host header names no link")
    func ignoresHost() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("ada@example.com")
            let port = try #require(URLComponents(string: service.baseURL)?.port)
            let answer = try await RawConnection.open(port: port) { connection in
                let body = #"{"requestType":"PASSWORD_RESET","email":"ada@example.com"}"#
                try await connection.send(
                    "POST /v1/accounts:sendOobCode?key=\(service.apiKey) HTTP/1.1\r\nHost: evil.example\r\n"
                        + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
                )
                return try await connection.readAll()
            }
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
            let sent = try await service.mail(.passwordReset, to: "ada@example.com")
            #expect(sent.mail.link.hasPrefix("https://id.example.com/"))
        }
    }

    @Test("a secret in an email is readable neither in the database nor in the log")
    func keepsCodesSecret() async throws {
        try await MailScene.run { service in
            _ = try await service.signUp("ada@example.com")
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            let found = try await TestDatabase.current.client.query(
                """
                SELECT (SELECT string_agg(t::text, ' ') FROM oob_codes t),
                    (SELECT string_agg(t::text || encode(payload, 'escape'), ' ') FROM outbox t)
                """
            ) { row in (try row.next(String?.self) ?? "", try row.next(String?.self) ?? "") }
            #expect(found.count == 1)
            for (codes, messages) in found { #expect(!codes.contains(code) && !messages.contains(code)) }
            let lines = service.logs.entries.map { "\($0.message) \($0.metadata)" }
            #expect(!lines.isEmpty && !lines.contains { $0.contains(code) })
        }
    }
}
