import Foundation
import Projects
import TestKit
import Testing

/// Passkeys on the sign-in page, with the forms that its script fills in; `test_passkeys.py` has the script and a browser.
@Suite("Passkeys on the sign-in page", .database)
struct SignInPagePasskeyTests {
    private static let ada = "ada@example.com"

    private func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        var options = TestService.Options()
        options.publicURL = "https://id.example.com"
        options.settings.signInPage = true
        options.settings.passkeys.relyingPartyID = "example.com"
        options.settings.passkeys.origins = ["https://example.com", "https://id.example.com"]
        change(&options.settings)
        try await TestService.run(options, body)
    }

    /// The step after a sign-in by password in a browser that has passkeys.
    private func signIn(
        _ page: OpenedSignInPage,
        email: String = Self.ada,
        hasPasskeys: String = "yes"
    ) async throws -> Reply {
        try await page.post(
            [("do", "signIn"), ("email", email), ("password", "correct horse"), ("hasPasskeys", hasPasskeys)]
        )
    }

    /// Enrolls the passkey that a page asks for.
    private func create(
        _ page: OpenedSignInPage,
        after step: Reply,
        userAgent: String? = nil,
        aaguid: [UInt8]? = nil
    ) async throws -> (SoftwareAuthenticator, Reply) {
        let options = try #require(step.pageData["creation"], "\(step)")
        var passkey = SoftwareAuthenticator(userHandle: try PasskeyScene.bytes(options["user"]?["id"]))
        if let aaguid { passkey.aaguid = aaguid }
        let registration = passkey.registration(for: try PasskeyScene.bytes(options["challenge"]))
        let headers = [("Sec-Fetch-Site", "same-origin")] + (userAgent.map { [("User-Agent", $0)] } ?? [])
        let fields = [("do", "addPasskey"), ("passkey", registration.text)]
        return (passkey, try await page.next(after: step).post(fields, cookie: page.cookie, headers))
    }

    private func use(_ passkey: SoftwareAuthenticator, on page: OpenedSignInPage) async throws -> Reply {
        let assertion = passkey.assertion(for: try await page.person.service.passkeyChallenge())
        return try await page.post([("do", "usePasskey"), ("passkey", assertion.text)])
    }

    @Test("a password is followed by the offer of a passkey, which then signs in to the same account")
    func offer() async throws {
        try await run { service in
            let account = try await service.signUp(Self.ada)
            let person = SignInPagePerson(service: service)
            let page = try await OpenedSignInPage(person)
            let offered = try await signIn(page)
            #expect(offered.heading == "Sign in without your password", "\(offered)")
            let (passkey, end) = try await create(page, after: offered)
            let first = try await person.redeem(try end.signInCode, person.verifier)
            #expect(first.claims["firebase"]?["sign_in_provider"] == "passkey", "\(first)")
            let next = try await OpenedSignInPage(person)
            let again = try await person.redeem(try await use(passkey, on: next).signInCode, person.verifier)
            #expect(again.claims["sub"] == .string(account.localID ?? ""), "\(again)")
            #expect(again.claims["firebase"]?["sign_in_second_factor"] == "passkey")
            // An account that has one is offered none.
            let quick = try await signIn(try await OpenedSignInPage(person))
            #expect(try !quick.signInCode.isEmpty)
        }
    }

    @Test("nothing is offered to a browser without passkeys, and whoever wants none is in the app")
    func notNow() async throws {
        try await run { service in
            _ = try await service.signUp(Self.ada)
            let person = SignInPagePerson(service: service)
            #expect(try await !signIn(try await OpenedSignInPage(person), hasPasskeys: "").signInCode.isEmpty)
            let page = try await OpenedSignInPage(person)
            let left = try await page.next(after: try await signIn(page)).post([("do", "leave")])
            let reply = try await person.redeem(try left.signInCode, person.verifier)
            #expect(reply.claims["firebase"]?["sign_in_provider"] == "password", "\(reply)")
        }
    }

    @Test("the passkeys of a user are listed, added and removed, but not the last way in")
    func ownPasskeys() async throws {
        try await run { service in
            let guest = try await service.call("accounts:signUp", [:])
            let (passkey, _) = try await service.enrollPasskey(guest.idToken)
            let person = SignInPagePerson(service: service)
            let page = try await OpenedSignInPage(person, [("show", "passkeys")])
            let list = try await use(passkey, on: page)
            #expect(list.heading == "Your passkeys", "\(list)")
            let id = try #require(list.pageData["accepted"]?["allAcceptedCredentialIds"]?[0]?.string)
            let kept = try await page.next(after: list).post([("remove", id)])
            #expect(kept.status == 400 && kept.text.contains("your only way to sign in"), "\(kept)")
            let (second, added) = try await create(page.next(after: kept), after: kept)
            #expect(added.pageData["accepted"]?["allAcceptedCredentialIds"]?.array?.count == 2, "\(added)")
            let removed = try await page.next(after: added).post([("remove", id)])
            #expect(removed.pageData["accepted"]?["allAcceptedCredentialIds"]?.array?.count == 1, "\(removed)")
            let end = try await page.next(after: removed).post([("do", "leave")])
            try await person.redeem(try end.signInCode, person.verifier).expectOK()
            let unknown = try await use(passkey, on: try await OpenedSignInPage(person))
            #expect(unknown.status == 400 && unknown.text.contains("No account has this passkey."), "\(unknown)")
            #expect(unknown.pageData["unknown"] == ["rpId": "example.com", "credentialId": .string(id)])
            #expect(try await !use(second, on: try await OpenedSignInPage(person)).signInCode.isEmpty)
        }
    }

    @Test("a passkey is named after its model, or else the browser and the device; no two are named alike")
    func names() async throws {
        let webKit = "AppleWebKit/537.36 (KHTML, like Gecko)"
        let linux = "Mozilla/5.0 (X11; Linux x86_64) \(webKit) Chrome/140.0.0.0 Safari/537.36"
        let keePassXC: [UInt8] = [
            0xfd, 0xb1, 0x41, 0xb2, 0x5d, 0x84, 0x44, 0x3e, 0x8a, 0x35, 0x46, 0x98, 0xc2, 0x05, 0xa5, 0x02,
        ]
        let added: [(userAgent: String?, aaguid: [UInt8]?, name: String)] = [
            (linux, nil, "Chrome on Linux"), (linux, nil, "Chrome on Linux 2"), (linux, nil, "Chrome on Linux 3"),
            (linux, keePassXC, "KeePassXC"), (linux, keePassXC, "KeePassXC 2"),
            (
                "Mozilla/5.0 (Linux; Android 16; Pixel 9) \(webKit) Chrome/140.0 Mobile Safari/537.36", nil,
                "Chrome on Android"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) \(webKit) Version/19.0 Safari/604.1", nil,
                "Safari on iPhone"
            ),
            ("Mozilla/5.0 (Windows NT 10.0) \(webKit) Chrome/140.0 Safari/537.36 Edg/140.0", nil, "Edge on Windows"),
            ("<b>me</b>", nil, "Passkey"), (nil, nil, "Passkey 2"),
        ]
        try await run { service in
            _ = try await service.signUp(Self.ada)
            let page = try await OpenedSignInPage(SignInPagePerson(service: service), [("show", "passkeys")])
            var list = try await signIn(page)
            for passkey in added {
                list = try await create(page, after: list, userAgent: passkey.userAgent, aaguid: passkey.aaguid).1
            }
            #expect(list.text.matches(of: /<dt>(.*?)<\/dt>/).map { String($0.1) } == added.map(\.name), "\(list)")
        }
    }

    @Test("an account with a second factor is asked for it after a passkey that did not verify the user")
    func secondFactor() async throws {
        try await run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            var (passkey, _) = try await service.enrollPasskey(user.idToken)
            _ = try await AuthenticatorApp.enroll(user.idToken, service)
            passkey.flags = 0x19
            let person = SignInPagePerson(service: service)
            let asked = try await use(passkey, on: try await OpenedSignInPage(person))
            #expect(asked.heading == "One more step", "\(asked)")
            passkey.flags = 0x1d
            #expect(try await !use(passkey, on: try await OpenedSignInPage(person)).signInCode.isEmpty)
        }
    }

    @Test("a page that browsers would not give passkeys offers none", arguments: ["other.com", "ample.com", nil])
    func notOffered(_ relyingParty: String?) async throws {
        try await run {
            $0.passkeys.relyingPartyID = relyingParty
        } _: { service in
            _ = try await service.signUp(Self.ada)
            let person = SignInPagePerson(service: service)
            let reply = try await service.send("GET", person.path())
            #expect(reply.status == 200 && !reply.text.contains("use-passkey") && !reply.text.contains("webauthn"))
            #expect(try await !signIn(try await OpenedSignInPage(person)).signInCode.isEmpty)
            let list = try await service.send("GET", person.path([("show", "passkeys")]))
            #expect(list.status == 400 && list.heading == "Sign-in method not available", "\(list)")
        }
    }

    @Test("T-B16: a page whose user has signed in is of use in that browser alone")
    func otherBrowser() async throws {
        try await run { service in
            _ = try await service.signUp(Self.ada)
            let page = try await OpenedSignInPage(SignInPagePerson(service: service))
            let offered = page.next(after: try await signIn(page))
            let thief = try await OpenedSignInPage(SignInPagePerson(service: service))
            for cookie in [nil, thief.cookie] {
                let site = [("Sec-Fetch-Site", "same-origin")]
                let reply = try await offered.post([("do", "leave")], cookie: cookie, site)
                #expect(reply.status == 400 && !reply.text.contains("signInCode"), "\(reply)")
            }
            let elsewhere = try await offered.post(
                [("do", "leave")],
                cookie: page.cookie,
                [("Sec-Fetch-Site", "cross-site")]
            )
            #expect(elsewhere.status == 400, "\(elsewhere)")
            #expect(try await !offered.post([("do", "leave")]).signInCode.isEmpty)
        }
    }

    @Test(
        "what is no response of an authenticator is refused on the page, which can go on",
        arguments: ["", "{", "[]", "{}", #"{"id":"AA","rawId":"AQ","type":"public-key","response":{}}"#, "null", "1"]
    )
    func malformed(_ text: String) async throws {
        try await run { service in
            _ = try await service.signUp(Self.ada)
            let page = try await OpenedSignInPage(SignInPagePerson(service: service))
            let reply = try await page.post([("do", "usePasskey"), ("passkey", text)])
            #expect(reply.status == 400 && reply.response.header("content-type")?.contains("html") == true, "\(reply)")
            #expect(try await !signIn(page, hasPasskeys: "").signInCode.isEmpty)
        }
    }
}

extension OpenedSignInPage {
    /// The page that a step answered with, in the same browser.
    func next(after step: Reply) -> OpenedSignInPage {
        var next = self
        next.page = HTMLForm.all(in: step.text).first?.value("page") ?? ""
        return next
    }
}

extension Reply {
    var heading: String? { text.firstMatch(of: #/<h1>([^<]*)<\/h1>/#).map { String($0.1) } }

    /// What the page's script gets.
    fileprivate var pageData: JSON {
        let block = text.firstMatch(of: #/<script type="application\/json" id="data">(.*?)<\/script>/#)
        return block.flatMap { try? JSON(parsing: Array(String($0.1).utf8)) } ?? .null
    }

    /// The code in the app's URL, to which the page leads.
    fileprivate var signInCode: String {
        get throws {
            let match = text.firstMatch(of: #/signInCode=(page_[A-Za-z0-9_\-]+)/#)
            return String(try #require(match, "\(self)").1)
        }
    }
}
