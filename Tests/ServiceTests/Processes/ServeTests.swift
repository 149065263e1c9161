import Delivery
import Domain
import Foundation
import Logging
import Postgres
import Projects
import Secrets
import SMTPClient
import Storage
import Testing
import TestKit

/// `identity serve`, over a migrated database.
@Suite("identity serve", .database, .timeLimit(.minutes(10)))
struct ServeTests {
    private var environment: [String: String] { IdentityProgram.environment(TestDatabase.current.conninfo) }

    /// A project of its own, with a key.
    private func project(_ name: String, of service: RemoteService) async throws -> RemoteService {
        let made = try await IdentityProgram.run("projects", "create", name, environment: environment)
        var service = service
        service.project = name
        service.apiKey = String(made.output.split(separator: " ").last ?? "")
        #expect(made.status == 0, "\(made)")
        try await service.learnsItsKey()
        return service
    }

    private func adminKey(_ name: String) async throws -> String {
        try await IdentityProgram.run("admin-keys", "create", "--name", name, environment: environment).output
    }

    @Test("learns of new projects and keys while it runs; a revoked admin key is refused at once")
    func adminKeys() async throws {
        try await IdentityProgram.serve(environment) { _, service in
            var service = try await project("admin-project", of: service)
            service.adminToken = "owner"
            #expect(try await service.admin("accounts:batchGet").status == 401)
            service.adminToken = try await adminKey("batch")
            try await service.signUp("a@example.com").expectOK()
            let accounts = try await service.admin("accounts:batchGet")
            #expect(accounts["users"]?.array?.count == 1, "\(accounts)")
            let list = try await IdentityProgram.run("admin-keys", "list", "--json", environment: environment)
            let key = try JSON(parsing: Array(list.output.utf8)).array?.first { $0["name"] == "batch" }
            let id = try #require(key?["id"]?.string)
            #expect(try await IdentityProgram.run("admin-keys", "revoke", id, environment: environment).status == 0)
            #expect(try await service.admin("accounts:batchGet").status == 401)
        }
    }

    @Test("T-E18: what a user can name is one line of the log")
    func logLines() async throws {
        try await IdentityProgram.serve(environment) { program, service in
            var service = try await project("log-project", of: service)
            service.adminToken = try await adminKey("log")
            let forged = "x\n{\"message\":\"Signed in\",\"account.id\":\"boss\"}\r\u{85}\u{1b}[2K"
            let new: JSON = ["localId": .string(forged), "email": "a@example.com", "password": "correct horse"]
            let made = try await service.admin("accounts", new)
            made.expectOK()
            let person: JSON = ["email": "a@example.com", "password": "correct horse"]
            try await service.call("accounts:signInWithPassword", person).expectOK()
            program.interrupt()
            let lines = await program.result().output.utf8.split(separator: UInt8(ascii: "\n"))
            let entries = try lines.map { try JSON(parsing: Array($0)) }
            let named = entries.filter { $0["message"] == "Signed in" }
            #expect(named.map { $0["account.id"]?.string } == [forged], "\(named)")
        }
    }

