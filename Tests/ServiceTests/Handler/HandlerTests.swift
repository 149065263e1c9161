import Development
import Domain
import Foundation
import Projects
import Secrets
import Testing
import TestKit
import Text

@Suite("The handler page", .database, .testProvider)
struct HandlerTests {
    typealias Kind = ProviderScene.Kind

    // MARK: There and back

    @Test(
        "brings a popup's result to the SDK, which signs in with it",
        arguments: [Kind.google, .apple, .github, .yahooJapan, .twitter, .oidc]
    )
    func popup(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) { scene in
            let page = try await scene.open(scene.parameters())
            #expect(page.reply.status == 200 && page.action == "start")
            let visit = try await scene.visit(page)
            let result = try await scene.comeBack(visit, cookie: page.cookie)
            #expect(result.reply.status == 200, "\(result.reply)")
            #expect(result.action == "deliver")
            #expect(result.data["apiKey"]?.string == scene.service.apiKey)
            #expect(result.data["appName"] == "[DEFAULT]" && result.data["url"] == nil)
            let event = try #require(result.event)
            #expect(event["type"] == "signInViaPopup" && event["eventId"] == "1234567890")
            #expect(event["error"] == .null && event["tenantId"] == .null)
            let own = scene.service.baseURL + ProviderScene.handler
            #expect(event["urlResponse"]?.string?.prefix { $0 != "?" }.description == own)
            #expect((event["postBody"] == .null) == (kind != .apple && kind != .yahooJapan))
            let signedIn = try await scene.signIn(with: event)
            signedIn.expectOK()
            #expect(signedIn["providerId"]?.string == kind.rawValue)
            #expect(signedIn.idToken != nil)
        }
    }

    @Test(
        "the Web SDK's event ids are returned unchanged: with the uid of the user who links or reauthenticates",
        arguments: [
            "1234567890", "Vq0Zl5dWmQc1zq0Zl5dWmQc1zAbC:::0123456789", "user|7@example.com/ä & \"b\":::0123456789",
            String(repeating: "é", count: 128) + ":::0123456789",
        ]
    )
    func eventIDs(_ id: String) async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            for path in [ProviderScene.handler, "/emulator/auth/handler"] {
                let page = try await scene.open(
                    scene.parameters().filter { $0.0 != "eventId" } + [("eventId", id)],
                    at: path
                )
                #expect(page.reply.status == 200 && page.action == "start", "\(page.reply)")
                let result = try await scene.comeBack(try await scene.visit(page), cookie: page.cookie)
                #expect(result.event?["eventId"]?.string == id)
            }
        }
    }

    @Test("R-23: one address is registered at the provider, whatever address the SDK opened")
    func oneAddress() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            for path in [ProviderScene.handler, "/emulator/auth/handler"] {
                let page = try await scene.open(scene.parameters(), at: path)
                let request = FormFields(URLParts(page.data["url"]?.string ?? "")?.query ?? "")
                #expect(request["redirect_uri"] == scene.service.baseURL + ProviderScene.handler)
                #expect(request["code_challenge_method"] == "S256" && request["nonce"] != nil)
                #expect(request["display"] == "page" && request.words("scope").contains("email"))
            }
        }
    }

    @Test("R-27: names that are the service's own are dropped, as SDKs say")
    func reservedParameters() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            var parameters = scene.parameters().filter { $0.0 != "customParameters" }
            parameters.append(
                (
                    "customParameters",
                    #"{"client_id":"x","redirect_uri":"https://evil.example","state":"s","prompt":"login"}"#
                )
            )
            let page = try await scene.open(parameters)
            let request = FormFields(URLParts(page.data["url"]?.string ?? "")?.query ?? "")
            #expect(request["client_id"] == "client" && request["prompt"] == "login")
            #expect(request["redirect_uri"] == scene.service.baseURL + ProviderScene.handler)
            #expect(request.repeatedNames.isEmpty)
        }
    }

    @Test("brings a redirect's result to the page that it began on", arguments: [Kind.google, .apple, .yahooJapan])
    func redirect(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) { scene in
            let result = try await scene.result(scene.parameters("signInViaRedirect"))
            #expect(result.data["url"] == "http://localhost:8000/app?a=b#/route")
            #expect(result.event?["type"] == "signInViaRedirect")
            try await scene.signIn(with: result.event).expectOK()
        }
    }

    @Test("links to the signed-in account, and reauthenticates without making one")
    func linkAndReauthenticate() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let stranger = try await scene.result(scene.parameters("reauthViaPopup"))
            #expect(stranger.event?["type"] == "reauthViaPopup")
            #expect(try await scene.signIn(with: stranger.event).code == "EMAIL_NOT_FOUND")
            let account = try await scene.service.signUp("somebody@example.com")
            scene.secrets.add("somebody@example.com")
            let link = try await scene.result(scene.parameters("linkViaPopup"))
            let linked = try await scene.signIn(with: link.event, idToken: account.idToken)
            #expect(linked.localID == account.localID, "\(linked)")
            let again = try await scene.result(scene.parameters("reauthViaRedirect"))
            #expect(try await scene.signIn(with: again.event).localID == account.localID)
        }
    }

    @Test("a conflict comes through it as ever, and is resumed with what it left")
    func conflict() async throws {
        try await ProviderScene.runPages(.github) { scene in
            let account = try await scene.service.signUp("ada@example.com")
            let result = try await scene.result(scene.parameters())
            let conflict = try await scene.signIn(with: result.event)
            #expect(conflict["needConfirmation"] == true, "\(conflict)")
            let linked = try await scene.service.signInWithIdP(
                postBody: "",
                idToken: account.idToken,
                pendingToken: conflict.pendingToken
            )
            scene.secrets.add(from: linked)
            #expect(linked.localID == account.localID, "\(linked)")
        }
    }

    // MARK: Nobody comes back

    @Test("tells the SDK that the person refused, and the flow is over", arguments: [Kind.google, .apple, .twitter])
    func cancelled(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) { scene in
            scene.tenant.nextLogin(scene.ada, .deny)
            let page = try await scene.open(scene.parameters())
            let visit = try await scene.visit(page)
            let result = try await scene.comeBack(visit, cookie: page.cookie)
            #expect(result.event?["error"]?["code"] == "auth/user-cancelled")
            #expect(result.event?["urlResponse"] == .null && result.event?["sessionId"] == .null)
            let again = try await scene.comeBack(visit, cookie: page.cookie)
            #expect(again.code == "auth/invalid-credential" && again.event == nil)
        }
    }

    @Test("tells the SDK what keeps it from starting")
    func cannotStart() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            for (name, value, code) in [
                ("providerId", "oidc.nobody", "operation-not-allowed"),
                ("providerId", "MadeUpProvider", "invalid-provider-id"), ("providerId", "", "argument-error"),
                ("tid", "some-tenant", "invalid-tenant-id"),
                ("customParameters", #"{"max_age":"x"}"#, "argument-error"),
            ] {
                let parameters = scene.parameters().filter { $0.0 != name } + [(name, value)]
                let page = try await scene.open(parameters)
                #expect(page.reply.status == 400 && page.action == "deliver", "\(name)=\(value): \(page.reply)")
                #expect(page.event?["error"]?["code"]?.string == "auth/\(code)", "\(name)=\(value)")
                #expect(page.cookies.isEmpty)
            }
        }
    }

    // MARK: Apps

    @Test("R-24: an app is opened by a scheme of its registration, with a link that signs it in")
    func ios() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let app = [("ibi", "com.example.app"), ("appId", "1:123:ios:abc")]
            let parameters = scene.nativeParameters(app, secret: SecureHash.sha256Hex("raw secret"))
            let refused = try await scene.open(parameters)
            #expect(refused.code == "auth/app-not-authorized" && refused.data == .null)
            try await register(
                scene,
                ["platform": "IOS", "bundleId": "com.example.app", "scheme": "app-1-123-ios-abc"]
            )
            let result = try await scene.result(parameters)
            let link = try #require(result.data["link"]?.string, "\(result.reply)")
            #expect(link.hasPrefix("app-1-123-ios-abc://firebaseauth/link?deep_link_id="))
            let inner = FormFields(URLParts(link)?.query ?? "")["deep_link_id"] ?? ""
            #expect(inner.hasPrefix("\(scene.service.baseURL)/__/auth/callback?"))
            let fields = FormFields(URLParts(inner)?.query ?? "")
            #expect(fields["authType"] == "signInWithRedirect" && fields["eventId"] == "E1")
            // What the app kept finishes, and not what stood in the address.
            let reply = try await scene.signIn(
                with: ["urlResponse": JSON(fields["link"]), "sessionId": "raw secret"]
            )
            reply.expectOK()
            // Another app's scheme, and the same scheme of another app.
            for other in [
                [("ibi", "com.example.app"), ("appId", "1:123:ios:abd")],
                [("ibi", "com.example.app"), ("clientId", "123-x.apps.googleusercontent.com")],
                [("ibi", "com.example.other"), ("appId", "1:123:ios:abc")],
                [("apn", "com.example.app")],
            ] {
                let page = try await scene.open(scene.nativeParameters(other, secret: "s"))
                #expect(page.code == "auth/app-not-authorized" && page.data == .null, "\(other)")
            }
        }
    }

    @Test("R-24: an Android app gets the posted fields in its link")
    func android() async throws {
        try await ProviderScene.runPages(.apple) { scene in
            try await register(scene, ["platform": "ANDROID", "packageName": "com.example.app"])
            let app = [("apn", "com.example.app")]
            let result = try await scene.result(scene.nativeParameters(app, secret: SecureHash.sha256Hex("raw")))
            let link = try #require(result.data["link"]?.string, "\(result.reply)")
            #expect(link.hasPrefix("intent://firebase.auth/#Intent;scheme=genericidp;package=com.example.app;"))
            #expect(link.contains(";S.eventId=E1;") && link.hasSuffix(";end;"))
            let extra = try #require(link.firstMatch(of: #/;S\.link=([^;]*);/#))
            let reply = try await scene.signIn(
                with: ["urlResponse": JSON(PercentEncoding.decode(extra.1, plusIsSpace: true)), "sessionId": "raw"]
            )
            reply.expectOK()
            scene.tenant.nextLogin(scene.ada, .deny)
            let refused = try await scene.result(scene.nativeParameters(app, secret: "s"))
            let fault = try #require(refused.data["link"]?.string?.firstMatch(of: #/;S\.firebaseError=([^;]*);/#))
            #expect(
                PercentEncoding.decode(fault.1, plusIsSpace: true)?.contains(#""code":"auth/user-cancelled""#) == true
            )
        }
    }

    @Test(
        "an app that sends no push token gets a token from the page, and with it asks for its SMS",
        arguments: [false, true]
    )
    func appCheck(isAndroid: Bool) async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let pushed = try await scene.service.post(
                "/identitytoolkit/v3/relyingparty/verifyClient?key=\(scene.service.apiKey)",
                text: #"{"appToken":"ab12","isSandbox":true}"#
            )
            #expect(pushed.status == 400 && pushed.code == "INVALID_APP_CREDENTIAL", "\(pushed)")
            let app =
                isAndroid
                ? [("apn", "com.example.app")] : [("ibi", "com.example.app"), ("appId", "1:123:ios:abc")]
            let parameters = app + [("apiKey", scene.service.apiKey), ("authType", "verifyApp"), ("eventId", "E1")]
            let refused = try await scene.open(parameters)
            #expect(refused.code == "auth/app-not-authorized" && refused.data == .null)
            let registered: JSON =
                isAndroid
                ? ["platform": "ANDROID", "packageName": "com.example.app"]
                : ["platform": "IOS", "bundleId": "com.example.app", "scheme": "app-1-123-ios-abc"]
            try await register(scene, registered)
            func answer(_ name: String) async throws -> String? {
                let page = try await scene.open(parameters)
                let link = try #require(page.data["link"]?.string, "\(page.reply)")
                #expect(page.cookies.isEmpty)
                guard !isAndroid else {
                    #expect(link.hasPrefix("intent://firebase.auth/#Intent;scheme=recaptcha;package=com.example.app;"))
                    #expect(link.contains(";S.authType=verifyApp;S.eventId=E1;"))
                    let found = link.firstMatch(of: try Regex(";S\\.\(name)=([^;]*);", as: (Substring, Substring).self))
                    return found.flatMap { PercentEncoding.decode($0.1, plusIsSpace: true) }
                }
                #expect(link.hasPrefix("app-1-123-ios-abc://firebaseauth/link?deep_link_id="))
                let inner = FormFields(URLParts(link)?.query ?? "")["deep_link_id"] ?? ""
                let fields = FormFields(URLParts(inner)?.query ?? "")
                #expect(fields["authType"] == "verifyApp" && fields["eventId"] == "E1")
                return fields[name]
            }
            #expect(try await answer("recaptchaToken") == "not-checked")
            // Where the project wants a person to prove to be one, the page asks for it first.
            let captcha: JSON = [
                "identity": [
                    "captcha": ["service": "HCAPTCHA", "siteKey": "site", "secret": "s"], "captchaOperations": ["sms"],
                ]
            ]
            let mask = "config?updateMask=identity.captcha,identity.captchaOperations"
            let changed = try await scene.service.admin(mask, captcha, method: "PATCH", version: "v2")
            changed.expectOK()
            let asking = try await scene.open(parameters)
            #expect(asking.data == .null && asking.text.contains("h-captcha"), "\(asking.reply)")
        }
    }

    @Test("in dev any app is opened, as the emulator does, but nothing that is none")
    func unregisteredInDevelopment() async throws {
        try await ProviderScene.runPages(.oidc, development: true) { scene in
            for (app, beginning) in [
                ([("ibi", "com.example.app")], "com.example.app://google/link?"),
                (
                    [("ibi", "com.example.app"), ("clientId", "1-x.apps.googleusercontent.com")],
                    "com.googleusercontent.apps.1-x://firebaseauth/link?"
                ),
                ([("apn", "com.example.app")], "intent://firebase.auth/#Intent;"),
            ] {
                let result = try await scene.result(scene.nativeParameters(app, secret: "s"))
                #expect(result.data["link"]?.string?.hasPrefix(beginning) == true, "\(result.reply)")
            }
            for app in [
                [("ibi", "javascript")], [("ibi", "data.x:")], [("apn", "com.x;S.a=b")],
                [("ibi", "com.x"), ("clientId", "javascript")],
                [("ibi", "com.x"), ("appId", "a/b")], [("ibi", "com.x"), ("apn", "com.x")], [("apn", "")],
                [("ibi", "")],
            ] {
                let page = try await scene.open(scene.nativeParameters(app, secret: "s"))
                #expect(page.reply.status == 400 && page.data == .null, "\(app): \(page.reply)")
                #expect(page.code == "auth/argument-error" || page.code == "auth/operation-not-allowed")
            }
        }
    }

    private func register(_ scene: ProviderScene, _ app: JSON) async throws {
        let reply = try await scene.service.admin("apps", app, version: "v2")
        reply.expectOK()
    }
}
