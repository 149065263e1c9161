import Development
import Domain
import Outbound
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("An email that only a profile call returns", .database, .testProvider)
struct MissingEmailTests {
    typealias Kind = ProviderScene.Kind

    static let kinds: [Kind] = [.oidc, .yahoo, .linkedIn, .slack, .gitLab, .yahooJapan, .microsoft, .github]

    /// Of a provider whose ID tokens contain no email.
    static func options() -> ProviderScene.Options {
        var options = ProviderScene.Options()
        options.personality = { personality in
            let claims = personality.claims
            personality.claims = { claims($0, $1).changed(remove: ["email", "email_verified"]) }
        }
        return options
    }

    private static func endpoint(_ kind: Kind) -> ProviderEndpoint { kind == .github ? .emails : .userinfo }

    // MARK: The call fails

    @Test("T-A1: while the call fails, no account is made without the email", arguments: kinds)
    func firstSignIn(_ kind: Kind) async throws {
        let test = FaultCase("500", .status(500), Messages.providerDown)
        try await ProviderScene.meets(test, at: Self.endpoint(kind), kind, Self.options())
    }

    @Test("each way to fail in passing fails the sign-in", arguments: [Kind.oidc, .github])
    func passingFaults(_ kind: Kind) async throws {
        var options = Self.options()
        options.service.outboundLimits.read = .milliseconds(700)
        options.service.outboundLimits.total = .milliseconds(1_500)
        for fault in [
            ProviderFault.status(503), .status(429), .status(403, headers: [(name: "Retry-After", value: "60")]),
            .status(403, headers: [(name: "X-RateLimit-Remaining", value: "0")]), .reset, .held(TestGate()),
            .body(Array("{".utf8)), .contentType("text/html"),
        ] {
            let test = FaultCase("\(fault)", fault, Messages.providerDown)
            try await ProviderScene.meets(test, at: Self.endpoint(kind), kind, options)
        }
    }

    @Test("a provider that refuses the call returns no email: the sign-in goes on", arguments: [401, 403, 404])
    func refusals(_ status: Int) async throws {
        for kind in [Kind.oidc, .github] {
            try await ProviderScene.meets(
                FaultCase("\(status)", .status(status), nil),
                at: Self.endpoint(kind),
                kind,
                Self.options()
            )
        }
    }