    @Test("T-D11: has no part of the development mode")
    func noDevelopmentMode() async throws {
        try await IdentityProgram.serve(environment) { _, service in
            let project = try await project("plain-project", of: service)
            // A key of nobody's, a credential of nobody's, a fake ID token, unsigned tokens, the pages of `dev`, and what
            // the emulator tells and does without asking who wants it.
            #expect(try await service.signUp("a@example.com").status == 400)
            var admin = project
            admin.adminToken = try await adminKey("plain")
            let google: JSON = ["enabled": true, "clientId": "client", "clientSecret": "secret"]
            let configured = try await admin.admin("defaultSupportedIdpConfigs?idpId=google.com", google, version: "v2")
            configured.expectOK()
            let fake = try await project.call(
                "accounts:signInWithIdp",
                [
                    "requestUri": "http://localhost", "returnSecureToken": true,
                    "postBody": #"providerId=google.com&id_token={"sub":"1","email":"a@example.com"}"#,
                ]
            )
            #expect(fake.status == 400, "\(fake)")
            let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
            let claims = #"{"uid":"anybody","sub":"anybody","aud":"plain-project"}"#
            for token in [claims, "\(none).\(Base64URL.encode(Array(claims.utf8)))."] {
                let custom = try await project.call("accounts:signInWithCustomToken", ["token": .string(token)])
                #expect(custom.code == "INVALID_CUSTOM_TOKEN", "\(custom)")
            }
            let token = try #require(try await project.signUp("b@example.com").idToken)
            let unsigned = "\(none).\(token.split(separator: ".")[1])."
            let lookup = try await project.call("accounts:lookup", ["idToken": .string(unsigned)])
            #expect(lookup.code == "INVALID_ID_TOKEN", "\(lookup)")
            var owner = project
            owner.adminToken = "owner"
            #expect(try await owner.admin("accounts:batchGet").status == 401)
            let page = try await PlainHTTP.send("GET", service.baseURL + "/", headers: [("Accept", "text/html")])
            #expect(!page.text.contains("<html"))
            let utilities = "/emulator/v1/projects/plain-project"
            for path in [
                "/dev", "\(utilities)/oobCodes", "\(utilities)/verificationCodes", "\(utilities)/config",
                "/emulator/action?mode=verifyEmail&oobCode=x&apiKey=x", "/emulator/openapi.json",
            ] { #expect(try await service.get(path).status == 404, "\(path)") }
            let all = try await PlainHTTP.send("DELETE", "\(service.baseURL)\(utilities)/accounts")
            #expect(all.status == 404)
        }
    }

    @Test("logs JSON with a request id on every line of a request, and no secret")
    func logs() async throws {
        let password = "correct horse battery"
        try await IdentityProgram.serve(environment.merging(["IDENTITY_LOG_LEVEL": "trace"]) { $1 }) {
            program,
            service in
            var service = try await project("logged-project", of: service)
            service.adminToken = try await adminKey("logs")
            let account = try await service.signUp("secret.person@example.com", password)
            #expect(try await service.signInWithPassword("secret.person@example.com", "a wrong guess").status == 400)
            let again = try await service.signInWithPassword("secret.person@example.com", password)
            try await service.admin("accounts:batchGet").expectOK()
            _ = try await service.call("accounts:lookup", ["idToken": JSON(again.idToken)])
            _ = try await service.call("accounts:lookup", ["idToken": "nonsense-token"])
            program.terminate()
            let result = await program.result()
            #expect(result.status == 0, "\(result)")

            let lines = result.output.split(separator: "\n")
            #expect(lines.allSatisfy { $0.utf8.count < 10_000 }, "what a service is made of is no log line")
            var requests = 0
            for line in lines {
                let entry = try JSON(parsing: Array(line.utf8))
                for member in ["time", "level", "message"] {
                    #expect(entry[member]?.string != nil, "\(line)")
                }
                guard entry["http.path"] != nil || entry["account.id"] != nil else { continue }
                requests += 1
                #expect(entry["request.id"]?.string?.isEmpty == false, "\(line)")
            }
            #expect(requests >= 6, "\(lines)")
            let secrets = [
                password, "a wrong guess", "secret.person", "nonsense-token", service.adminToken,
                IdentityProgram.encryptionKey, account.idToken, account.refreshToken, again.idToken, again.refreshToken,
            ]
            for secret in secrets {
                let secret = try #require(secret)
                #expect(!(result.output + result.errors).contains(secret), "the log holds a secret")
            }
        }
    }

    @Test("tells journald the priority of each line, and nobody else", arguments: [true, false])
    func journal(isRead: Bool) async throws {
        let stream = isRead ? "$(stat -Lc %d:%i /dev/fd/3)" : "1:1"
        let script = #"exec 3> >(exec cat); JOURNAL_STREAM=\#(stream) exec "$0" serve >&3 3>&-"#
        try await Program.with("/bin/bash", ["-c", script, IdentityProgram.path], environment: environment) { program in
            let line = try await program.line { $0.contains("Serving") }
            #expect(line.hasPrefix(isRead ? "<5>{" : "{"), "\(line)")
        }
    }

    @Test("a log that no process reads any more stops nothing")
    func unreadLog() async throws {
        let script = #"exec 3>&1; exec "$0" serve > >(exec grep -m 1 '"Serving"' >&3) 3>&-"#
        let environment = environment.merging(["IDENTITY_LOG_LEVEL": "trace"]) { $1 }
        try await Program.with("/bin/bash", ["-c", script, IdentityProgram.path], environment: environment) { program in
            let line = try await program.line { $0.contains("Serving") }
            let port = try #require(try JSON(parsing: Array(line.utf8))["http.port"]?.string)
            for _ in 1...100 {
                try await PlainHTTP.send("GET", "http://127.0.0.1:\(port)/healthz").expectOK()
            }
            program.terminate()
            #expect(await program.result().status == 0)
        }
    }

    @Test("T-E20: a log whose reader stalls stops nothing")
    func stalledLog() async throws {
        // It reads the line with the port and nothing more, and keeps the pipe open.
        let stalls = #"exec tail --pid=$$ -f /dev/null 3>&- >/dev/null 2>&1"#
        let script = #"exec 3>&1; exec "$0" serve > >(grep -m 1 '"Serving"' >&3; \#(stalls)) 3>&-"#
        let environment = environment.merging(["IDENTITY_LOG_LEVEL": "trace"]) { $1 }
        try await Program.with("/bin/bash", ["-c", script, IdentityProgram.path], environment: environment) { program in
            let line = try await program.line { $0.contains("Serving") }
            let port = try #require(try JSON(parsing: Array(line.utf8))["http.port"]?.string)
            // The pipe has room for a few hundred.
            let requests = "http://127.0.0.1:\(port)/healthz?n=[1-3000]"
            let sent = try await Program.run(
                "/usr/bin/curl",
                ["-sS", "-m", "600", "--fail-early", "-o", "/dev/null", requests]
            )
            #expect(sent.status == 0, "\(sent)")
            // One that waits for its reader would not end otherwise.
            if sent.status != 0 { program.crash() }
            program.terminate()
            #expect(await program.result().status == 0)
        }
    }

    @Test("finishes the request in flight before it stops")
    func gracefulShutdown() async throws {
        try await IdentityProgram.serve(environment) { program, service in
            let service = try await project("slow-project", of: service)
            let (isLocked, continuation) = AsyncStream.makeStream(of: Void.self)
            async let holding: Void = TestDatabase.current.client.transaction { transaction in
                // Whatever inserts an account waits for us from now on.
                try await transaction.execute("LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE")
                continuation.finish()
                try await waitUntil {
                    let waiting: [Int64] = try await TestDatabase.current.client.query(
                        "SELECT count(*) FROM pg_locks WHERE relation = 'accounts'::regclass AND NOT granted"
                    ) { try $0.next() }
                    return waiting != [0]
                }
                program.terminate()
                // It takes nobody new …
                try await waitUntil { (try? await service.get("/healthz")) == nil }
            }
            for await _ in isLocked {}
            // … and lets go of nobody whom it has taken.
            let reply = try await service.signUp("slow@example.com")
            reply.expectOK()
            try await holding
            #expect(await program.result().status == 0)
        }
    }

    @Test("64 new accounts with one email, made at two nodes at once, are one; a token of either is good at both")
    func twoNodes() async throws {
        try await IdentityProgram.serve(environment) { _, first in
            try await IdentityProgram.serve(environment) { _, second in
                var one = try await project("wide-project", of: first)
                var other = second
                (other.project, other.apiKey) = (one.project, one.apiKey)
                try await other.learnsItsKey()
                let token = try await adminKey("wide")
                (one.adminToken, other.adminToken) = (token, token)
                let nodes = [one, other]
                // Without passwords: in a debug build, 32 hashes of a node may take longer than a request may.
                let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                    for number in 0..<64 {
                        group.addTask { try await nodes[number % 2].admin("accounts", ["email": "one@example.com"]) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(replies.count { $0.status == 200 } == 1)
                #expect(replies.count { $0.code == "EMAIL_EXISTS" } == 63, "\(replies.map(\.description))")
                for node in nodes {
                    let user = try await node.signUp("\(UUID())@example.com")
                    for node in nodes {
                        let found = try await node.call("accounts:lookup", ["idToken": JSON(user.idToken)])
                        #expect(found["users"]?[0]?["localId"]?.string == user.localID, "\(found)")
                    }
                }
            }
        }
    }

    @Test("sends mails through the server of its configuration, and warns of none then")
    func mails() async throws {
        var options = MailServer.Options()
        options.security = .starttls
        (options.user, options.password) = ("mailer", "correct horse")
        try await MailServer.with(options) { server in
            let environment = environment.merging([
                "IDENTITY_MAIL_SMTP_HOST": "localhost", "IDENTITY_MAIL_SMTP_PORT": "\(server.port)",
                "IDENTITY_MAIL_SMTP_USER": "mailer", "IDENTITY_MAIL_SMTP_PASSWORD": "correct horse",
                "IDENTITY_MAIL_SMTP_AUTHORITIES": server.certificate ?? "",
                "IDENTITY_MAIL_SMTP_FROM": "Example <mail@example.com>",
                "IDENTITY_HTTP_PUBLIC_URL": "https://id.example.com",
            ]) { $1 }
            try await IdentityProgram.serve(environment) { program, service in
                _ = try await project("mail-project", of: service)
                let key = try KeyRing.Key(id: "k1", bytes: [UInt8](repeating: 9, count: 32))
                let stores = Stores(
                    database: TestDatabase.current.client,
                    keyRing: try KeyRing(keys: [key]),
                    logger: Logger(label: "stores") { _ in SwiftLogNoOpLogHandler() },
                    now: { Date() }
                )
                try await stores.outbox.insert(
                    kind: Mail.kind,
                    Mail(template: .signIn, to: "ada@example.com", link: "https://id.example.com/x?oobCode=CODE"),
                    of: .password,
                    in: Scope(project: try #require(ProjectID(rawValue: "mail-project"))),
                    due: Date()
                )
                let mail = try #require(try await server.mails(1).first)
                #expect(mail["headers"]?["From"] == "Example <mail@example.com>")
                #expect(mail["secured"] == true && mail["user"] == "mailer")
                #expect(Set(try await server.hellos(2)) == ["id.example.com"], "before and after STARTTLS")
                _ = try await program.line { $0.contains("Sent an email") }
                let check = try await IdentityProgram.run("check", environment: environment)
                #expect(!check.output.contains("mail-server-missing"))
                program.terminate()
                let result = await program.result()
                #expect(result.status == 0 && !result.output.contains("CODE") && !result.output.contains("ada@"))
            }
        }
    }

    @Test("shows its metrics on an address of their own, when it is told to")
    func metrics() async throws {
        let environment = environment.merging(["IDENTITY_METRICS_BIND": "127.0.0.1:0"]) { $1 }
        try await IdentityProgram.serve(environment) { program, service in
            let line = try await program.line { $0.contains("Serving metrics") }
            let port = try JSON(parsing: Array(line.utf8))["http.port"]?.string ?? ""
            let page = try await PlainHTTP.send("GET", "http://127.0.0.1:\(port)/metrics")
            #expect(page.status == 200 && page.text.contains("# TYPE http_server_request_duration_seconds histogram"))
            #expect(try await service.get("/metrics").status == 404)
        }
    }

    @Test("reads a file; the environment wins")
    func configurationFile() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let file = folder + "/identity.yaml"
            let yaml = """
                database:
                  url: "\(TestDatabase.current.conninfo)"
                  connections: 3
                http:
                  bind: 127.0.0.1:1
                  publicURL: http://id.example.com
                encryption:
                  keys:
                    - \(IdentityProgram.encryptionKey)
                log:
                  format: json
                """
            try yaml.write(toFile: file, atomically: true, encoding: .utf8)
            let refused = try await IdentityProgram.run("serve", "--config", file)
            #expect(refused.status == 78 && refused.errors.contains("http.publicURL"), "\(refused)")
            let environment = ["IDENTITY_HTTP_PUBLIC_URL": "https://id.example.com"]
            try await IdentityProgram.serve(environment, arguments: ["serve", "--config", file]) { _, service in
                let ready = try await service.get("/readyz")
                ready.expectOK()
            }
        }
    }
}
