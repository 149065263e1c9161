import Delivery
import Foundation
import Projects
import Storage
import TestKit
import Testing

@Suite("The emulator's /emulator/action", .database, .serialized)
struct EmulatorActionTests {
    private let ada = "ada@example.com"

    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { try await body($0) }
    }

    /// Opens a link that the service listed, changed.
    private func open(_ mail: SentMail, _ more: String = "", _ service: TestService) async throws -> Reply {
        #expect(mail.mail.link.hasPrefix("\(service.baseURL)/emulator/action?"))
        return try await service.send("GET", mail.mail.link.replacing(service.baseURL, with: "") + more)
    }

    private func expect(_ reply: Reply, error: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(reply.status == 400, "\(reply)", sourceLocation: sourceLocation)
        #expect(reply["authEmulator"]?["error"]?.string == error, "\(reply)", sourceLocation: sourceLocation)
    }

    @Test("a link that an admin makes names a key of its project, and works")
    func adminLink() async throws {
        try await run { service in
            let owner = [("Authorization", "Bearer owner")]
            let accounts = "/v1/projects/another-project/accounts"
            let made = try await service.post(accounts, text: JSON.object(["email": .string(ada)]).text, headers: owner)
            let body: JSON = ["requestType": "VERIFY_EMAIL", "email": .string(ada), "returnOobLink": true]
            let sent = try await service.post("\(accounts):sendOobCode", text: body.text, headers: owner)
            let link = try #require(sent["oobLink"]?.string, "\(sent)")
            #expect(link.contains("&apiKey=AIza"), "\(link)")
            let opened = try await service.send("GET", link.replacing(service.baseURL, with: ""))
            opened.expectOK()
            let found = try await service.post(
                "\(accounts):lookup",
                text: JSON.object(["localId": [JSON(made.localID)]]).text,
                headers: owner
            )
            #expect(found["users"]?[0]?["emailVerified"] == true, "\(found)")
        }
    }

    @Test("one GET carries a link out, and says so in JSON; a second one is refused")
    func carriesOut() async throws {
        try await run { service in
            let user = try await service.signUp(ada)
            let token = JSON(user.idToken)
            _ = try await service.sendCode(.verifyEmail, ["idToken": token])
            let verify = try await service.mail(.verifyEmail, to: ada)
            let verified = try await open(verify, "", service)
            #expect(verified.status == 200 && verified["authEmulator"]?["email"]?.string == ada, "\(verified)")
            #expect(verified["authEmulator"]?["success"]?.string?.isEmpty == false)
            #expect(try await service.account(user.localID)?["emailVerified"] == true)
            expect(try await open(verify, "", service), error: "INVALID_OOB_CODE")

            _ = try await service.sendCode(.verifyAndChangeEmail, ["idToken": token, "newEmail": "ada@example.net"])
            let changed = try await open(service.mail(.verifyAndChangeEmail, to: "ada@example.net"), "", service)
            #expect(changed["authEmulator"]?["newEmail"] == "ada@example.net", "\(changed)")
            let recovered = try await open(service.mail(.recoverEmail, to: ada), "", service)
            #expect(recovered["authEmulator"]?["email"]?.string == ada, "\(recovered)")
            #expect(try await service.account(user.localID)?["email"]?.string == ada)
        }
    }

    @Test("a reset takes its password from the URL, and not the placeholder for it")
    func resets() async throws {
        try await run { service in
            _ = try await service.signUp(ada)
            _ = try await service.sendCode(.passwordReset, ["email": .string(ada)])
            let mail = try await service.mail(.passwordReset, to: ada)
            let asked = try await open(mail, "", service)
            expect(asked, error: "The parameter newPassword is missing.")
            let template = try #require(asked["authEmulator"]?["urlTemplate"]?.string)
            #expect(asked["authEmulator"]?["instructions"]?.string?.contains(ada) == true)
            let placeholder = try await service.send("GET", template)
            expect(placeholder, error: "newPassword must be something other than 'NEW_PASSWORD_HERE'")
            let weak = try await open(mail, "&newPassword=12345", service)
            expect(weak, error: "WEAK_PASSWORD : Password should be at least 6 characters")
            let reset = try await service.send("GET", template.replacing("NEW_PASSWORD_HERE", with: "the%20new+one"))
            #expect(reset.status == 200 && reset["authEmulator"]?["email"]?.string == ada, "\(reset)")
            try await service.signInWithPassword(ada, "the new one").expectOK()
        }
    }

    @Test("continues to the app, but only to one of the project's")
    func leadsOn() async throws {
        try await run { service in
            let user = try await service.signUp(ada)
            let page: JSON = ["continueUrl": "http://127.0.0.1:3000/in?a=1#b"]
            _ = try await service.sendCode(.emailSignIn, page.merging(["email": .string(ada)]))
            let link = try await service.mail(.emailSignIn, to: ada)
            let followed = try await open(link, "", service)
            let expected =
                "http://127.0.0.1:3000/in?a=1&mode=signIn&lang=en&oobCode=\(link.code)&apiKey=\(service.apiKey)#b"
            #expect(followed.status == 303 && followed.response.header("location") == expected, "\(followed)")
            _ = try await service.sendCode(.verifyEmail, page.merging(["idToken": JSON(user.idToken)]))
            let verified = try await open(service.mail(.verifyEmail, to: ada), "", service)
            #expect(verified.status == 303, "\(verified)")
            #expect(verified.response.header("location") == "http://127.0.0.1:3000/in?a=1#b")
            _ = try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
            let plain = try await service.mail(.verifyEmail, to: ada)
            let elsewhere = try await open(plain, "&continueUrl=https%3A%2F%2Fevil.example%2F", service)
            #expect(elsewhere.status == 200 && elsewhere.response.header("location") == nil, "\(elsewhere)")
        }
    }

    @Test("says what is missing")
    func refuses() async throws {
        try await run { service in
            for (query, error) in [
                ("", "The parameter apiKey is missing."), ("?apiKey=k", "The parameter oobCode is missing."),
                ("?apiKey=k&oobCode=x", "Invalid mode"), ("?apiKey=k&oobCode=x&mode=y", "Invalid mode"),
                ("?apiKey=k&oobCode=x&mode=verifyEmail", "INVALID_OOB_CODE"),
                ("?apiKey=k&oobCode=x&mode=resetPassword&newPassword=abcdef", "INVALID_OOB_CODE"),
                ("?apiKey=k&oobCode=x&mode=signIn", "MISSING_CONTINUE_URI"),
                ("?apiKey=k&oobCode=x&oobCode=y", #"Invalid request. Duplicate parameter "oobCode"."#),
            ] {
                expect(try await service.send("GET", "/emulator/action\(query)"), error: error)
            }
        }
    }

    @Test("is not in production")
    func isDevelopmentOnly() async throws {
        try await TestService.run { service in
            let reply = try await service.send("GET", "/emulator/action?apiKey=\(service.apiKey)")
            #expect(reply.status == 404)
        }
    }
}
