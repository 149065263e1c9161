import Delivery
import Development
import Domain
import Foundation
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("The sign-in page", .database, .testProvider)
struct SignInPageTests {
    private static let ada = "ada@example.com"

    @Test("signs in with a password and gives the app a code, which any SDK exchanges for the session")
    func password() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            let account = try await scene.service.signUp(Self.ada)
            let page = try await person.open()
            #expect(page.status == 200 && page.heading == "Sign in" && page.text.contains("<bdi>Tea House</bdi>"))
            #expect(page.buttons == ["github.com", "signIn", "forgotPassword", "showSignUp"])
            let wrong = try await person.signIn(Self.ada, "wrong horse", on: page)
            #expect(
                wrong.status == 400 && wrong.alert == "The email address or password is incorrect.",
                "\(wrong.text)"
            )
            let end = try await person.signIn(Self.ada, "correct horse", on: wrong)
            #expect(end.isStopped && end.url.hasPrefix("http://localhost:8000/app?a=b&signInCode=page_"), "\(end.url)")
            #expect(end.url.hasSuffix("#/route"))
            let reply = try await person.redeem(end)
            #expect(reply.status == 200 && reply["isNewUser"] == false, "\(reply)")
            #expect(reply.claims["firebase"]?["sign_in_provider"] == "password")
            #expect(try await scene.service.lookUp(reply.idToken)["users"]?[0]?["localId"]?.string == account.localID)
            try await scene.service.refresh(reply.refreshToken).expectOK()
        }
    }

    @Test("emails a code, and signs in with it in the same browser, although the link was opened elsewhere")
    func emailCode() async throws {
        try await ProviderScene.runSignInPage {
            $0.allowsEmailLink = true
            $0.emailCodes = true
        } _: { scene, person in
            let start = try await person.open()
            #expect(start.buttons == ["github.com", "signIn", "showEmailCode", "forgotPassword", "showSignUp"])
            let asks = try await person.press("do", "showEmailCode", on: start)
            #expect(asks.heading == "Email me a code", "\(asks.text)")
            let typo = try await person.press("do", "sendEmailCode", ["email": "ada"], on: asks)
            #expect(typo.heading == asks.heading && typo.alert == "Enter a valid email address.")
            let sent = try await person.press("do", "sendEmailCode", ["email": Self.ada], on: typo)
            #expect(
                sent.heading == "Check your email" && sent.text.contains("<bdi>ada@example.com</bdi>"),
                "\(sent.text)"
            )
            let mail = try await scene.service.mail(.emailSignIn, to: Self.ada)
            let digits = try #require(mail.mail.code)
            // A scanner opens the link, which uses nothing up.
            let link = "/__/auth/action?" + (URLParts(mail.mail.link)?.query ?? "")
            for _ in 0..<3 {
                #expect(try await scene.service.send("GET", link).status == 303)
            }
            let wrong = try await person.press(
                "do",
                "signInWithEmailCode",
                ["code": digits == "000000" ? "000001" : "000000"],
                on: sent
            )
            #expect(wrong.heading == sent.heading && wrong.alert == "This code is incorrect or has already been used.")
            let spaced = digits.prefix(3) + " " + digits.suffix(3)
            let end = try await person.press("do", "signInWithEmailCode", ["code": String(spaced)], on: wrong)
            let reply = try await person.redeem(end)
            #expect(reply.status == 200 && reply["isNewUser"] == true, "\(reply)")
            #expect(reply.claims["email_verified"] == true)
            let again = try await person.press("do", "signInWithEmailCode", ["code": digits], on: wrong)
            #expect(again.alert == wrong.alert, "\(again.text)")
            let another = try await person.press("do", "showEmailCode", on: again)
            #expect(another.heading == asks.heading && another.text.contains("value=\"ada@example.com\""))
        }
    }

    @Test("T-E21: the code of one browser's page is worth nothing in another's")
    func emailCodeElsewhere() async throws {
        try await ProviderScene.runSignInPage {
            $0.allowsEmailLink = true
            $0.emailCodes = true
        } _: { scene, person in
            let other = SignInPagePerson(service: scene.service)
            func send(_ person: SignInPagePerson, _ email: String) async throws -> Visit {
                let asks = try await person.press("do", "showEmailCode", on: try await person.open())
                return try await person.press("do", "sendEmailCode", ["email": email], on: asks)
            }
            let mine = try await send(person, Self.ada)
            let theirs = try await send(other, "thief@example.com")
            let digits = try #require(try await scene.service.mail(.emailSignIn, to: Self.ada).mail.code)
            let tried = try await other.press("do", "signInWithEmailCode", ["code": digits], on: theirs)
            #expect(tried.heading == "Check your email" && tried.alert != nil, "\(tried.text)")
            for _ in 0..<5 {
                _ = try await person.press(
                    "do",
                    "signInWithEmailCode",
                    ["code": digits == "111111" ? "222222" : "111111"],
                    on: mine
                )
            }
            let late = try await person.press("do", "signInWithEmailCode", ["code": digits], on: mine)
            #expect(late.alert?.hasPrefix("This code has expired, or there were too many attempts.") == true)
        }
    }

    @Test("signs in at a provider", arguments: [ProviderScene.Kind.google, .apple, .github])
    func provider(_ kind: ProviderScene.Kind) async throws {
        try await ProviderScene.runSignInPage(kind) { scene, person in
            let end = try await person.press("provider", kind.rawValue, on: try await person.open())
            let reply = try await person.redeem(end)
            scene.secrets.add(from: reply)
            #expect(reply.status == 200 && reply["isNewUser"] == true, "\(reply)")
            #expect(reply.claims["firebase"]?["sign_in_provider"]?.string == kind.rawValue)
            let again = try await person.press("provider", kind.rawValue, on: try await person.open())
            #expect(try await person.redeem(again)["isNewUser"] == false)
        }
    }

    @Test("a user who refuses at the provider can choose again")
    func cancelled() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            scene.tenant.nextLogin(scene.ada, .deny)
            let page = try await person.press("provider", "github.com", on: try await person.open())
            #expect(page.alert?.hasPrefix("The sign-in was canceled.") == true, "\(page.text)")
            let end = try await person.press("provider", "github.com", on: page)
            try await person.redeem(end).expectOK()
        }
    }

    @Test("explains a conflict and resolves it, however often the password is wrong")
    func conflict() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            let account = try await scene.service.signUp(Self.ada)
            let page = try await person.press("provider", "github.com", on: try await person.open())
            #expect(page.heading == "You already have an account", "\(page.text)")
            #expect(page.text.contains("<bdi>ada@example.com</bdi>") && page.text.contains("<bdi>GitHub</bdi>"))
            #expect(page.buttons == ["signIn", "forgotPassword", "startAgain"])
            // The address is the account's, whatever is typed.
            let wrong = try await person.signIn("other@example.com", "wrong horse", on: page)
            #expect(wrong.heading == page.heading && wrong.alert == "The email address or password is incorrect.")
            let end = try await person.signIn("other@example.com", "correct horse", on: wrong)
            let reply = try await person.redeem(end)
            reply.expectOK()
            let users = try await scene.service.lookUp(reply.idToken)["users"]?[0]
            #expect(users?["localId"]?.string == account.localID)
            let providers = users?["providerUserInfo"]?.array?.compactMap { $0["providerId"]?.string } ?? []
            #expect(Set(providers) == ["password", "github.com"])
            let again = try await person.press("provider", "github.com", on: try await person.open())
            #expect(try await person.redeem(again).status == 200, "both ways lead in now")
        }
    }

    @Test("a conflict whose credential is gone signs no one in")
    func conflictIsOver() async throws {
        try await ProviderScene.runSignInPage { scene, person in
            let account = try await scene.service.signUp(Self.ada)
            let page = try await person.press("provider", "github.com", on: try await person.open())
            let project = scene.service.project.id.rawValue
            try await scene.service.stores.database.execute(
                "DELETE FROM pending_credentials WHERE project = \(project)"
            )
            let late = try await person.signIn(Self.ada, "correct horse", on: page)
            #expect(late.heading == "Sign in" && late.alert == "That took too long. Please sign in again.")
            let sessions = try await scene.service.call("accounts:listSessions", ["idToken": JSON(account.idToken)])
            #expect(sessions["sessions"]?.array?.count == 1, "\(sessions)")
        }
    }

    @Test(
        "a conflict is resolved at the provider that the account has, and nothing else is offered that may not be named"
    )
    func conflictAtProvider() async throws {
        try await ProviderScene.runSignInPage {
            $0.emailEnumerationProtection = false
        } _: { scene, person in
            let other = try await TestProvider.tenant(.google)
            other.addClient(redirects: .anyLocal)
            other.everyLogin(other.addUser(TestUser("g-1", email: Self.ada, name: "Ada")))
            try await scene.service.configure(other.configuration(as: ProviderID("google.com")))
            let unused = try await TestProvider.tenant(.discord)
            try await scene.service.configure(unused.configuration(as: ProviderID("oauth.discord")))
            let first = try await person.press("provider", "google.com", on: try await person.open())
            let account = try await person.redeem(first)
            scene.secrets.add(from: account)
            let page = try await person.press("provider", "github.com", on: try await person.open())
            guard page.heading == "You already have an account" else {
                Issue.record("no conflict: \(page.text)")
                return
            }
            #expect(page.buttons.filter { $0.contains(".") } == ["google.com"], "\(page.buttons)")
            let end = try await person.press("provider", "google.com", on: page)
            let linked = try await scene.service.lookUp(try await person.redeem(end).idToken)["users"]?[0]
            let providers = linked?["providerUserInfo"]?.array?.compactMap { $0["providerId"]?.string } ?? []
            #expect(Set(providers) == ["google.com", "github.com"])
        }
    }

    @Test("opens accounts where the project does, with the password that it wants")
    func signUp() async throws {
        try await ProviderScene.runSignInPage {
            $0.passwordPolicy.isEnforced = true
            $0.passwordPolicy.needsDigit = true
        } _: { scene, person in
            let form = try await person.press("do", "showSignUp", on: try await person.open())
            #expect(form.heading == "Create an account")
            let typed = ["email": "new@example.com", "password": "no digit here"]
            let lacking = try await person.press("do", "signUp", typed, on: form)
            #expect(lacking.text.contains("a digit (0–9)") && lacking.text.contains(#"value="new@example.com""#))
            let strong = typed.merging(["password": "1 digit here"]) { $1 }
            let reply = try await person.redeem(try await person.press("do", "signUp", strong, on: lacking))
            #expect(reply.status == 200 && reply["isNewUser"] == true, "\(reply)")
            let taken = try await person.press("do", "signUp", strong, on: lacking)
            #expect(
                taken.alert?.hasPrefix("An account with this email address already exists.") == true,
                "\(taken.text)"
            )
        }
        try await ProviderScene.runSignInPage {
            $0.disabledUserSignup = true
        } _: { _, person in
            let page = try await person.open()
            #expect(!page.buttons.contains("showSignUp"))
        }
    }

    @Test("T-E1: sends the password reset email, and responds the same for an address without an account")
    func forgotPassword() async throws {
        for isProtected in [true, false] {
            try await ProviderScene.runSignInPage {
                $0.emailEnumerationProtection = isProtected
            } _: { scene, person in
                _ = try await scene.service.signUp(Self.ada)
                let form = try await person.press("do", "forgotPassword", on: try await person.open())
                var pages: [String] = []
                for address in [Self.ada, "bob@example.com"] {
                    let page = try await person.press("do", "sendMail", ["email": address], on: form)
                    #expect(page.status == 200 && page.heading == "Check your email", "\(page.text)")
                    pages.append(Self.withoutSecrets(page.text).replacing(address, with: "*"))
                }
                #expect(pages[0] == pages[1])
                let mail = try await scene.service.mail(.passwordReset, to: Self.ada)
                #expect(mail.items["continueUrl"] == SignInPagePerson.app)
                scene.secrets.add(mail.code)
            }
        }
    }

    /// Nonces and sealed visits differ each time.
    private static func withoutSecrets(_ text: String) -> String {
        text.replacing(#/nonce="[^"]*"/#, with: "").replacing(#/name="page" value="[^"]*"/#, with: "")
    }

    @Test("asks for the code of an app as the second factor")
    func secondFactor() async throws {
        try await ProviderScene.runSignInPage {
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersTOTP = true
        } _: { scene, person in
            let user = try await scene.service.verifiedUser(Self.ada)
            let app = try await AuthenticatorApp.enroll(user.idToken, scene.service).app
            let page = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            #expect(page.heading == "One more step" && page.buttons == ["proveCode", "startAgain"], "\(page.text)")
            let wrong = try await person.press("do", "proveCode", ["code": "000000"], on: page)
            #expect(wrong.alert == "This code is incorrect or has already been used.", "\(wrong.text)")
            scene.service.clock.advance(by: 30)
            let typed = "\(app.code().prefix(3)) \(app.code().suffix(3))"
            let end = try await person.press("do", "proveCode", ["code": typed], on: wrong)
            let reply = try await person.redeem(end)
            #expect(reply.claims["firebase"]?["sign_in_second_factor"] == "totp", "\(reply)")
            scene.service.clock.advance(by: 1_801)
            let late = try await person.press("do", "proveCode", ["code": app.code()], on: page)
            #expect(late.heading == "Sign in" && late.alert == "That took too long. Please sign in again.")
        }
    }

    @Test("asks for the code of an SMS as the second factor, which it sends when told to")
    func secondFactorBySMS() async throws {
        try await ProviderScene.runSignInPage {
            $0.secondFactors.isEnabled = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        } _: { scene, person in
            let user = try await scene.service.verifiedUser(Self.ada)
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, scene.service)
            let page = try await person.signIn(Self.ada, "correct horse", on: try await person.open())
            #expect(
                page.heading == "One more step" && page.buttons == [phone.enrollment, "startAgain"],
                "\(page.text)"
            )
            #expect(!page.text.contains(phone.number))
            let asked = try await person.press("send", phone.enrollment, on: page)
            let code = try await scene.service.smsCode(to: phone.number)
            let typed = ["code": code == "000000" ? "000001" : "000000"]
            let wrong = try await person.press("do", "proveCode", typed, on: asked)
            #expect(wrong.alert == "This code is incorrect or has already been used.", "\(wrong.text)")
            let end = try await person.press("do", "proveCode", ["code": code], on: wrong)
            let reply = try await person.redeem(end)
            #expect(reply.claims["firebase"]?["sign_in_second_factor"] == "phone", "\(reply)")
            // The same visit with the same code.
            let again = try await person.press("do", "proveCode", ["code": code], on: wrong)
            #expect(again.heading == "Sign in" && again.alert == "That took too long. Please sign in again.")
        }
    }

    @Test("takes every address that the API takes, with the spaces of a paste around it")
    func internationalAddress() async throws {
        try await ProviderScene.runSignInPage { _ in
        } _: { scene, person in
            _ = try await scene.service.signUp("müller@example.com")
            let page = try await person.open()
            #expect(!page.text.contains(#"type="email""#) && page.text.contains(#"inputmode="email""#))
            let end = try await person.signIn(" müller@example.com ", "correct horse", on: page)
            let reply = try await person.redeem(end)
            #expect(reply.claims["email"] == "müller@example.com", "\(reply)")
        }
    }

    @Test("speaks three languages", arguments: [("en", "Sign in"), ("de", "Anmelden"), ("ja", "ログイン")])
    func languages(_ language: String, _ title: String) async throws {
        try await ProviderScene.runSignInPage { _, person in
            #expect(try await person.open([("lang", language)]).heading == title)
            let page = try await person.service.send(
                "GET",
                person.path([("lang", nil)]),
                headers: [("Accept-Language", language)]
            )
            #expect(page.text.contains("<h1>\(title)</h1>"))
        }
    }
}