    @Test("a known identity signs in while the call fails", arguments: [Kind.oidc, .github])
    func knownIdentity(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, Self.options()) { scene in
            let first = try await scene.signIn()
            scene.tenant.addFault(.status(503), at: Self.endpoint(kind))
            let second = try await scene.signIn()
            #expect(second.status == 200 && second.localID == first.localID, "\(second)")
            #expect(second["isNewUser"] == nil && second.claims["email"] == "ada@example.com")
        }
    }

    @Test(
        "while the call fails, nothing is linked: the email may be another account's",
        arguments: [Kind.oidc, .github]
    )
    func linking(_ kind: Kind) async throws {
        try await ProviderScene.run(kind, Self.options()) { scene in
            let grace = try await scene.service.signUp("grace@example.com")
            let arrival = try await scene.arrive()
            scene.tenant.addFault(.status(503), at: Self.endpoint(kind))
            try await scene.refuses(Messages.providerDown) { try await scene.finish(arrival, idToken: grace.idToken) }
            let linked = try await scene.finish(scene.arrive(), idToken: grace.idToken)
            linked.expectOK()
        }
    }

    @Test("an access token that the app got itself: the same, and it can be sent again")
    func accessToken() async throws {
        try await ProviderScene.run(.github) { scene in
            let token = scene.tenant.mintAccessToken(for: scene.ada, scopes: ["read:user", "user:email"])
            scene.tenant.addFault(.status(502), at: .emails)
            try await scene.refuses(Messages.providerDown) { try await scene.signIn(accessToken: token) }
            let reply = try await scene.signIn(accessToken: token)
            #expect(reply["isNewUser"] == true && reply["email"] == "ada@example.com", "\(reply)")
        }
    }

    @Test("T-B9: an access token beside the code is not accepted unseen because user info fails")
    func accessTokenBesideCode() async throws {
        var options = ProviderScene.Options()
        options.definition = ["pkce": "none"]
        try await ProviderScene.run(.yahooJapan, options) { scene in
            _ = try await scene.signIn()
            let foreign = scene.tenant.mintAccessToken(for: scene.addGrace())
            scene.secrets.add(foreign)
            for call in [1, 2] {
                let arrival = try await scene.arrive(["responseType": "code token"])
                scene.tenant.addFault(.status(503), at: .userinfo, call: call)
                try await scene.refuses(Messages.providerDown) {
                    try await scene.finish(call == 1 ? arrival.with("access_token", foreign) : arrival)
                }
            }
        }
    }

    // MARK: The account takes the email later

    @Test(
        "S15: an account without an email takes that of a later sign-in",
        arguments: [(Kind.oidc, true), (.github, false)]
    )
    func takesEmail(_ kind: Kind, _ isProven: Bool) async throws {
        try await ProviderScene.run(kind, Self.options()) { scene in
            scene.tenant.addFault(.status(403), at: Self.endpoint(kind))
            let first = try await scene.signIn()
            #expect(first["isNewUser"] == true && first.claims["email"] == nil, "\(first)")
            let second = try await scene.signIn()
            #expect(second.localID == first.localID && second["isNewUser"] == nil, "\(second)")
            #expect(second.claims["email"] == "ada@example.com")
            #expect(second.claims["email_verified"] == .bool(isProven))
            let account = try await scene.service.account(first.localID)
            #expect(account?["email"] == "ada@example.com" && account?["emailVerified"] == .bool(isProven))
            let owner: JSON = ["email": ["ada@example.com"]]
            let found = try await scene.service.admin("accounts:lookup", owner)
            #expect(found["users"]?[0]?["localId"]?.string == first.localID, "\(found)")
            try await scene.service.signUp("ada@example.com").expectRefused("EMAIL_EXISTS")
            let changes = try await scene.service.stores.database.query(
                """
                SELECT array_to_string(changes, ' ') FROM audit_log
                WHERE account = \(first.localID ?? "") AND action = 'ACCOUNT_UPDATED'
                """
            ) { try $0.next(String.self) }
            #expect(changes == [isProven ? "email emailVerified" : "email"])
            let third = try await scene.signIn()
            #expect(third.localID == first.localID && third.claims["email"] == "ada@example.com", "\(third)")
            #expect(try await scene.service.refresh(first.refreshToken).status == 200, "the first session stays")
        }
    }

    @Test("S1: an email that another account has stays there, until it is free")
    func leavesEmail() async throws {
        try await ProviderScene.run(.oidc, Self.options()) { scene in
            scene.tenant.addFault(.status(403), at: .userinfo)
            let ada = try await scene.signIn()
            let other = try await scene.service.signUp("ada@example.com")
            let again = try await scene.signIn()
            #expect(again.localID == ada.localID && again.claims["email"] == nil, "\(again)")
            #expect(try await scene.service.account(ada.localID)?["email"] == nil)
            let account = try await scene.service.account(other.localID)
            #expect(account?["email"] == "ada@example.com" && account?["emailVerified"] == false)
            #expect(account?["providerUserInfo"]?.array?.count == 1, "the password alone")
            _ = try await scene.service.call("accounts:delete", ["idToken": JSON(other.idToken)])
            #expect(try await scene.signIn().claims["email"] == "ada@example.com")
        }
    }

    @Test("D1: with several accounts per email, accounts have none")
    func severalAccounts() async throws {
        var options = Self.options()
        options.service.settings.allowDuplicateEmails = true
        try await ProviderScene.run(.oidc, options) { scene in
            let first = try await scene.signIn()
            let second = try await scene.signIn()
            #expect(second.localID == first.localID && second.claims["email"] == nil, "\(second)")
            #expect(try await scene.service.account(first.localID)?["email"] == nil)
        }
    }
}
