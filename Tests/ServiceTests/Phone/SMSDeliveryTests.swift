import Accounts
import Crypto
import Delivery
import Foundation
import IdentityService
import InMemoryLogging
import Logging
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// The outbox is the database's, not a test's: one at a time.
@Suite("SMS in the outbox", .database, .serialized, .timeLimit(.minutes(10)))
struct SMSDeliveryTests {
    private let number = PhoneScene.number
    private static let key = [UInt8](repeating: 0xA5, count: 32)
    private static let signing = Secret("whsec_" + Data(key).base64EncodedString())

    init() async throws {
        // What another test left behind.
        try await TestDatabase.current.client.execute("DELETE FROM outbox")
    }

    private func run(
        _ change: @Sendable (inout ProjectSettings, WebReceiver) -> Void,
        _ body: @Sendable (TestService, WebReceiver) async throws -> Void
    ) async throws {
        try await WebReceiver.run { receiver in
            var options = PhoneScene.options { change(&$0, receiver) }
            options.sendsMessages = true
            try await TestService.run(options) { service in
                try await body(service, receiver)
                let log = service.logs.entries.map { "\($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
                for secret in [number, "sms-secret", Self.signing.reveal(), receiver.baseURL] {
                    #expect(!log.contains { $0.contains(secret) }, "\(log)")
                }
            }
        }
    }

    @Test("leave by the provider that the project describes: a form, with basic authentication")
    func form() async throws {
        try await run { settings, receiver in
            settings.mail.appName = "Fish & Chips"
            var sms = SMSProvider(url: receiver.baseURL + "/send?x=1", body: "To=%TO%&Text=%TEXT%&Key=%ID%")
            (sms.authorization, sms.user, sms.secret) = (.basic, "account", Secret("sms-secret"))
            sms.headers = ["X-Idempotency": "%ID%", "X-Extra": "%SECRET%!"]
            settings.delivery.sms = sms
        } _: { service, receiver in
            let sent = try await service.code(to: number)
            #expect(try await service.assembly.deliveries.deliverDue() == 1)
            #expect(try await service.assembly.deliveries.deliverDue() == 0)
            let request = try #require(receiver.received.first)
            #expect(receiver.received.count == 1 && request.method == "POST" && request.path == "/send?x=1")
            #expect(request.header("content-type") == "application/x-www-form-urlencoded")
            let basic = Data("account:sms-secret".utf8).base64EncodedString()
            #expect(request.header("authorization") == "Basic \(basic)")
            let id = try #require(request.header("x-idempotency"))
            #expect(request.header("x-extra") == "sms-secret!")
            let text = "\(sent.code)%20is%20your%20verification%20code%20for%20Fish%20%26%20Chips."
            #expect(request.text == "To=%2B4915550100&Text=\(text)&Key=\(id)")
            try await service.signInByPhone(sent.body()).expectOK()
        }
    }

    @Test("leave as JSON, with a bearer token, in the reader's language, with the hash of an Android app")
    func json() async throws {
        try await run { settings, receiver in
            settings.mail.appName = #"A "quoted" \ %CODE% app"#
            var sms = SMSProvider(url: receiver.baseURL, body: #"{"to":"%TO%","m":["%TEXT%"]}"#)
            (sms.method, sms.format) = (.put, .json)
            (sms.authorization, sms.secret) = (.bearer, Secret("sms-secret"))
            settings.delivery.sms = sms
        } _: { service, receiver in
            let body: JSON = ["phoneNumber": .string(number), "autoRetrievalInfo": ["appSignatureHash": "FA+9qCX9VSu"]]
            _ = try await service.call("accounts:sendVerificationCode", body, headers: [("X-Firebase-Locale", "de-AT")])
            let code = try await service.smsCode(to: number)
            #expect(try await service.assembly.deliveries.deliverDue() == 1)
            let request = try #require(receiver.received.first)
            #expect(request.method == "PUT" && request.header("content-type") == "application/json")
            #expect(request.header("authorization") == "Bearer sms-secret")
            let text = "\(code) ist Ihr Bestätigungscode für A \"quoted\" \\ %CODE% app.\n\nFA+9qCX9VSu"
            #expect(request.json == ["to": .string(number), "m": [.string(text)]])
        }
    }

    @Test("leave by the project's own endpoint, signed: the same id at every attempt, a time and a signature of each")
    func webhook() async throws {
        try await run { settings, receiver in
            settings.delivery.sms = nil
            settings.delivery.webhook = WebhookEndpoint(
                url: receiver.baseURL + "/hook",
                types: [.smsSend],
                secrets: [Self.signing]
            )
        } _: { service, receiver in
            receiver.answer(500, 503, 429, 301)
            let sent = try await service.code(to: number)
            for seconds in [0.0, 11, 33, 99, 297] {
                service.clock.advance(by: seconds)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
            }
            #expect(try await service.assembly.deliveries.deliverDue() == 0)
            let requests = receiver.received
            #expect(requests.count == 5 && Set(requests.map(\.text)).count == 1)
            #expect(Set(requests.map { $0.header("webhook-id") ?? "" }).count == 1)
            #expect(Set(requests.map { $0.header("webhook-timestamp") ?? "" }).count == 5)
            for request in requests {
                let signed = [request.header("webhook-id"), request.header("webhook-timestamp"), request.text]
                    .map { $0 ?? "" }.joined(separator: ".")
                let code = HMAC<SHA256>.authenticationCode(
                    for: Data(signed.utf8),
                    using: SymmetricKey(data: Self.key)
                )
                #expect(request.header("webhook-signature") == "v1,\(Data(code).base64EncodedString())")
            }
            let last = try #require(requests.last)
            #expect(last.header("webhook-timestamp") == "\(service.clock.seconds)")
            #expect(last.json["type"] == "sms.send" && last.json["timestamp"]?.string?.hasSuffix("Z") == true)
            let data = try #require(last.json["data"])
            #expect(data["phoneNumber"]?.string == number && data["code"]?.string == sent.code)
            #expect(data["text"]?.string?.hasPrefix(sent.code) == true)
            #expect(data["projectId"]?.string == service.project.id.rawValue)
        }
    }

    @Test("are signed with every secret, so that a receiver can change its own")
    func severalSecrets() async throws {
        let other = Secret("whsec_" + Data(repeating: 1, count: 24).base64EncodedString())
        try await run { settings, receiver in
            settings.delivery.webhook = WebhookEndpoint(
                url: receiver.baseURL,
                types: [.smsSend],
                secrets: [Self.signing, other]
            )
        } _: { service, receiver in
            _ = try await service.code(to: number)
            #expect(try await service.assembly.deliveries.deliverDue() == 1)
            let signatures = receiver.received.first?.header("webhook-signature")?.split(separator: " ") ?? []
            #expect(signatures.count == 2 && Set(signatures).count == 2)
        }
    }

    @Test(
        "are given up when the number is none, and once their code is over; else tried again",
        arguments: [400, 422, 410]
    )
    func gone(_ status: Int) async throws {
        try await run { settings, receiver in
            settings.delivery.sms = SMSProvider(url: receiver.baseURL, body: "%TO% %TEXT%")
        } _: { service, receiver in
            receiver.answer(status)
            _ = try await service.code(to: number)
            #expect(try await service.assembly.deliveries.deliverDue() == 1)
            service.clock.advance(by: 4_000)
            #expect(try await service.assembly.deliveries.deliverDue() == 0)
            receiver.answer(401, 500)
            _ = try await service.code(to: number)
            for seconds in [0.0, 11, 600] {
                service.clock.advance(by: seconds)
                #expect(try await service.assembly.deliveries.deliverDue() == 1)
            }
            #expect(receiver.received.count == 3)
            #expect(service.logs.entries.contains { "\($0.message)" == "Gave up an expired message" })
            service.clock.advance(by: 86_400)
            #expect(try await service.assembly.deliveries.deliverDue() == 0)
            let rows = try await service.stores.database.query(
                """
                SELECT count(*) FROM outbox WHERE project = \(service.project.id.rawValue) AND length(payload) > 0
                """
            ) { row in try row.next(Int64.self) }
            #expect(rows == [0])
        }
    }

    @Test(
        "are tried for the last time before their code ends, and then given up, which is counted and logged with the cause",
        .database
    )
    func outage() async throws {
        try await run { settings, receiver in
            settings.delivery.sms = SMSProvider(url: receiver.baseURL, body: "%TO% %TEXT%")
        } _: { service, receiver in
            receiver.answer { _ in (503, "") }
            _ = try await service.code(to: number)
            let begin = service.clock.current
            // After 0, 10, 40, 130 and 400 s or a little later; the one after 1,210 s would come too late.
            for seconds in [0.0, 11, 33, 99, 297, 99] {
                service.clock.advance(by: seconds)
                let isTried = service.clock.current.timeIntervalSince(begin) < 539
                #expect(try await service.assembly.deliveries.deliverDue() == (isTried ? 1 : 0))
                try await service.sweep()
            }
            #expect(!service.logs.entries.contains { $0.level == .error })
            service.clock.advance(by: 1)
            #expect(try await service.assembly.deliveries.deliverDue() == 1)
            #expect(receiver.received.count == 6)
            let last = try #require(service.logs.entries.last { $0.level == .error })
            #expect("\(last.message)" == "Gave up a message" && "\(last.metadata["error.type"] ?? "")".contains("503"))
            let page = try await MetricsPage(service)
            #expect(page.values[#"identity_deliveries_total{kind="sms",outcome="given_up"}"#] == 1)
            #expect(page.values[#"identity_deliveries_total{kind="sms",outcome="retried"}"#] == 5)
        }
    }

    @Test(
        "that no node delivers are given up when they expire, not deleted before that is counted and logged",
        .database
    )
    func nobodyDelivers() async throws {
        try await TestService.run(PhoneScene.options()) { service in
            _ = try await service.code(to: number)
            service.clock.advance(by: 601)
            try await service.sweep()
            #expect(try await service.assembly.deliveries.deliverDue() == 0)
            let given = service.logs.entries.filter { "\($0.message)" == "Gave up an expired message" }
            #expect(given.count == 1 && given.first?.metadata["message.kind"] == "sms")
            let page = try await MetricsPage(service)
            #expect(page.values[#"identity_deliveries_total{kind="sms",outcome="given_up"}"#] == 1)
            service.clock.advance(by: 31 * 86_400)
            try await service.sweep()
            let left = try await service.stores.database.query("SELECT count(*) FROM outbox") {
                try $0.next(Int64.self)
            }
            #expect(left == [0])
        }
    }

    @Test("settings: each is set as a whole, secrets are never shown, and stay while the address does")
    func settings() async throws {
        try await PhoneScene.run { service in
            func patch(_ mask: String, _ identity: JSON) async throws -> Reply {
                let body: JSON = ["identity": identity]
                return try await service.admin(
                    "config?updateMask=\(mask)",
                    body,
                    method: "PATCH",
                    version: "v2"
                )
            }
            func stored() async throws -> DeliverySettings {
                let found = try await service.stores.configuration.updateSettings(of: service.project.id) { _ in [] }
                return found.settings.delivery
            }
            let sms: [String: JSON] = [
                "url": "https://api.sms.example/send", "body": "To=%TO%&Body=%TEXT%", "authorization": "BASIC",
                "user": "account", "secret": "sms-secret", "headers": ["X-Trace": "%ID%"],
            ]
            let set = try await patch("identity.sms", ["sms": .object(sms)])
            let shown = sms.filter { $0.key != "secret" }.merging(["method": "POST", "bodyFormat": "FORM"]) { $1 }
            #expect(set["identity"]?["sms"] == .object(shown), "\(set)")
            let hook: JSON = [
                "url": "https://hook.example", "types": ["sms.send"], "secrets": [.string(Self.signing.reveal())],
            ]
            let both = try await patch("identity.webhook", ["webhook": hook])
            #expect(both["identity"]?["webhook"] == ["url": "https://hook.example", "types": ["sms.send"]])
            #expect(both["identity"]?["sms"] == .object(shown))
            // Left out, a secret stays; at another address it does not.
            try await patch("identity.sms", ["sms": .object(sms.filter { $0.key != "secret" })]).expectOK()
            #expect(try await stored().sms?.secret == Secret("sms-secret"))
            var moved = sms.filter { $0.key != "secret" }
            moved["url"] = "https://other.example"
            #expect(try await patch("identity.sms", ["sms": .object(moved)]).code == "INVALID_CONFIG")
            let elsewhere: JSON = ["url": "https://other.example", "types": ["sms.send"]]
            #expect(try await patch("identity.webhook", ["webhook": elsewhere]).code == "INVALID_CONFIG")
            let rows = try await service.stores.database.query(
                "SELECT projects::text, encode(delivery, 'escape') FROM projects WHERE project = \(service.project.id.rawValue)"
            ) { row in [try row.next(String.self), try row.next(String.self)] }
            for secret in ["sms-secret", Self.signing.reveal()] {
                #expect(!rows.joined().contains { $0.contains(secret) })
            }
            let other = try await service.admin(
                "config?updateMask=identity.appName",
                ["identity": ["appName": "x"]],
                method: "PATCH",
                version: "v2"
            )
            #expect(other["identity"]?["sms"] == .object(shown))
            let cleared = try await patch("identity.sms,identity.webhook", [:])
            #expect(cleared["identity"]?["sms"] == nil && cleared["identity"]?["webhook"] == nil)
        }
    }

    @Test(
        "settings that could not work are refused, and leave all as it was",
        arguments: [
            ["url": "http://sms.example", "body": "%TO%%TEXT%"], ["url": "ftp://sms.example", "body": "%TO%%TEXT%"],
            ["url": "https://u:p@sms.example", "body": "%TO%%TEXT%"], ["url": "/sms", "body": "%TO%%TEXT%"],
            ["url": "https://sms.example#x", "body": "%TO%%TEXT%"], ["url": "https://", "body": "%TO%%TEXT%"],
            ["body": "%TO%%TEXT%"], ["url": "https://sms.example"], ["url": "https://sms.example", "body": "%TEXT%"],
            ["url": "https://sms.example", "body": "%TO%"],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "method": "GET"],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "bodyFormat": "XML"],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "authorization": "BEARER"],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "authorization": "BASIC", "secret": "x"],
            [
                "url": "https://sms.example", "body": "%TO%%TEXT%", "authorization": "BASIC", "user": "a:b",
                "secret": "x",
            ],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "authorization": "BEARER", "secret": "a\r\nb: c"],
            ["url": "https://sms.example", "body": "%TO%%TEXT%%SECRET%"],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "headers": ["Host": "x"]],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "headers": ["A b": "x"]],
            ["url": "https://sms.example", "body": "%TO%%TEXT%", "headers": ["A": "x\r\nB: y"]],
        ] as [JSON]
    )
    func refusesSettings(_ sms: JSON) async throws {
        try await PhoneScene.run { service in
            let before = try await service.admin("config", version: "v2")
            let reply = try await service.admin("config", ["identity": ["sms": sms]], method: "PATCH", version: "v2")
            #expect(reply.status == 400, "\(reply)")
            #expect(try await service.admin("config", version: "v2").json == before.json)
        }
    }

    @Test(
        "endpoints that could not work are refused",
        arguments: [
            ["url": "https://x.example", "types": []], ["url": "https://x.example", "types": ["x"]],
            ["url": "https://x.example", "types": ["sms.send", "sms.send"]],
            ["url": "https://x.example", "types": ["sms.send"], "secrets": []],
            ["url": "https://x.example", "types": ["sms.send"], "secrets": ["whsec_AAAA"]],
            ["url": "https://x.example", "types": ["sms.send"], "secrets": ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]],
        ] as [JSON]
    )
    func refusesEndpoints(_ webhook: JSON) async throws {
        try await PhoneScene.run { service in
            let body: JSON = ["identity": ["webhook": webhook]]
            let reply = try await service.admin("config", body, method: "PATCH", version: "v2")
            #expect(reply.code == "INVALID_CONFIG", "\(reply)")
        }
    }

    @Test(
        "phone settings that could not work are refused",
        arguments: [
            ["signIn": ["phoneNumber": ["testPhoneNumbers": ["+4915550100": "12345"]]]],
            ["signIn": ["phoneNumber": ["testPhoneNumbers": ["15550100": "123456"]]]],
            ["signIn": ["phoneNumber": ["testPhoneNumbers": ["+4915550100": "123456", "+49 155 50100": "123456"]]]],
            ["smsRegionConfig": ["allowByDefault": ["disallowedRegions": ["XX"]]]],
            ["smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["de"]]]],
            ["smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["DE", "DE"]]]],
            [
                "smsRegionConfig": [
                    "allowlistOnly": ["allowedRegions": ["DE"]], "allowByDefault": ["disallowedRegions": []],
                ]
            ],
        ] as [JSON]
    )
    func refusesPhoneSettings(_ body: JSON) async throws {
        try await PhoneScene.run { service in
            let reply = try await service.admin("config", body, method: "PATCH", version: "v2")
            #expect(reply.code == "INVALID_CONFIG", "\(reply)")
        }
    }

    @Test("phone settings come back as they were set")
    func phoneSettings() async throws {
        try await PhoneScene.run { service in
            let phone: JSON = ["enabled": true, "testPhoneNumbers": ["+4915550100": "123456"]]
            let body: JSON = [
                "signIn": ["phoneNumber": phone],
                "smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["FR", "DE"]]],
            ]
            let mask = "signIn.phoneNumber,smsRegionConfig"
            let reply = try await service.admin("config?updateMask=\(mask)", body, method: "PATCH", version: "v2")
            #expect(reply["signIn"]?["phoneNumber"] == phone, "\(reply)")
            #expect(reply["smsRegionConfig"] == ["allowlistOnly": ["allowedRegions": ["FR", "DE"]]])
            #expect(reply["signIn"]?["email"]?["enabled"] == true)
        }
    }

    /// As the Node Admin SDK builds its masks: down to the last member that it sends.
    @Test("a mask below smsRegionConfig changes the list that it names, in a project and in a tenant")
    func maskedRegions() async throws {
        try await PhoneScene.run { service in
            let tenants: JSON = ["multiTenant": ["allowTenants": true]]
            let path = "config?updateMask=multiTenant.allowTenants"
            try await service.admin(path, tenants, method: "PATCH", version: "v2").expectOK()
            let tenant = try await service.makeTenant("Northwind")
            let (allow, deny) = ("smsRegionConfig.allowlistOnly", "smsRegionConfig.allowByDefault")
            let both: JSON = [
                "allowByDefault": ["disallowedRegions": ["FR"]], "allowlistOnly": ["allowedRegions": ["JP"]],
            ]
            let onlyJapan: JSON = ["allowlistOnly": ["allowedRegions": ["JP"]]]
            for resource in ["config", "tenants/\(tenant)"] {
                for (mask, sent, expected) in [
                    ("\(allow).allowedRegions", onlyJapan, onlyJapan),
                    ("\(deny).disallowedRegions", both, ["allowByDefault": ["disallowedRegions": ["FR"]]]),
                    ("sms_region_config.allowlist_only", both, onlyJapan),
                    (deny, ["allowByDefault": [:]], ["allowByDefault": ["disallowedRegions": []]]),
                    ("\(allow).allowedRegions", ["allowlistOnly": [:]], ["allowlistOnly": ["allowedRegions": []]]),
                    ("\(allow),\(deny)", onlyJapan, onlyJapan),
                ] as [(String, JSON, JSON)] {
                    let body: JSON = ["smsRegionConfig": sent]
                    for parameter in ["updateMask", "update_mask"] {
                        let path = "\(resource)?\(parameter)=\(mask)"
                        let reply = try await service.admin(path, body, method: "PATCH", version: "v2")
                        #expect(reply["smsRegionConfig"] == expected, "\(mask) \(reply)")
                    }
                }
                let mask = "\(allow).allowedRegions,\(deny).disallowedRegions"
                let body: JSON = ["smsRegionConfig": both]
                let reply = try await service.admin(
                    "\(resource)?updateMask=\(mask)",
                    body,
                    method: "PATCH",
                    version: "v2"
                )
                #expect(reply.code == "INVALID_CONFIG", "\(reply)")
                for mask in [allow, "\(deny).disallowedRegions"] {
                    let lacking = try await service.admin(
                        "\(resource)?updateMask=\(mask)",
                        [:],
                        method: "PATCH",
                        version: "v2"
                    )
                    #expect(lacking.code == "INVALID_CONFIG", "\(lacking)")
                }
            }
        }
    }
}
