import Development
import Domain
import Projects
import Storage
import TestKit
import Text

extension OperationCase {
    static let pages: [OperationCase] = [
        handler("handlerPage, the way to the provider", "/__/auth/handler"),
        callback("handlerPage, the way back", "GET", "/__/auth/handler"),
        callback("handlerCallback", "POST", "/__/auth/handler"),
        callback("ownHandlerPage", "GET", "/__/auth/handler", isOwn: true),
        callback("ownHandlerCallback", "POST", "/__/auth/handler", isOwn: true),
        handler("emulatorHandlerPage", "/emulator/auth/handler"),
        callback("emulatorHandlerCallback", "POST", "/emulator/auth/handler"),
        OperationCase("signInPage", { $0.signInPage = true }) { world in
            let person = SignInPagePerson(service: world.service)
            return { try await person.service.send("GET", person.path()) }
        },
        OperationCase("followAppLink") { world in
            let page = "https://id.example.com/__/auth/action?mode=signIn&oobCode=x&apiKey=\(world.service.apiKey)"
            return { try await world.service.send("GET", "/__/auth/links?\(FormFields(pairs: [("link", page)]).text)") }
        },
        page("forgotPasswordPage", "/__/auth/forgot-password?apiKey="),
        OperationCase("sendForgottenPasswordMail") { world in
            _ = try await world.service.signUp(ada)
            return { try await world.service.forgot(ada) }
        },
        OperationCase("changePassword", { $0.publicURL = PublicURL("https://own.example.com") }) { world in
            {
                try await world.service.send(
                    "GET",
                    "/.well-known/change-password",
                    headers: [("Host", "own.example.com")]
                )
            }
        },
        OperationCase("takeSignInStep, to a provider", { $0.signInPage = true }) { world in
            let page = try await OpenedSignInPage(SignInPagePerson(service: world.service))
            _ = try await page.post([("provider", LinkingWorld.acmeID.rawValue)])
            return { try await page.post([("provider", LinkingWorld.acmeID.rawValue)]) }
        },
        OperationCase("takeSignInStep, by password", { $0.signInPage = true }) { world in
            let page = try await OpenedSignInPage(SignInPagePerson(service: world.service))
            _ = try await page.signIn(ada, signingUp: true)
            return { try await page.signIn(ada) }
        },
        page("iframePage", "/__/auth/iframe?appName=x&apiKey="),
        page("emulatorIframePage", "/emulator/auth/iframe?appName=x&apiKey="),
        OperationCase("takeRedirectResult") { world in
            let fields = [
                ("apiKey", world.service.apiKey), ("appName", "x"), ("authType", "signInViaRedirect"),
                ("redirectUrl", "http://localhost/"), ("providerId", LinkingWorld.acmeID.rawValue),
            ]
            let begun = try OpenedPage(
                try await world.service.send("GET", "/__/auth/handler?\(FormFields(pairs: fields).text)")
            )
            let answer = FormFields(pairs: [("code", "x"), ("state", begun.data["state"]?.string ?? "")]).text
            let page = try OpenedPage(
                try await world.service.send(
                    "GET",
                    "/__/auth/handler?\(answer)",
                    headers: [("Cookie", begun.cookie ?? "")]
                )
            )
            let kept = page.cookies.last?.prefix { $0 != ";" } ?? ""
            let frame: JSON = ["apiKey": .string(world.service.apiKey), "appName": "x", "origin": "http://localhost"]
            let headers = [
                ("Cookie", String(kept)), ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/json"),
            ]
            return {
                try await world.service.send("POST", "/__/auth/iframe", headers: headers, body: Array(frame.text.utf8))
            }
        },
        page("initializeApp", "/__/firebase/init.json?apiKey="),
        app("createApp") {
            try await $0.service.admin(
                "apps",
                ["platform": "ANDROID", "packageName": "com.example.new"],
                version: "v2"
            )
        },
        app("deleteApp") { world in
            let id = world.service.stores.configuration.snapshot.project(world.service.project.id)?.settings.apps.first?
                .id
            return try await world.service.admin("apps/\(id ?? "")", method: "DELETE", version: "v2")
        },
    ]

    private static func open(_ path: String, _ world: LinkingWorld) async throws -> OpenedPage {
        let fields = [
            ("apiKey", world.service.apiKey), ("appName", "x"), ("authType", "signInViaPopup"),
            ("providerId", LinkingWorld.acmeID.rawValue),
        ]
        return try OpenedPage(try await world.service.send("GET", "\(path)?\(FormFields(pairs: fields).text)"))
    }

    private static func handler(_ name: String, _ path: String) -> OperationCase {
        OperationCase(name) { world in
            _ = try await open(path, world)
            return { try await open(path, world).reply }
        }
    }

    private static func callback(
        _ name: String,
        _ method: String,
        _ path: String,
        isOwn: Bool = false
    ) -> OperationCase {
        OperationCase(name, { $0.ownCallback = isOwn }) { world in
            let page = try await open(path, world)
            let path = isOwn ? "\(path)/\(world.service.project.id)" : path
            let answer = FormFields(pairs: [("code", "x"), ("state", page.data["state"]?.string ?? "")]).text
            let headers = [("Cookie", page.cookie ?? "")]
            return {
                guard method == "POST" else {
                    return try await world.service.send("GET", "\(path)?\(answer)", headers: headers)
                }
                return try await world.service.send("POST", path, headers: headers, body: Array(answer.utf8))
            }
        }
    }

    private static func page(_ name: String, _ path: String) -> OperationCase {
        OperationCase(name) { world in { try await world.service.send("GET", path + world.service.apiKey) } }
    }

    private static func app(
        _ name: String,
        _ request: @escaping @Sendable (LinkingWorld) async throws -> Reply
    ) -> OperationCase {
        OperationCase(name) { world in
            let app: JSON = ["platform": "ANDROID", "packageName": "com.example.app"]
            _ = try await world.service.admin("apps", app, version: "v2")
            return { try await request(world) }
        }
    }
}
