import Accounts
import Crypto
import Delivery
import Development
import Domain
import Foundation
import IdentityService
import InMemoryLogging
import Logging
import Outbound
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

/// The outbox is the database's, not a test's: one at a time.
@Suite("Webhooks", .database, .serialized, .timeLimit(.minutes(10)))
struct WebhookTests {
    private static let key = [UInt8](repeating: 0x5A, count: 24)
    private static let signing = Secret("whsec_" + Data(key).base64EncodedString())
    private static let events: [WebhookType] = [.accountCreated, .accountUpdated, .accountDeleted]

    init() async throws {
        // What another test left behind.
        try await TestDatabase.current.client.execute("DELETE FROM outbox")
    }

    private func run(
        _ types: [WebhookType] = events,
        _ change: @Sendable (inout TestService.Options) -> Void = { _ in },
        _ body: @Sendable (TestService, WebReceiver) async throws -> Void
    ) async throws {
        try await WebReceiver.run { receiver in
            var options = PhoneScene.options { settings in
                settings.emailEnumerationProtection = false
                settings.allowsEmailLink = true
                settings.delivery.sms = SMSProvider(url: receiver.baseURL + "/sms", body: "%TO% %TEXT%")
                settings.delivery.webhook = WebhookEndpoint(
                    url: receiver.baseURL + "/hook",
                    types: types,
                    secrets: [Self.signing]
                )
            }
            options.sendsMessages = true
            change(&options)
            try await TestService.run(options) { service in try await body(service, receiver) }
        }
    }

