import Domain
import InMemoryLogging
import Logging
import Passwords
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Leaked passwords", .database)
struct LeakedPasswordTests {
    /// Knows one password, or cannot say.
    private struct Leaks: LeakedPasswords {
        struct Unreachable: Error {}
        var password: String?

        func contains(_ password: Secret, share: String) throws -> Bool {
            guard let known = self.password else { throw Unreachable() }
            return password.reveal() == known
        }
    }

    private static let leaked = "correct horse"
    private static let error = "WEAK_PASSWORD : This password appeared in a data leak. Choose another one."

    private func run(
        refuses: Bool = true,
        knows: String? = leaked,
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        var options = TestService.Options()
        options.settings.refusesLeakedPasswords = refuses
        options.settings.signInPage = true
        options.settings.emailEnumerationProtection = false
        options.settings.offerApps()
        options.leakedPasswords = Leaks(password: knows)
        options.ownPages = true
        try await TestService.run(options, body)
    }

    @Test("users cannot choose one, at sign-up, change, link and reset; an admin can")
    func refused() async throws {
        try await run { service in
            let ada = try await service.signUp("ada@example.com", "another horse")
            ada.expectOK()
            #expect(try await service.signUp("new@example.com", Self.leaked).error == Self.error)
            let taken = try await service.signUp("ada@example.com", Self.leaked)
            #expect(taken.error == "EMAIL_EXISTS", "\(taken)")
            let guest = try await service.call("accounts:signUp")
            let link: JSON = [
                "idToken": JSON(guest.idToken), "email": "g@example.com", "password": .string(Self.leaked),
            ]
            #expect(try await service.call("accounts:signUp", link).error == Self.error)
            let change: JSON = ["idToken": JSON(ada.idToken), "password": .string(Self.leaked)]
            #expect(try await service.call("accounts:update", change).error == Self.error)
            let code = try await service.code(.passwordReset, ["email": "ada@example.com"], to: "ada@example.com")
            let reset: JSON = ["oobCode": .string(code), "newPassword": .string(Self.leaked)]
            #expect(try await service.call("accounts:resetPassword", reset).error == Self.error)
            // The code is still good.
            let good: JSON = ["oobCode": .string(code), "newPassword": "a third horse"]
            try await service.call("accounts:resetPassword", good).expectOK()
            let byAdmin = try await service.admin(
                "accounts",
                ["email": "a@example.com", "password": .string(Self.leaked)]
            )
            byAdmin.expectOK()
            try await service.signInWithPassword("a@example.com", Self.leaked).expectOK()
        }
    }

    @Test("the pages say why, in the form itself")
    func onPages() async throws {
        try await run { service in
            let person = SignInPagePerson(service: service)
            let form = try await person.press("do", "showSignUp", on: try await person.open())
            let typed = ["email": "new@example.com", "password": Self.leaked]
            let again = try await person.press("do", "signUp", typed, on: form)
            #expect(again.alert == "This password appeared in a data leak. Choose another one.", "\(again.text)")
            let (link, _) = try await service.actionMail(.passwordReset)
            let visit = try await service.carryOut(link, ["newPassword": Self.leaked])
            #expect(visit.status == 400 && visit.alert?.contains("data leak") == true, "\(visit.text)")
            #expect(visit.forms.count == 1 && !visit.text.contains(Self.leaked))
        }
    }

    @Test("they are good where the project allows them, and while nobody can tell", arguments: [true, false])
    func allowed(_ refuses: Bool) async throws {
        try await run(refuses: refuses, knows: refuses ? nil : Self.leaked) { service in
            let opened = try await service.signUp("ada@example.com", Self.leaked)
            opened.expectOK()
            let warnings = service.logs.entries.filter { "\($0.message)".contains("whether a password was leaked") }
            #expect(warnings.count == (refuses ? 1 : 0))
        }
    }

    @Test("an imported one signs in, once with a line in the log")
    func imported() async throws {
        let hash = ImportedHash.all[0]
        try await run(knows: hash.password) { service in
            let uploaded = try await service.admin("accounts:batchCreate", hash.upload())
            uploaded.expectOK()
            for _ in 1...2 {
                let reply = try await service.signInWithPassword("ada@example.com", hash.password)
                reply.expectOK()
            }
            let lines = service.logs.entries.filter { "\($0.message)" == "Signed in with a password that was leaked" }
            #expect(lines.map { "\($0.metadata["account.id"] ?? "")" } == ["ada"])
        }
    }
}
