import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

extension OperationCase {
    static let console: [OperationCase] = [
        OperationCase("consoleFile") { world in
            let page = try await world.service.send("GET", "/console/sign-in")
            let sheet = page.response.text.firstMatch(of: #/href="([^"]+\.css)"/#).map { String($0.1) } ?? ""
            return { try await world.service.send("GET", sheet) }
        },
        OperationCase("signInToConsole") { world in
            let admin = try await ConsoleAdmin(world.service)
            world.service.clock.advance(by: 30)
            return { try await admin.signIn() }
        },
        OperationCase("setUpConsole, the code") { world in
            let code = try await ConsoleAdmin.invite(world.service)
            return { try await ConsoleAdmin.post("/console/set-up", [("setup", code)], world.service) }
        },
        OperationCase("setUpConsole, the password") { world in
            let code = try await ConsoleAdmin.invite(world.service)
            let (fields, _) = try await ConsoleAdmin.begin(code, world.service)
            return { try await ConsoleAdmin.post("/console/set-up", fields, world.service) }
        },
        signedIn("signOutOfConsole") { admin in try await admin.post("/console/sign-out", []) },
        signedIn("consoleProjects") { admin in try await admin.get("/console") },
        signedIn("consoleOperations") { admin in try await admin.get("/console/operations") },
        signedIn("consoleAccounts, the newest") { admin in try await admin.get(admin.project + "/accounts") },
        signedIn("consoleAccounts, a search") { admin in
            try await admin.get(admin.project + "/accounts?q=\(ada)")
        },
        signedIn("exportConsoleAccounts") { admin in try await admin.post(admin.project + "/accounts.csv", []) },
        signedIn("consoleAccount") { admin in try await admin.get(admin.project + "/accounts/ada") },
        signedIn("changeConsoleAccount, disabled") { admin in
            try await admin.post(admin.project + "/accounts/ada", [("do", "disable"), ("version", "1")])
        },
        signedIn("changeConsoleAccount, after proving it again", waiting: 960) { admin in
            try await admin.post(
                admin.project + "/accounts/ada",
                [("do", "unlink"), ("provider", "password"), ("version", "1")] + admin.proof
            )
        },
        signedIn("consoleOverview") { admin in try await admin.get(admin.project + "/overview") },
        signedIn("consoleProviders") { admin in try await admin.get(admin.project + "/providers") },
        signedIn("createConsoleProvider") { admin in
            try await admin.post(
                admin.project + "/providers",
                [("provider", "yahoo.com"), ("clientId", "c"), ("clientSecret", "s")]
            )
        },
        signedIn("consoleProvider") { admin in
            try await admin.get(admin.project + "/providers/\(LinkingWorld.acmeID)")
        },
        signedIn("changeConsoleProvider, saved") { admin in
            let snapshot = admin.service.stores.configuration.snapshot
            let acme = try #require(snapshot.provider(LinkingWorld.acmeID, in: admin.service.project.scope))
            let version = admin.service.stores.configuration.version(of: acme)
            return try await admin.post(
                admin.project + "/providers/\(LinkingWorld.acmeID)",
                [("do", "save"), ("version", version), ("enabled", "false")]
            )
        },
        signedIn("beginProviderTest") { admin in
            try await admin.post(admin.project + "/providers/\(LinkingWorld.acmeID)/test", [])
        },
        providerTest,
        signedIn("consoleSettings") { admin in try await admin.get(admin.project + "/settings") },
        OperationCase("changeConsoleSettings") { world in
            let admin = try await ConsoleAdmin(world.service)
            let form = try HTMLForm.all(in: await admin.get(admin.project + "/settings").response.text)
                .first { $0.value("version") != nil }
            let fields = (form?.fields ?? []).filter { $0.name != "token" && $0.name != "signIn.email.enabled" }
                .map { ($0.name, $0.value) }
            return { try await admin.post(admin.project + "/settings", fields) }
        },
        signedIn("consoleAccess") { admin in try await admin.get(admin.project + "/access") },
        signedIn("changeConsoleAccess, a new key") { admin in
            try await admin.post(admin.project + "/access", [("do", "createKey"), ("name", "iOS")])
        },
        signedIn("resendConsoleWebhooks") { admin in try await admin.post(admin.project + "/webhooks", []) },
        signedIn("consoleAudit") { admin in try await admin.get(admin.project + "/audit") },
    ]

    /// A browser has been at the provider before.
    private static var providerTest: OperationCase {
        OperationCase("finishProviderTest") { world in
            let own = "https://id.example.com"
            world.acme.addClient("client", secrets: ["secret"], redirects: .exact(["\(own)/__/auth/handler"]))
            world.acme.addUser(TestUser("1001", email: "test@example.com", emailVerified: true, name: "Ada"))
            let admin = try await ConsoleAdmin(world.service)
            let path = admin.project + "/providers/\(LinkingWorld.acmeID)/test"
            let start = try await admin.post(path, [])
            let cookies = start.response.headers.filter { $0.name.lowercased() == "set-cookie" }
            let flow = try #require(cookies.map(\.value).first { $0.contains("identity-flow") }, "\(start)")
            let link = start.response.text.firstMatch(of: #/href="(http:[^"]*)">Go to/#).map { String($0.1) } ?? ""
            let browser = ScriptedBrowser()
            var visit = try await browser.open(link.replacing("&amp;", with: "&"), until: [own])
            while !visit.isStopped {
                let form = try #require(visit.forms.first, "\(visit.text)")
                visit = try await browser.submit(form, on: visit, until: [own])
            }
            let back = try await world.service.send(
                "GET",
                String(visit.url.dropFirst(own.count)),
                headers: [("Cookie", String(flow.prefix { $0 != ";" }))]
            )
            let found = HTMLForm.all(in: back.response.text).first { $0.value("sessionId") != nil }
            let form = try #require(found, "\(visit.url) \(visit.text) \(back)")
            let fields = form.fields.filter { $0.name != "token" }.map { ($0.name, $0.value) }
            return { try await admin.post(path + "/result", fields) }
        }
    }

    /// - Parameter waiting: seconds since the sign-in.
    private static func signedIn(
        _ name: String,
        waiting: Double = 0,
        _ request: @escaping @Sendable (ConsoleAdmin) async throws -> Reply
    ) -> OperationCase {
        OperationCase(name) { world in
            _ = try await world.account(["localId": "ada", "email": .string(ada), "password": "correct horse"])
            let admin = try await ConsoleAdmin(world.service)
            world.service.clock.advance(by: waiting)
            return { try await request(admin) }
        }
    }
}

/// Somebody at the console, request by request, without a browser.
private struct ConsoleAdmin: Sendable {
    let service: TestService
    let app: TOTP
    let cookie: String

    var project: String { "/console/\(service.project.id)" }
    private static let email = "root@example.com"

    static func invite(_ service: TestService) async throws -> String {
        // The other cases' are of this deployment too.
        try await service.stores.database.execute("DELETE FROM rate_limits WHERE project = ''")
        try await service.stores.database.execute("DELETE FROM admin_credentials WHERE kind = 'console'")
        return try await service.stores.console.createAdmin(
            try #require(EmailAddress(email)),
            project: nil,
            scopes: Set(AdminScope.allCases),
            expiresAt: nil,
            now: service.clock.current
        ).code.reveal()
    }

    /// The form that chooses password and app.
    static func begin(_ code: String, _ service: TestService) async throws -> ([(String, String)], TOTP) {
        let page = try await post("/console/set-up", [("setup", code)], service)
        let app = try ConsolePerson.app(in: page.response.text)
        let enrollment = HTMLForm.all(in: page.response.text).first?.value("enrollment") ?? ""
        return (
            [
                ("setup", code), ("enrollment", enrollment), ("password", ConsolePerson.password),
                ("code", app.code(of: TOTP.step(at: service.clock.seconds))),
            ], app
        )
    }

    init(_ service: TestService) async throws {
        self.service = service
        let (fields, app) = try await Self.begin(try await Self.invite(service), service)
        self.app = app
        let done = try await Self.post("/console/set-up", fields, service)
        let header = try #require(done.response.header("set-cookie"), "\(done)")
        cookie = String(header.prefix { $0 != ";" })
    }

    var proof: [(String, String)] {
        [("password", ConsolePerson.password), ("code", app.code(of: TOTP.step(at: service.clock.seconds)))]
    }

    func signIn() async throws -> Reply {
        try await Self.post("/console/sign-in", [("email", Self.email)] + proof, service)
    }

    func get(_ path: String) async throws -> Reply {
        try await service.send("GET", path, headers: [("Cookie", cookie)])
    }

    func post(_ path: String, _ fields: [(String, String)]) async throws -> Reply {
        let handle = String(cookie.drop { $0 != "=" }.dropFirst())
        let token = Base64URL.encode(SecureHash.sha256("console form \(handle)"))
        return try await Self.post(path, [("token", token)] + fields, service, [("Cookie", cookie)])
    }

    static func post(
        _ path: String,
        _ fields: [(String, String)],
        _ service: TestService,
        _ headers: [(String, String)] = []
    ) async throws -> Reply {
        let own = [("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin")]
        let body = Array(FormFields(pairs: fields).text.utf8)
        return try await service.send("POST", path, headers: own + headers, body: body)
    }
}