    /// What the endpoint was told since the last time, each request's signature checked.
    private func told(_ service: TestService, _ receiver: WebReceiver) async throws -> [JSON] {
        let before = receiver.received.count
        _ = try await service.assembly.deliveries.deliverDue()
        return receiver.received.dropFirst(before).filter { $0.path == "/hook" }.map { request in
            let signed = [request.header("webhook-id"), request.header("webhook-timestamp"), request.text]
                .map { $0 ?? "" }.joined(separator: ".")
            let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: Self.key))
            #expect(request.header("webhook-signature") == "v1,\(Data(code).base64EncodedString())")
            return request.json
        }
    }

    @Test("T-E11: webhooks share a project's part of a host with its functions")
    func share() async throws {
        try await WebReceiver.run { receiver in
            let gate = TestGate()
            receiver.answer { request in
                if request.path == "/function" { await gate.pass() }
                return (200, "{}")
            }
            defer { gate.open() }
            var options = TestService.Options()
            options.sendsMessages = true
            options.outboundLimits.requestsPerShare = 1
            options.settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/function"
            options.settings.delivery.webhook = WebhookEndpoint(
                url: receiver.baseURL + "/hook",
                types: [.accountCreated],
                secrets: [Self.signing]
            )
            try await TestService.run(options) { service in
                _ = try await service.admin("accounts", ["email": "ada@example.com"])
                async let waiting = service.signUp("grace@example.com")
                await gate.reached(by: 1)
                _ = try await service.assembly.deliveries.deliverDue()
                #expect(receiver.received.count { $0.path == "/hook" } == 0)
                gate.open()
                try await waiting.expectOK()
                // Of both messages at once, one finds the share taken again.
                for _ in 0..<2 {
                    service.clock.advance(by: 3_600)
                    _ = try await service.assembly.deliveries.deliverDue()
                }
                #expect(receiver.received.count { $0.path == "/hook" } == 2)
            }
        }
    }

    @Test("count as received after any 2xx, whatever its body is")
    func oddBodies() async throws {
        try await run { service, receiver in
            receiver.answer { _ in (202, String(repeating: "x", count: 200_000)) }
            _ = try await service.signUp("ada@example.com")
            _ = try await told(service, receiver)
            let page = try await MetricsPage(service)
            #expect(page.values[#"identity_deliveries_total{kind="webhook",outcome="delivered"}"#] == 1)
        }
    }

    @Test("are tried again when the endpoint asks for it; the log says what was given up")
    func retryAfter() async throws {
        try await run { service, receiver in
            receiver.answer { _ in (503, "") }
            receiver.retryAfter = "120"
            let user = try await service.signUp("ada@example.com")
            #expect(try await told(service, receiver).count == 1)
            service.clock.advance(by: 119)
            #expect(try await told(service, receiver).count == 0)
            service.clock.advance(by: 14)
            receiver.retryAfter = "Wed, 01 Jan 2020 00:00:00 GMT"
            #expect(try await told(service, receiver).count == 1)
            service.clock.advance(by: 34)
            receiver.answer { _ in (410, "") }
            #expect(try await told(service, receiver).count == 1)
            let entry = try #require(service.logs.entries.last { $0.level == .error })
            #expect(entry.metadata["message.type"] == "account.created" && entry.metadata["message.kind"] == "webhook")
            #expect(entry.metadata["account.id"] == "\(user.localID ?? "")" && entry.metadata["error.type"] != nil)
        }
    }

    @Test("that were given up are listed, and sent again with the same ID when the operator says so")
    func resend() async throws {
        try await run { service, receiver in
            receiver.answer { _ in (410, "") }
            let user = try await service.signUp("ada@example.com")
            _ = try await service.signUp("bob@example.com")
            #expect(try await told(service, receiver).count == 2)
            let (outbox, project, now) = (service.stores.outbox, service.project.id, service.clock.now())
            let listed = try await outbox.givenUp(of: project)
            #expect(listed.count == 2 && listed.allSatisfy { $0.summary.subject.type == "account.created" })
            #expect(try await outbox.givenUp(of: ProjectID(rawValue: "other-project")).isEmpty)
            let adas = try #require(listed.first { $0.summary.subject.account == user.localID })

            receiver.answer { _ in (200, "") }
            #expect(try await outbox.resend(["none"], of: project, now: now) == 0)
            #expect(try await outbox.resend([adas.summary.id], of: project, now: now) == 1)
            let again = try await told(service, receiver)
            #expect(again.count == 1 && again.first?["data"]?["localId"]?.string == user.localID)
            #expect(try await outbox.givenUp(of: project).count == 1)
            #expect(try await outbox.resend(nil, of: project, now: now) == 1)
            #expect(try await told(service, receiver).count == 1)
            #expect(try await outbox.resend(nil, of: project, now: now) == 0)
        }
    }

    @Test("order the events of an account by their time in milliseconds and the account's version")
    func order() async throws {
        try await run { service, receiver in
            let user = try await service.signUp("ada@example.com")
            for name in ["Ada", "Lovelace"] {
                service.clock.advance(by: 0.25)
                let body: JSON = ["idToken": JSON(user.idToken), "displayName": .string(name)]
                #expect(try await service.call("accounts:update", body).status == 200)
            }
            service.clock.advance(by: 0.25)
            #expect(try await service.call("accounts:delete", ["idToken": JSON(user.idToken)]).status == 200)
            let notices = try await told(service, receiver)
            func version(_ notice: JSON) -> Double { notice["data"]?["version"]?.number ?? 0 }
            let types = ["account.created", "account.updated", "account.updated", "account.deleted"]
            for order in [
                notices.sorted { version($0) < version($1) },
                notices.sorted { $0["timestamp"]?.string ?? "" < $1["timestamp"]?.string ?? "" },
            ] {
                #expect(order.map { $0["type"]?.string } == types)
                #expect(order[1...2].map { $0["data"]?["displayName"]?.string } == ["Ada", "Lovelace"])
            }
            #expect(Set(notices.map(version)).count == 4 && notices.allSatisfy { version($0) >= 1 })
            let times = notices.compactMap { $0["timestamp"]?.string }
            #expect(times.allSatisfy { $0.wholeMatch(of: /[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z/) != nil }, "\(times)")
        }
    }

    @Test("new accounts of every kind are told of, once each, with the transaction that opens them")
    func created() async throws {
        try await run { service, receiver in
            let user = try await service.signUp("ada@example.com")
            let notices = try await told(service, receiver)
            #expect(notices.count == 1)
            let notice = try #require(notices.first)
            #expect(notice["type"] == "account.created" && notice["timestamp"]?.string?.hasSuffix("Z") == true)
            let data = try #require(notice["data"])
            #expect(data["localId"]?.string == user.localID && data["email"] == "ada@example.com")
            #expect(data["emailVerified"] == false && data["methods"] == ["password"] && data["disabled"] == false)
            #expect(data["projectId"]?.string == service.project.id.rawValue)

            _ = try await service.call("accounts:signUp", [:])
            _ = try await service.signInByPhone(PhoneScene.number)
            let link = try await service.code(.emailSignIn, ["email": "bob@example.com"], to: "bob@example.com")
            _ = try await service.signInWithLink("bob@example.com", link)
            _ = try await service.admin("accounts", ["email": "eve@example.com"])
            let others = try await told(service, receiver)
            #expect(others.compactMap { $0["type"]?.string } == Array(repeating: "account.created", count: 4))
            #expect(Set(others.compactMap { $0["data"]?["localId"]?.string }).count == 4)
            // Signing in, refused sign-ups and refreshes are no news.
            _ = try await service.signInWithPassword("ada@example.com")
            _ = try await service.signInByPhone(PhoneScene.number)
            _ = try await service.signUp("ada@example.com")
            _ = try await service.refresh(user.refreshToken)
            #expect(try await told(service, receiver) == [])
        }
    }

    @Test("of a sign-in with a provider: a new account, a link, a take-over")
    func providers() async throws {
        try await run(Self.events, { $0.development = true }) { service, receiver in
            func signIn(_ email: String, _ subject: String) async throws -> Reply {
                let token = #"{"sub":"\#(subject)","email":"\#(email)","email_verified":true}"#
                return try await service.signInWithIdP(postBody: "providerId=google.com&id_token=\(token)")
            }
            let made = try await signIn("ada@gmail.com", "1")
            #expect(made["isNewUser"] == true, "\(made)")
            let first = try await told(service, receiver)
            #expect(first.map { $0["type"] } == ["account.created"])
            #expect(first.first?["data"]?["methods"] == ["google.com"])
            _ = try await signIn("ada@gmail.com", "1")
            #expect(try await told(service, receiver) == [])
            let bob = try await service.signUp("bob@gmail.com")
            _ = try await told(service, receiver)
            let taken = try await signIn("bob@gmail.com", "2")
            #expect(taken.localID == bob.localID, "\(taken)")
            let second = try await told(service, receiver)
            #expect(second.map { $0["type"] } == ["account.updated"])
            #expect(second.first?["data"]?["methods"] == ["google.com"])
            #expect(second.first?["data"]?["emailVerified"] == true)
        }
    }

    @Test("changes that show are told of, with the account as it is then; those that do not are not")
    func updated() async throws {
        try await run { service, receiver in
            let user = try await service.signUp("ada@example.com")
            _ = try await told(service, receiver)
            func change(_ body: JSON) async throws -> [JSON] {
                let reply = try await service.admin("accounts:update", body.merging(["localId": JSON(user.localID)]))
                reply.expectOK()
                return try await told(service, receiver)
            }
            let named = try await change(["displayName": "Ada"])
            #expect(named.map { $0["type"] } == ["account.updated"])
            #expect(named.first?["data"]?["displayName"] == "Ada")
            #expect(try await change(["displayName": "Ada"]) == [])
            #expect(try await change(["disableUser": true]).first?["data"]?["disabled"] == true)
            #expect(try await change(["disableUser": false]).first?["data"]?["disabled"] == false)
            #expect(
                try await change(["phoneNumber": "+4915550100"]).first?["data"]?["methods"] == ["password", "phone"]
            )
            service.clock.advance(by: 1)
            let password = try await change(["password": "another horse"])
            #expect(password.first?["data"]?["passwordUpdatedAt"] != named.first?["data"]?["passwordUpdatedAt"])
        }
    }

    @Test("deletions are told of, with the account as it was, by the person and by an admin")
    func deleted() async throws {
        try await run { service, receiver in
            let ada = try await service.signUp("ada@example.com")
            let bob = try await service.signUp("bob@example.com")
            _ = try await told(service, receiver)
            _ = try await service.call("accounts:delete", ["idToken": JSON(ada.idToken)])
            _ = try await service.admin("accounts:delete", ["localId": JSON(bob.localID)])
            let notices = try await told(service, receiver)
            #expect(notices.map { $0["type"] } == ["account.deleted", "account.deleted"])
            #expect(Set(notices.map { $0["data"]?["email"]?.string }) == ["ada@example.com", "bob@example.com"])
        }
    }

    @Test("merges and their undoing are told of, with the account that stays and the id of the other one")
    func merges() async throws {
        try await run([.accountMerged, .accountMergeUndone, .accountUpdated, .accountDeleted]) { service, receiver in
            let ada = try await service.signUp("ada@example.com")
            let guest = try await service.call("accounts:signUp")
            let proved: JSON = ["localId": JSON(ada.localID), "emailVerified": true]
            try await service.admin("accounts:update", proved).expectOK()
            _ = try await told(service, receiver)
            try await service.upload(["localId": "phone", "phoneNumber": .string(PhoneScene.number)])
            for (merged, methods) in [(guest.localID, ["password"]), ("phone", ["password", "phone"])] {
                let merge = try await service.merge(merged, into: ada.localID)
                merge.expectOK()
                let notices = try await told(service, receiver)
                #expect(notices.map { $0["type"] } == ["account.merged"])
                let data = try #require(notices.first?["data"])
                #expect(data["localId"] == JSON(ada.localID) && data["mergedLocalId"] == JSON(merged))
                #expect(data["methods"] == .array(methods.map { .string($0) }))
                guard merged == "phone" else { continue }
                _ = try await service.undo(merge)
                let undone = try await told(service, receiver)
                #expect(undone.map { $0["type"] } == ["account.mergeUndone"])
                let after = try #require(undone.first?["data"])
                #expect(after["mergedLocalId"] == "phone" && after["methods"] == ["password"])
            }
            // A preview and a refusal are no news.
            _ = try await service.merge("phone", into: ada.localID, ["validateOnly": true])
            _ = try await service.merge("nobody", into: ada.localID)
            #expect(try await told(service, receiver) == [])
        }
    }

    @Test("only the types that the endpoint takes are written, and without an endpoint no statement is more")
    func onlyWanted() async throws {
        try await run([.accountDeleted]) { service, receiver in
            let user = try await service.signUp("ada@example.com")
            _ = try await service.call("accounts:update", ["idToken": JSON(user.idToken), "displayName": "Ada"])
            #expect(try await told(service, receiver) == [])
            _ = try await service.call("accounts:delete", ["idToken": JSON(user.idToken)])
            #expect(try await told(service, receiver).count == 1)
        }
        func statements(_ types: [WebhookType]) async throws -> [Int] {
            let options = PhoneScene.options { settings in
                guard !types.isEmpty else { return }
                settings.delivery.webhook = WebhookEndpoint(
                    url: "https://x.example",
                    types: types,
                    secrets: [Self.signing]
                )
            }
            return try await TestService.run(options) { service in
                _ = try await service.signUp("warm@example.com")
                let (signUp, user) = try await StatementCount.during { try await service.signUp("ada@example.com") }
                let body: JSON = ["idToken": JSON(user.idToken), "displayName": "Ada"]
                _ = try await service.call("accounts:update", body)
                let (update, _) = try await StatementCount.during {
                    try await service.call("accounts:update", body.merging(["displayName": "Eve"]))
                }
                return [signUp.total, update.total]
            }
        }
        let without = try await statements([])
        #expect(try await statements([.smsSend]) == without)
        let with = try await statements(Self.events)
        #expect(with == [without[0], without[1] + 1], "\(with) \(without)")
    }

    @Test("what the endpoint takes no more is not sent either, though it was written before")
    func takenNoMore() async throws {
        try await run { service, receiver in
            _ = try await service.signUp("ada@example.com")
            func take(_ types: [WebhookType]) async throws {
                _ = try await service.stores.configuration.updateSettings(of: service.project.id) { settings in
                    settings.delivery.webhook?.types = types
                    return []
                }
            }
            try await take([.accountDeleted])
            #expect(try await told(service, receiver) == [])
            try await take([.accountCreated])
            service.clock.advance(by: 3_600)
            #expect(try await told(service, receiver).map { $0["type"] } == ["account.created"])
        }
    }

    @Test("a change that fails tells nothing", .twoNodes)
    func rolledBack() async throws {
        try await run { service, receiver in
            _ = try await service.signUp("ada@example.com")
            let bob = try await service.signUp("bob@example.com")
            _ = try await told(service, receiver)
            let taken = try await service.admin(
                "accounts:update",
                ["localId": JSON(bob.localID), "email": "ada@example.com"]
            )
            #expect(taken.code == "EMAIL_EXISTS")
            let replies = try await inParallel(5) { _ in try await service.signUp("eve@example.com") }
            #expect(replies.count { $0.status == 200 } == 1)
            #expect(try await told(service, receiver).map { $0["type"] } == ["account.created"])
        }
    }

    @Test("5xx, 3xx and no answer are tried again with the same id and body, 410 ends it")
    func retries() async throws {
        try await run { service, receiver in
            receiver.answer(500, 302, 410)
            _ = try await service.signUp("ada@example.com")
            for seconds in [0.0, 11, 33] {
                service.clock.advance(by: seconds)
                #expect(try await told(service, receiver).count == 1)
            }
            #expect(Set(receiver.received.map { $0.header("webhook-id") }).count == 1)
            #expect(Set(receiver.received.map(\.text)).count == 1)
            service.clock.advance(by: 86_400)
            #expect(try await told(service, receiver) == [])
        }
    }

    @Test("mails go to the endpoint that takes them, and need no mail server; others wait for one")
    func mails() async throws {
        try await run([.mailSend]) { service, receiver in
            _ = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(
                .passwordReset,
                ["email": "ada@example.com"],
                headers: [("X-Firebase-Locale", "de")]
            )
            let mail = try await service.mail(.passwordReset, to: "ada@example.com")
            let notices = try await told(service, receiver)
            let data = try #require(notices.first?["data"])
            #expect(notices.map { $0["type"] } == ["mail.send"])
            #expect(data["template"] == "passwordReset" && data["email"] == "ada@example.com" && data["locale"] == "de")
            #expect(data["link"]?.string == mail.mail.link)
            try await service.reset(mail.code, to: "another horse").expectOK()
        }
        try await run([.smsSend]) { service, receiver in
            _ = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.passwordReset, ["email": "ada@example.com"])
            #expect(try await told(service, receiver) == [])
            #expect(try await service.mails().count == 1)
        }
    }

    @Test("in development mails and SMS stay, and accounts are told of")
    func development() async throws {
        try await run(WebhookType.allCases, { $0.development = true }) { service, receiver in
            _ = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.passwordReset, ["email": "ada@example.com"])
            _ = try await service.sendSMS(to: PhoneScene.number)
            #expect(try await told(service, receiver).map { $0["type"] } == ["account.created"])
            #expect(try await service.mails().count == 1)
            #expect(try await service.waitingSMS().count == 1)
        }
    }

    @Test("events are dropped once no webhook is configured; the log says so, without their content")
    func withdrawn() async throws {
        try await run { service, receiver in
            _ = try await service.signUp("ada@example.com")
            let project = service.project.id
            _ = try await service.stores.configuration.updateSettings(of: project) { settings in
                settings.delivery.webhook = nil
                return []
            }
            for seconds in [0.0, 11, 86_400] {
                service.clock.advance(by: seconds)
                #expect(try await told(service, receiver) == [])
            }
            let rows = try await service.stores.database.query(
                "SELECT attempts FROM outbox WHERE project = \(project.rawValue) AND abandoned_at IS NOT NULL"
            ) { row in try row.next(Int32.self) }
            #expect(rows == [2])
            let log = service.logs.entries.map { "\($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
            #expect(log.contains { $0.contains("Gave up a message that cannot be delivered") })
            for secret in ["ada@example.com", receiver.baseURL, Self.signing.reveal()] {
                #expect(!log.contains { $0.contains(secret) })
            }
        }
    }

    @Test("a message whose outcome cannot be stored stops none of the others that were taken with it")
    func independent() async throws {
        try await run { service, receiver in
            for number in 0..<16 {
                try await service.admin("accounts", ["email": "\(number)@example.com"]).expectOK()
            }
            let database = TestDatabase.current.client
            try await database.execute(
                "UPDATE outbox SET subject = 'stuck' WHERE message = (SELECT min(message) FROM outbox)"
            )
            try await database.execute(
                "ALTER TABLE outbox ADD CONSTRAINT stuck CHECK (subject <> 'stuck' OR delivered_at IS NULL)"
            )
            let first = try? await service.assembly.deliveries.deliverDue()
            try await database.execute("ALTER TABLE outbox DROP CONSTRAINT stuck")
            #expect(first == 16)
            let delivered = try await database.query("SELECT message FROM outbox WHERE delivered_at IS NOT NULL") {
                try $0.next(String.self)
            }
            #expect(delivered.count == 15)
            service.clock.advance(by: 21)
            #expect(try await service.assembly.deliveries.deliverDue() == 1, "when its lease has ended")
        }
    }
}
