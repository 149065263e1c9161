import Development
import Domain
import Foundation
import HTTPTypes
import Projects
import Storage
import Testing
import TestKit

@Suite("Bad input of the handler page", .database, .testProvider)
struct HandlerInputTests {
    @Test("every parameter that is missing, or comes twice, is named on a page")
    func missingAndDoubled() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            for type in ["signInViaPopup", "signInViaRedirect"] {
                let parameters = scene.parameters(type)
                for (name, value) in parameters {
                    let twice = try await scene.open(parameters + [(name, value)])
                    let isRead = name != "v"
                    #expect((twice.reply.status == 400) == isRead, "\(name) twice")
                    if isRead {
                        #expect(twice.code == "auth/argument-error" && twice.text.contains(name), "\(name) twice")
                    }
                    let without = try await scene.open(parameters.filter { $0.0 != name })
                    let empty = try await scene.open(parameters.filter { $0.0 != name } + [(name, "")])
                    let isOptional =
                        ["v", "eventId", "scopes", "customParameters"].contains(name)
                        || name == "redirectUrl" && type == "signInViaPopup"
                    for page in [without, empty] {
                        #expect((page.reply.status == 200) == isOptional, "\(name): \(page.reply)")
                        guard !isOptional else { continue }
                        let code = page.event?["error"]?["code"]?.string ?? page.code
                        let text = page.event?["error"]?["message"]?.string ?? page.text
                        #expect(code == (name == "apiKey" ? "auth/invalid-api-key" : "auth/argument-error"), "\(name)")
                        #expect(name == "apiKey" || text.contains(name), "\(name)")
                    }
                }
            }
        }
    }

    @Test("values that cannot be are refused on a page, with the documented code")
    func hostileValues() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let long = String(repeating: "a", count: 300)
            for (name, value, code) in [
                ("apiKey", "AIzaUnknown", "invalid-api-key"), ("apiKey", "../../x", "invalid-api-key"),
                ("authType", "signInWithRedirect", "operation-not-allowed"),
                ("authType", "verifyApp", "operation-not-allowed"), ("authType", "unknown", "operation-not-allowed"),
                ("appName", long, "argument-error"), ("eventId", long + long + long, "argument-error"),
                ("eventId", "a\nb", "argument-error"), ("customParameters", "{", "argument-error"),
                ("customParameters", "[]", "argument-error"), ("customParameters", #"{"a":1}"#, "argument-error"),
                ("customParameters", #"{"a":"1","a":"2"}"#, "argument-error"),
                ("customParameters", #"{"a":{"b":"c"}}"#, "argument-error"),
                ("redirectUrl", "https://evil.example", "unauthorized-domain"),
            ] {
                let page = try await scene.open(scene.parameters().filter { $0.0 != name } + [(name, value)])
                #expect(page.reply.status == 400 && page.code == "auth/\(code)", "\(name)=\(value): \(page.reply)")
                #expect(page.data == .null && page.cookies.isEmpty, "nobody is told, nothing began")
            }
        }
    }

    @Test("addresses and forms that no provider sends end on a page, whatever they hold")
    func foreignAnswers() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            for query in [
                "", "?", "?code=x", "?error=access_denied", "?state=", "?x=y", "?state=a&state=b", "?%=%", "?state=%ff",
            ] {
                for path in [ProviderScene.handler, "/emulator/auth/handler"] {
                    let reply = try await scene.service.send("GET", path + query)
                    let page = try OpenedPage(reply)
                    #expect(reply.status == 200 || reply.status == 400, "\(query): \(reply)")
                    #expect(reply.response.header("content-type") == "text/html; charset=utf-8", "\(query)")
                    #expect(page.event == nil && page.text.contains("<h1>"), "\(query)")
                    #expect(page.code?.hasPrefix("auth/") == true, "\(query)")
                }
            }
            for (type, body) in [
                ("application/x-www-form-urlencoded", ""), ("application/x-www-form-urlencoded", "state="),
                ("application/x-www-form-urlencoded", "state=a&state=b"), ("application/x-www-form-urlencoded", "%"),
                ("application/json", #"{"state":"a"}"#), ("text/plain", "\u{0}"),
                ("application/x-www-form-urlencoded", "code=" + String(repeating: "a", count: 70_000)),
            ] {
                let reply = try await scene.service.send(
                    "POST",
                    ProviderScene.handler,
                    headers: [("Content-Type", type)],
                    body: Array(body.utf8)
                )
                #expect(reply.status == 400, "\(reply)")
                #expect(try OpenedPage(reply).code?.hasPrefix("auth/") == true, "\(reply)")
            }
            let unbounded = try await scene.service.send(
                "POST",
                ProviderScene.handler,
                body: [UInt8](repeating: 97, count: (1 << 20) + 1)
            )
            #expect(unbounded.status == 413 && unbounded.response.text.contains("<h1>"))
        }
    }

    @Test("says that it does not know its own address")
    func withoutAddress() async throws {
        let fixture = try ServiceFixture()
        let answer = try await fixture.client.call(.get, "/__/auth/handler?apiKey=\(ServiceFixture.key)")
        #expect(answer.status == 400)
        #expect(answer.body.contains("auth/operation-not-allowed"))
    }

    // MARK: The frame

    @Test("T-B13: the frame is shown by the project's domains alone, with a loader where the project wants one")
    func frame() async throws {
        var options = TestService.Options()
        options.settings.authorizedDomains = [
            "app.example.com", "localhost", "[::1]", "vercel.app",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        ]
        try await TestService.run(options) { service in
            let query = "?apiKey=\(service.apiKey)&appName=%5BDEFAULT%5D"
            for path in ["/__/auth/iframe", "/emulator/auth/iframe"] {
                let page = try OpenedPage(try await service.send("GET", path + query))
                let policy = try #require(page.reply.response.header("content-security-policy"))
                #expect(
                    policy.hasSuffix(
                        "; frame-ancestors https://app.example.com:* https://*.app.example.com:* https://localhost:* "
                            + "http://localhost:* https://vercel.app:* chrome-extension://abcdefghijklmnopabcdefghijklmnop"
                    )
                )
                #expect(page.data["hosts"] == ["app.example.com", "localhost", "[::1]", "vercel.app"])
                #expect(page.data["parents"] == ["app.example.com"])
                #expect(page.data["origins"] == ["chrome-extension://abcdefghijklmnopabcdefghijklmnop"])
                #expect(policy.contains("' https://apis.google.com/js/ https://apis.google.com/_/scs/; "))
                #expect(page.reply.response.header("x-frame-options") == nil)
                #expect(page.data["loader"] == "https://apis.google.com/js/api.js" && page.data["anyLoopback"] == false)
                #expect(page.reply.response.body.count < 20_000)
            }
            _ = try await service.admin(
                "config?updateMask=identity.googleLoader",
                ["identity": ["googleLoader": false]],
                method: "PATCH",
                version: "v2"
            )
            let page = try OpenedPage(try await service.send("GET", "/__/auth/iframe" + query))
            #expect(page.data["loader"] == nil && !page.text.contains("google"))
            #expect(page.reply.response.header("content-security-policy")?.contains("google") == false)
            for query in [
                "", "?apiKey=\(service.apiKey)", "?appName=x", "?apiKey=none&appName=x", "?apiKey=a&apiKey=b&appName=x",
            ] {
                let refused = try await service.send("GET", "/__/auth/iframe" + query)
                #expect(refused.status == 400 && refused.response.text.contains("<h1>"), "\(query)")
                let policy = refused.response.header("content-security-policy")
                #expect(policy?.contains("frame-ancestors 'none'") == true, "\(query)")
            }
        }
    }

    @Test("hands out the loader and the configuration of an app")
    func loaderAndConfiguration() async throws {
        try await TestService.run { service in
            let loader = try await service.send("GET", "/__/auth/gapi.js")
            #expect(loader.status == 200 && loader.response.body.count < 20_000)
            let found = try await service.send("GET", "/__/firebase/init.json?apiKey=\(service.apiKey)")
            #expect(
                found["projectId"]?.string == service.project.id.rawValue && found["authDomain"] == "id.example.com"
            )
            #expect(found["apiKey"]?.string == service.apiKey)
            let unknown = try await service.send("GET", "/__/firebase/init.json?apiKey=none")
            #expect(unknown.status == 404)
        }
    }

    // MARK: Registered apps

    @Test("registers, lists and withdraws apps")
    func apps() async throws {
        try await TestService.run { service in
            func post(_ app: JSON) async throws -> Reply { try await service.admin("apps", app, version: "v2") }
            #expect(try await service.admin("apps", version: "v2").json == [:])
            let ios = try await post(["platform": "IOS", "bundleId": "com.example.App", "scheme": "APP-1-2-ios-3"])
            #expect(ios["scheme"] == "app-1-2-ios-3" && ios["bundleId"] == "com.example.App", "\(ios)")
            let android = try await post(["platform": "ANDROID", "packageName": "com.example.app_x"])
            #expect(android.status == 200 && android["bundleId"] == nil, "\(android)")
            let again = try await post(["platform": "IOS", "bundleId": "com.example.App", "scheme": "app-1-2-ios-3"])
            #expect(again.status == 409)
            let team = try await post(["platform": "IOS", "bundleId": "com.example.Links", "teamId": "A1B2C3D4E5"])
            #expect(team["teamId"] == "A1B2C3D4E5" && team["sha256Hashes"] == nil, "\(team)")
            let hash = String(repeating: "AB", count: 32)
            let print = Array(repeating: "AB", count: 32).joined(separator: ":")
            let signed = try await post([
                "platform": "ANDROID", "packageName": "com.example.links",
                "sha256Hashes": [.string(hash), .string(print)],
            ])
            #expect(signed["sha256Hashes"] == [.string(hash.lowercased()), .string(hash.lowercased())], "\(signed)")
            for linked in [team, signed] {
                let path = "apps/\(linked["appId"]?.string ?? "")"
                try await service.admin(path, method: "DELETE", version: "v2").expectOK()
            }
            let listed = try await service.admin("apps", version: "v2")
            #expect(listed["apps"]?.array?.map { $0["appId"] } == [ios["appId"], android["appId"]])
            for app in [
                [:], ["platform": "WEB", "bundleId": "com.x"], ["platform": "IOS"],
                ["platform": "IOS", "packageName": "com.x"],
                ["platform": "IOS", "bundleId": "x"], ["platform": "IOS", "bundleId": "com.x/"],
                ["platform": "IOS", "bundleId": "com.x", "scheme": "javascript"],
                ["platform": "IOS", "bundleId": "com.x", "scheme": "https"],
                ["platform": "IOS", "bundleId": "com.x", "scheme": "a-b:"],
                ["platform": "ANDROID", "packageName": "com.x", "scheme": "a-b"],
                ["platform": "IOS", "bundleId": "com.x", "teamId": "a1b2c3d4e5"],
                ["platform": "IOS", "bundleId": "com.x", "teamId": "A1B2C3D4E"],
                ["platform": "IOS", "bundleId": "com.x", "sha256Hashes": [.string(hash)]],
                ["platform": "ANDROID", "packageName": "com.x", "teamId": "A1B2C3D4E5"],
                ["platform": "ANDROID", "packageName": "com.x", "sha256Hashes": [.string(hash + "A")]],
                ["platform": "ANDROID", "packageName": "com.x", "sha256Hashes": [.string(hash + ":")]],
                ["platform": "ANDROID", "packageName": "com.x", "sha256Hashes": ["x"]],
                ["platform": "ANDROID", "packageName": "com.x;S.a=b"], ["platform": "ANDROID", "packageName": ".x"],
            ] as [JSON] {
                #expect(try await post(app).status == 400, "\(app.text)")
            }
            let path = "apps/\(ios["appId"]?.string ?? "")"
            try await service.admin(path, method: "DELETE", version: "v2").expectOK()
            #expect(try await service.admin(path, method: "DELETE", version: "v2").status == 404)
            #expect(try await service.admin("apps", version: "v2")["apps"]?.array?.count == 1)
        }
    }
}
