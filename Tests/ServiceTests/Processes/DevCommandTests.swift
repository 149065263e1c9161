import Development
import Domain
import Foundation
import StrictJSON
import Testing
import TestKit
import Text

/// `identity dev`, as a newcomer runs it.
@Suite("identity dev", .timeLimit(.minutes(10)))
struct DevCommandTests {
    private func users(_ arguments: String..., data: String) async throws -> [JSON] {
        let result = try await Program.run(
            IdentityProgram.path,
            ["users"] + arguments + ["--data", data, "--json"]
        )
        #expect(result.status == 0, "\(result)")
        return try JSON(parsing: Array(result.output.utf8)).array ?? []
    }

    @Test("serves, signs in through the demo provider, and shows the account to an admin")
    func mainJob() async throws {
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { _, service in
                let ready = try await service.get("/readyz")
                ready.expectOK()
                let signedIn = try await service.signIn(through: "oidc.demo", as: "ada@example.com")
                signedIn.expectOK()
                #expect(signedIn["isNewUser"] == true)
                let id = try #require(signedIn.localID)
                let account = try await service.admin("accounts:lookup", ["localId": [.string(id)]])
                #expect(account["users"]?[0]?["providerUserInfo"]?[0]?["providerId"] == "oidc.demo")

                #expect(try await users("list", data: data).map { $0["localId"]?.string } == [id])
                #expect(try await users("show", id, data: data).first?["email"] == "ada@example.com")
                #expect(try await users("find", "--email", "ADA@example.com", data: data).count == 1)
                let subject = try #require(account["users"]?[0]?["providerUserInfo"]?[0]?["rawId"]?.string)
                let found = try await users("find", "--provider", "oidc.demo", "--subject", subject, data: data)
                #expect(found.first?["localId"]?.string == id)
                #expect(try await users("find", "--email", "nobody@example.com", data: data).isEmpty)
                let table = try await IdentityProgram.run("users", "list", "--data", data)
                #expect(table.output.contains("PROVIDERS") && table.output.contains("oidc.demo:\(subject)"))
                let check = try await IdentityProgram.run("check", "--data", data)
                #expect(check.status == 0 && check.output.contains("apple-missing"), "\(check)")
            }
        }
    }

    @Test("--demo-providers all brings every personality of the test provider, each a button that signs in")
    func allDemoProviders() async throws {
        let personalities = Set(ProviderScene.Kind.allCases.map(\.personality.name))
        #expect(personalities.subtracting(DemoProviders.all.map(\.personality.name)).isEmpty)
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data, "--demo-providers", "all") { _, service in
                let page = try await demoPage(of: service)
                for demo in DemoProviders.all {
                    #expect(page.contains(#"{"id":"\#(demo.id)","name":"\#(demo.title)"}"#), "\(demo.title)")
                    let accounts = service.baseURL + "/emulator/v1/projects/\(service.project)/accounts"
                    try await PlainHTTP.send("DELETE", accounts).expectOK()
                    let person = try #require(demo.people.first?.name)
                    let signedIn = try await signIn(through: demo.id.rawValue, as: person, service)
                    #expect(signedIn.status == 200 && signedIn["isNewUser"] == true, "\(demo.title): \(signedIn)")
                    #expect(signedIn["providerId"] == .string(demo.id.rawValue))
                }
            }
            // The next start without them leaves no button that leads nowhere.
            try await IdentityProgram.dev("--data", data) { _, service in
                let page = try await demoPage(of: service)
                #expect(page.contains(#""id":"oidc.demo""#) && page.contains(#""id":"github.com""#))
                #expect(!page.contains("oauth.x"))
                let left = try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oauth.x", "continueUri": "http://localhost/"]
                )
                #expect(left.status == 400, "\(left)")
            }
            try await IdentityProgram.dev("--data", data, "--demo-providers", "none") { _, service in
                let page = try await demoPage(of: service)
                #expect(page.contains(#"type="application/json">[]</script>"#))
            }
        }
    }

    /// As the demo page does it: the provider comes back to the page itself, by GET or by POST.
    private func signIn(through provider: String, as person: String, _ service: RemoteService) async throws -> Reply {
        let page = service.baseURL + "/"
        let start = try await service.call(
            "accounts:createAuthUri",
            ["providerId": .string(provider), "continueUri": .string(page)]
        )
        let browser = ScriptedBrowser()
        let people = try await browser.open(try #require(start["authUri"]?.string, "\(start)"))
        let form = try #require(people.form(with: person), "\(people.text)")
        let visit = try await browser.submit(form, on: people)
        #expect(visit.status == 200 && visit.url.hasPrefix(page + "?"), "\(visit.url)")
        return try await service.call(
            "accounts:signInWithIdp",
            [
                "requestUri": .string(visit.url), "sessionId": JSON(start["sessionId"]?.string),
                "returnSecureToken": true, "returnIdpCredential": true,
            ]
        )
    }

    private func demoPage(of service: RemoteService) async throws -> String {
        try await PlainHTTP.send("GET", service.baseURL + "/", headers: [("Accept", "text/html")]).text
    }

    @Test("a callback that is posted to the demo page ends up in its address")
    func postedCallback() async throws {
        try await IdentityProgram.dev("--ephemeral", "--demo-providers", "none") { _, service in
            let body = Array("code=a+b&state=%3C%22".utf8)
            let reply = try await PlainHTTP.send("POST", service.baseURL + "/", body: body)
            #expect(reply.status == 303)
            #expect(reply.header("location") == "/?code=a%20b&state=%3C%22")
            let long = try await PlainHTTP.send(
                "POST",
                service.baseURL + "/",
                body: Array(repeating: 97, count: 20_000)
            )
            #expect(long.status == 400)
        }
    }

    @Test("T-D11: listens on loopback alone, whatever the environment says", arguments: [[], ["--unsigned-tokens"]])
    func listensOnLoopback(_ arguments: [String]) async throws {
        let environment = ["IDENTITY_HTTP_BIND": "0.0.0.0:0", "IDENTITY_HTTP_PUBLIC_URL": "https://id.example.com"]
        let options = ["--ephemeral", "--demo-providers", "some"] + arguments
        try await IdentityProgram.dev(options, environment: environment) { program, service in
            let demo = try await service.call(
                "accounts:createAuthUri",
                ["providerId": "oidc.demo", "continueUri": "http://localhost/"]
            )
            for url in [service.baseURL, demo["authUri"]?.string ?? ""] {
                let port = try #require(URLParts(url)?.port, "\(demo)")
                try await RawConnection.open(port: port) { _ in }
                // Where Linux answers for those who listen at all addresses of this machine.
                await #expect(throws: (any Error).self, "\(url)") {
                    try await RawConnection.open(port: port, host: "127.0.0.2") { _ in }
                }
            }
        }
    }

    @Test("T-E17: a web site that the developer visits is no owner, and reads no emulator utility")
    func foreignOrigins() async throws {
        try await IdentityProgram.dev("--ephemeral") { _, service in
            let owner = ("Authorization", "Bearer owner")
            let accounts = service.baseURL + "/v1/projects/demo-project/accounts:batchGet"
            for (path, headers) in [
                (accounts, [owner]), (service.baseURL + "/emulator/v1/projects/demo-project/oobCodes", []),
                (service.baseURL + "/emulator/v1/projects/demo-project/config", [owner]),
            ] as [(String, [(String, String)])] {
                for origin in [
                    "https://evil.example", "http://localhost.evil.example", "null", "http://192.0.2.1:3000",
                ] {
                    let reply = Reply(try await PlainHTTP.send("GET", path, headers: headers + [("Origin", origin)]))
                    #expect(reply.status == 403, "\(path) \(origin): \(reply)")
                }
                for origin in [nil, "http://localhost:3000", "http://127.0.0.1:5173", service.baseURL] {
                    let origins = origin.map { [("Origin", $0)] } ?? []
                    let reply = Reply(try await PlainHTTP.send("GET", path, headers: headers + origins))
                    #expect(reply.status == 200, "\(path) \(origin ?? "none"): \(reply)")
                }
            }
            let preflight = try await PlainHTTP.send(
                "OPTIONS",
                accounts,
                headers: [("Origin", "https://evil.example"), ("Access-Control-Request-Private-Network", "true")]
            )
            #expect(preflight.header("access-control-allow-private-network") == nil)
        }
    }

    @Test("T-E26: a web site whose name leads to this machine (DNS rebinding) is no owner, and reads nothing")
    func foreignHosts() async throws {
        try await IdentityProgram.dev("--ephemeral") { _, service in
            let port = try #require(URLParts(service.baseURL)?.port)
            func status(of path: String, host: String) async throws -> String {
                try await RawConnection.open(port: port) { connection in
                    try await connection.send(
                        "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer owner\r\nConnection: close\r\n\r\n"
                    )
                    return String(try await connection.readAll().prefix(12))
                }
            }
            for path in [
                "/v1/projects/demo-project/accounts:batchGet", "/emulator/v1/projects/demo-project/oobCodes",
                "/emulator/v1/projects/demo-project/verificationCodes", "/emulator/v1/projects/demo-project/config",
                "/dev",
            ] {
                for host in [
                    "evil.example:\(port)", "127.0.0.1.evil.example:\(port)", "localhost.evil.example",
                    "evillocalhost:\(port)", "",
                ] {
                    #expect(try await status(of: path, host: host) == "HTTP/1.1 403", "\(path) \(host)")
                }
                #expect(try await status(of: path, host: "user@evil.example") == "HTTP/1.1 400", "\(path)")
                for host in [
                    "127.0.0.1:\(port)", "[::1]:\(port)", "10.0.2.2:\(port)", "localhost:\(port)",
                    "a.localhost:\(port)", "localhost",
                ] {
                    #expect(try await status(of: path, host: host) == "HTTP/1.1 200", "\(path) \(host)")
                }
            }
        }
    }

    @Test("T-E18: what a user can name is one line of the log")
    func logLines() async throws {
        try await IdentityProgram.dev("--ephemeral") { program, service in
            let forged = "x\n07:24:59 Signed in account.id=boss\u{2028}y\r\u{85}z\u{1b}[2K\u{202E}\u{A0}\" a=b"
            let token = JSON.object(["uid": .string(forged)]).text
            let reply = try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
            reply.expectOK()
            program.interrupt()
            let errors = await program.result().errors
            let lines = errors.unicodeScalars.split { $0.properties.generalCategory == .lineSeparator || $0 == "\n" }
            let line = try #require(lines.map { String($0) }.first { $0.contains(#"account.id="x"#) }, "\(errors)")
            #expect(
                line.contains(
                    #" account.id="x\n07:24:59 Signed in account.id=boss\u{2028}y\r\u{0085}z\u{1B}[2K"#
                        + #"\u{202E}\u{00A0}\" a=b""#
                ),
                "\(line)"
            )
            #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(line)")
            #expect(!lines.contains { String($0).hasPrefix("07:24:59 Signed in") })
        }
    }

    @Test("prints the link of an email and the code of an SMS")
    func printsMessages() async throws {
        try await IdentityProgram.dev("--ephemeral", "--demo-providers", "none") { program, service in
            let codes = "/emulator/v1/projects/demo-project"
            let user = try await service.signUp("ada@example.com")
            _ = try await service.call(
                "accounts:sendOobCode",
                ["requestType": "VERIFY_EMAIL", "idToken": JSON(user.idToken)]
            )
            _ = try await program.line { $0 == "email to ada@example.com (VERIFY_EMAIL):" }
            let mail = try await service.get("\(codes)/oobCodes")["oobCodes"]?[0]
            let link = try #require(mail?["oobLink"]?.string)
            _ = try await program.line { $0 == "  \(link)" }
            _ = try await service.call("accounts:sendVerificationCode", ["phoneNumber": "+491701234567"])
            _ = try await program.line { $0 == "SMS to +491701234567:" }
            let sms = try await service.get("\(codes)/verificationCodes")["verificationCodes"]?[0]
            let digits = try #require(sms?["code"]?.string)
            _ = try await program.line { $0.contains(digits) }
        }
    }

    @Test("makes a project that an admin path names")
    func makesProjects() async throws {
        try await IdentityProgram.dev("--ephemeral", "--project", "other-project") { _, service in
            var service = service
            service.project = "new-project"
            let made = try await service.admin("accounts", ["email": "new@example.com"])
            made.expectOK()
            // The keys of apps mean the project of the command line.
            let account = try await service.signUp("app@example.com")
            #expect(account.claims["aud"] == "other-project")
        }
    }

    @Test("Ctrl-C stops everything, and kept data is there at the next start")
    func keepsItsData() async throws {
        try await withTemporaryFolder { data in
            let user = try await IdentityProgram.dev("--data", data) { program, service in
                let user = try await service.signUp("kept@example.com")
                _ = try await service.call(
                    "accounts:sendOobCode",
                    ["requestType": "VERIFY_EMAIL", "idToken": JSON(user.idToken)]
                )
                let postgres = try #require(OtherProcess(postgresIn: data))
                #expect(postgres.isRunning)
                program.interrupt()
                let result = await program.result()
                #expect(result.status == 0, "\(result)")
                #expect(result.output.hasSuffix("stopped"))
                #expect(!postgres.isRunning)
                return user
            }
            try await IdentityProgram.dev("--data", data) { program, service in
                #expect(try await service.signInWithPassword("kept@example.com").localID == user.localID)
                // The session goes on, under the same signing key, and the mail still waits.
                let account = try await service.call("accounts:lookup", ["idToken": JSON(user.idToken)])
                #expect(account["users"]?[0]?["localId"]?.string == user.localID, "\(account)")
                #expect(try await service.refresh(user.refreshToken).idToken != nil)
                let codes = try await service.get("/emulator/v1/projects/demo-project/oobCodes")
                #expect(codes["oobCodes"]?[0]?["requestType"] == "VERIFY_EMAIL", "\(codes)")
                let second = try await IdentityProgram.run("dev", "--port", "0", "--data", data)
                #expect(second.status == 78)
                #expect(second.errors.hasPrefix("identity: another process already runs"), "\(second)")
                program.terminate()
                #expect(await program.result().status == 0)
            }
        }
    }

    @Test("names a taken port, its own or the demo provider's, before anything starts", arguments: [0, 1])
    func takenPort(_ distance: Int) async throws {
        try await withTemporaryFolder { data in
            // The port before a taken one may be taken as well.
            for _ in 0..<10 {
                let isNamed = try await WebReceiver.run { receiver in
                    let port = try #require(URLParts(receiver.baseURL)?.port)
                    let result = try await IdentityProgram.run("dev", "--data", data, "--port", "\(port - distance)")
                    guard !result.errors.contains("port \(port - 1) ") else { return false }
                    #expect(result.status == 75 && result.output.isEmpty, "\(result)")
                    #expect(result.errors.hasPrefix("identity: port \(port) of 127.0.0.1 is already in use"))
                    #expect(result.errors.split(separator: "\n").count == 1)
                    return true
                }
                if isNamed { break }
            }
            #expect(!FileManager.default.fileExists(atPath: data))
        }
    }

    @Test("says in one line that its folder cannot be used")
    func unusableFolder() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: folder + "/file", contents: Data("x".utf8))
            for data in [folder + "/file", folder + "/file/data"] {
                let result = try await IdentityProgram.run("dev", "--data", data, "--port", "0")
                #expect(result.status == 78, "\(result)")
                #expect(result.errors.hasPrefix("identity: the folder \(data) can't be used: "), "\(result)")
                #expect(result.errors.split(separator: "\n").count == 1)
            }
        }
    }

    @Test("takes its PostgreSQL along when it is killed")
    func leavesNoChild() async throws {
        try await withTemporaryFolder { data in
            try await IdentityProgram.dev("--data", data) { program, _ in
                let postgres = try #require(OtherProcess(postgresIn: data))
                program.crash()
                #expect(await program.result().status == 128 + SIGKILL)
                try await postgres.end()
            }
            // And nothing of it is in the way of the next start.
            try await IdentityProgram.dev("--data", data) { _, service in
                let ready = try await service.get("/readyz")
                ready.expectOK()
            }
        }
    }

    @Test("an ephemeral database leaves no trace")
    func ephemeralLeavesNothing() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o755]
            )
            let environment = ["TMPDIR": folder]
            try await IdentityProgram.dev("--ephemeral", environment: environment) { program, service in
                try await service.signUp("gone@example.com").expectOK()
                let data = "\(folder)/identity-dev-\(program.processID)"
                let postgres = try #require(OtherProcess(postgresIn: data))
                program.interrupt()
                #expect(await program.result().status == 0)
                #expect(!postgres.isRunning)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }
}
