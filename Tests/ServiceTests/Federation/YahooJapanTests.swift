import Development
import Domain
import Federation
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Yahoo! JAPAN", .database, .testProvider)
struct YahooJapanTests {
    // MARK: What is asked for

    @Test(
        "R-02, R-07, R-12: each response type, in any order of its words, ends in a sign-in",
        arguments: [
            ("code", "code"), ("code id_token", "code%20id_token"), ("id_token code", "code%20id_token"),
            ("code token", "code%20token"), ("code id_token token", "code%20id_token%20token"),
            ("token code id_token", "code%20id_token%20token"),
        ]
    )
    func responseTypes(_ asked: String, _ sent: String) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let arrival = try await scene.arrive(["responseType": .string(asked), "oauthScope": "address"])
            #expect(arrival.authURI.contains("response_type=\(sent)&"))
            #expect(arrival.authURI.contains("scope=openid%20profile%20email%20address&"))
            #expect(arrival.isFragment == (asked != "code"))
            #expect((arrival.fields["id_token"] != nil) == asked.contains("id_token"))
            #expect((arrival.fields["access_token"] != nil) == asked.split(separator: " ").contains("token"))
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(reply["providerId"] == "oidc.yahoojp")
            #expect(reply["federatedId"]?.string == "oidc.yahoojp/" + scene.ada.subject)
            #expect(Reply.claims(of: reply["oauthIdToken"]?.string ?? "")["aud"] == ["client"])
            let again = try await scene.signIn(["responseType": .string(asked)])
            #expect(again.localID == reply.localID)
        }
    }

    @Test("R-07: the address, which the scope asks for, is in the profile")
    func address() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let address: JSONObject = ["country": "jp", "postal_code": "1028282", "region": "Tokyo"]
            var ada = scene.ada
            ada.claims["address"] = .object(address)
            scene.tenant.everyLogin(ada)
            let reply = try await scene.signIn(["oauthScope": "address"])
            let profile = try JSON(parsing: Array((reply["rawUserInfo"]?.string ?? "").utf8))
            #expect(profile["address"] == ["country": "jp", "postal_code": "1028282", "region": "Tokyo"], "\(profile)")
            let without = try await scene.signIn()
            #expect(without["rawUserInfo"]?.string?.contains("address") == false, "\(without)")
        }
    }

    @Test("R-11, R-12: the app reads the fragment itself and posts the parts")
    func postedParts() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let arrival = try await scene.arrive(["responseType": "code id_token token"])
            let reply = try await scene.service.call(
                "accounts:signInWithIdp",
                [
                    "requestUri": .string(arrival.address), "postBody": .string(arrival.fields.text),
                    "sessionId": .string(arrival.sessionID), "returnSecureToken": true,
                ]
            )
            scene.secrets.add(from: reply)
            reply.expectOK()
            let twice = try await scene.arrive(["responseType": "code id_token token"])
            try await scene.refuses("INVALID_IDP_RESPONSE : Duplicate parameter: code") {
                try await scene.finish(twice, ["postBody": .string("code=another")])
            }
        }
    }

    @Test("R-01, R-02: a configuration says which response types there are, and which is the usual one")
    func configuredResponseTypes() async throws {
        var options = ProviderScene.Options()
        options.definition = ["responseTypes": ["id_token code", "code token"]]
        try await ProviderScene.run(.yahooJapan, options) { scene in
            let usual = try await scene.arrive()
            #expect(usual.request["response_type"] == "code id_token")
            try await scene.finish(usual).expectOK()
            #expect(try await scene.arrive(["responseType": "token code"]).fields["access_token"] != nil)
            for asked in ["code", "code id_token token"] {
                try await scene.refuses("INVALID_ARGUMENT : The response type \"\(asked)\" is not supported.") {
                    try await start(scene, asked)
                }
            }
        }
    }

    @Test(
        "R-02: an unknown response type, or one without code, is refused",
        arguments: [
            "id_token", "token", "none", "CODE", "code code", "code  id_token", "code id_token none", " code",
        ]
    )
    func oddResponseTypes(_ asked: String) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            try await scene.refuses("INVALID_ARGUMENT : The response type \"\(asked)\" is not supported.") {
                try await start(scene, asked)
            }
        }
    }

    @Test("R-02: other providers offer the code alone, unless their configuration says more")
    func otherProviders() async throws {
        try await ProviderScene.run(.oidc) { scene in
            try await scene.refuses("INVALID_ARGUMENT : The response type \"code id_token\" is not supported.") {
                try await start(scene, "code id_token")
            }
        }
        var options = ProviderScene.Options()
        options.definition = ["responseTypes": ["code", "code id_token"]]
        options.personality = { $0.responseTypes.insert(["code", "id_token"]) }
        try await ProviderScene.run(.oidc, options) { scene in
            let reply = try await scene.signIn(["responseType": "code id_token"])
            reply.expectOK()
        }
    }

    private func start(_ scene: ProviderScene, _ responseType: String) async throws -> Reply {
        try await scene.service.call(
            "accounts:createAuthUri",
            [
                "providerId": .string(scene.provider.rawValue), "continueUri": "http://localhost/callback",
                "responseType": .string(responseType),
            ]
        )
    }

    @Test("R-03, R-04, R-05, R-06: display, prompt, max_age and bail, of the provider or of the request")
    func parameters() async throws {
        var options = ProviderScene.Options()
        options.definition = ["extraAuthorizationParameters": ["display": "touch"]]
        try await ProviderScene.run(.yahooJapan, options) { scene in
            let usual = try await scene.arrive()
            #expect(usual.request["display"] == "touch")
            #expect(usual.request["bail"] == "1", "it is asked for always")
            #expect(usual.request["prompt"] == nil)
            #expect(usual.request["max_age"] == nil)
            let own: JSON = ["display": "popup", "prompt": "select_account", "max_age": "3600", "bail": ""]
            let other = try await scene.arrive(["customParameter": own])
            #expect(other.request["display"] == "popup")
            #expect(other.request["prompt"] == "select_account")
            #expect(other.request["max_age"] == "3600")
            #expect(other.request["bail"] == nil, "an empty one takes the usual one away")
            try await scene.finish(other).expectOK()
        }
    }

    // MARK: prompt, max_age, bail

    @Test(
        "R-04: prompt=none is answered with its own error where a person would have to act",
        arguments: [false, true]
    )
    func promptNone(_ isHybrid: Bool) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let type: JSON = isHybrid ? "code id_token token" : "code"
            let none: JSON = ["responseType": type, "customParameter": ["prompt": "none", "max_age": "600"]]
            let first = try await scene.arrive(none)
            #expect(first.isFragment == isHybrid)
            #expect(first.fields["error_code"] == "1000")
            try await scene.refuses("INVALID_IDP_RESPONSE : interaction_required") { try await scene.finish(first) }
            try await scene.refuses(Messages.usedFlow) { try await scene.finish(first) }
            try await scene.signIn(["responseType": type]).expectOK()
            let silent = try await scene.signIn(none)
            #expect(silent.status == 200, "who is signed in and has agreed need not be asked: \(silent)")
            scene.tenant.nextLogin(ScriptedLogin(scene.ada, authenticatedAt: Date().addingTimeInterval(-3_600)))
            let late = try await scene.arrive(none)
            try await scene.refuses("INVALID_IDP_RESPONSE : interaction_required") { try await scene.finish(late) }
            #expect(scene.tenant.requests(.token).count == 2)
        }
    }

    @Test("R-05: with max_age the service looks at auth_time itself, in both ID tokens")
    func maxAge() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let start: JSON = ["responseType": "code id_token", "customParameter": ["max_age": "3600"]]
            let old = Date().addingTimeInterval(-7_200)
            scene.tenant.nextLogin(ScriptedLogin(scene.ada, authenticatedAt: old))
            let asked = try await scene.signIn(start)
            #expect(asked.status == 200, "the provider asked anew: \(asked)")
            let time = JSONValue.integer(Int64(old.timeIntervalSince1970))
            for changes in [IDTokenChanges(set: ["auth_time": time]), IDTokenChanges(remove: ["auth_time"])] {
                for isFront in [true, false] {
                    var login = ScriptedLogin(scene.ada)
                    if isFront { login.frontIDToken = changes } else { login.idToken = changes }
                    scene.tenant.nextLogin(login)
                    let arrival = try await scene.arrive(start)
                    try await scene.refuses("INVALID_IDP_RESPONSE : The authentication is too old.") {
                        try await scene.finish(arrival)
                    }
                }
            }
            // Nobody asked: it may be as old as it likes.
            scene.tenant.nextLogin(ScriptedLogin(scene.ada, authenticatedAt: old))
            try await scene.signIn(["responseType": "code id_token"]).expectOK()
        }
    }

    @Test("R-06: a user who refuses returns without a code, which counts as a cancellation", arguments: [false, true])
    func bail(_ isHybrid: Bool) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            scene.tenant.nextLogin(scene.ada, .deny)
            let refused = try await scene.arrive(["responseType": isHybrid ? "code id_token" : "code"])
            #expect(refused.fields["code"] == nil)
            #expect(refused.fields["error"] == nil)
            try await scene.refuses("USER_CANCELLED") { try await scene.finish(refused) }
            try await scene.refuses(Messages.usedFlow) { try await scene.finish(refused) }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("R-06: without bail the user does not return, and the flow expires")
    func neverReturns() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            scene.tenant.nextLogin(scene.ada, .deny)
            let flow = try await scene.service.startFlow(
                through: scene.provider,
                ["customParameter": ["bail": ""]]
            )
            scene.secrets.add(from: flow.reply)
            let visit = try await ScriptedBrowser().open(flow.authURI, until: ["http://localhost/callback"])
            #expect(!visit.isStopped)
            scene.service.clock.advance(by: 601)
            let state = try #require(flow.reply["state"]?.string)
            try await scene.refuses(Messages.usedFlow) {
                try await scene.service.finishFlow(
                    at: "http://localhost/callback?state=\(state)&code=late",
                    sessionID: flow.sessionID
                )
            }
        }
    }

    // MARK: Redirects and clients

    @Test("R-08: a custom scheme with an empty authority is stored and sent byte for byte", arguments: [false, true])
    func customScheme(_ isHybrid: Bool) async throws {
        let redirect = "yj-xxxxx:/"
        var options = ProviderScene.Options()
        options.redirects = .exact([redirect])
        options.definition = ["redirectURIs": [.string(redirect)]]
        try await ProviderScene.run(.yahooJapan, options) { scene in
            let arrival = try await scene.arrive(
                at: redirect,
                ["responseType": isHybrid ? "code id_token token" : "code"]
            )
            #expect(arrival.authURI.contains("redirect_uri=yj-xxxxx%3A%2F&"))
            #expect(arrival.address == redirect)
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(scene.tenant.requests(.token).first?.fields["redirect_uri"] == redirect)
            for other in ["yj-xxxxx:", "yj-xxxxx://", "yj-xxxxx:///", "yj-xxxxx:/a", "yj-xxxxy:/", "YJ-xxxxx:/"] {
                try await scene.refuses("INVALID_CONTINUE_URI : Invalid OAuth request for oidc.yahoojp") {
                    try await scene.service.call(
                        "accounts:createAuthUri",
                        ["providerId": "oidc.yahoojp", "continueUri": .string(other)]
                    )
                }
            }
        }
    }

    @Test("R-20: an app's own registration has no secret, and sends the client id alone")
    func publicClient() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            scene.tenant.addClient(
                "app",
                secrets: [],
                redirects: .anyLocal,
                authentication: TestClient.Authentication.none
            )
            try await scene.service.stores.configuration.replaceProvider(
                scene.tenant.configuration(as: scene.provider, client: "app"),
                in: .init(project: scene.service.project.id)
            )
            for type in ["code", "code id_token"] {
                let reply = try await scene.signIn(["responseType": .string(type)])
                reply.expectOK()
            }
            for request in scene.tenant.requests(.token) {
                #expect(request.header("authorization") == nil)
                #expect(request.fields["client_id"] == "app")
                #expect(request.fields["client_secret"] == nil)
                #expect(request.fields["code_verifier"] != nil)
            }
        }
    }

    @Test("a client with a secret is Basic, and neither id nor secret is encoded before")
    func plainBasic() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            try await scene.signIn().expectOK()
            let request = try #require(scene.tenant.requests(.token).first)
            let pair = Data(("client:" + ProviderScene.clientSecret).utf8).base64EncodedString()
            #expect(request.header("authorization") == "Basic " + pair)
            #expect(request.fields["client_id"] == nil)
            #expect(request.fields["client_secret"] == nil)
        }
    }

    @Test("R-01: scopes and response types are the admin's choice")
    func chooses() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let changed = try await scene.service.admin(
                "oauthIdpConfigs/oidc.yahoojp?updateMask=definition.scopes,definition.responseTypes",
                ["definition": ["scopes": ["default": ["openid", "address"]], "responseTypes": ["code id_token"]]],
                method: "PATCH",
                version: "v2"
            )
            changed.expectOK()
            let arrival = try await scene.arrive()
            #expect(arrival.request["scope"] == "openid address")
            #expect(arrival.request["response_type"] == "code id_token")
        }
    }

    @Test("R-01: it is a provider of its own, for which client id and secret are enough")
    func configuring() async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let created = try await service.admin(
                    "oauthIdpConfigs?oauthIdpConfigId=oidc.yahoojp",
                    ["clientId": "dj00aiZpPXg-", "clientSecret": "the-client-secret", "enabled": true],
                    version: "v2"
                )
                created.expectOK()
                let configuration = try #require(
                    service.stores.configuration.snapshot.provider("oidc.yahoojp", in: service.project.scope)
                )
                // Not yahoo.com's.
                #expect(
                    try ProviderDefinition.make(for: configuration, allowsLoopback: false).issuers == [
                        "https://auth.login.yahoo.co.jp/yconnect/v2"
                    ]
                )
                let missing = try await service.admin(
                    "oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
                    ["clientId": "a", "clientSecret": "the-client-secret"],
                    version: "v2"
                )
                #expect(missing.error == "MISSING_ISSUER")
            }
        }
    }

}
