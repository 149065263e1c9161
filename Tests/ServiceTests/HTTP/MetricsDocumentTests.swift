import Accounts
import Delivery
import Development
import Domain
import Foundation
import IdentityService
import Projects
import Storage
import Testing
import TestKit
import Yams

/// docs/operations/observability.md, the dashboard and the alert rules, held against a page of the metrics.
@Suite("Metrics and what reads them", .database, .testProvider, .serialized)
struct MetricsDocumentTests {
    private struct Family: Hashable {
        var name: String
        var kind: String
        var labels: Set<String>
    }

    /// What the document lists.
    private static func documented() throws -> [Family] {
        try Repository.rows(of: "docs/operations/observability.md", section: "## Metrics").map { cells in
            Family(
                name: cells[0].replacing("`", with: ""),
                kind: cells[1],
                labels: Set(cells[2].split(separator: ",").map { String($0).trimming { "` ".contains($0) } })
            )
        }
    }

    @Test("every metric is in the document with its kind and labels, and every one there is exported")
    func areDocumented() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            // Something for each family that has samples only once something happened.
            try await service.signUp("ada@example.com", "some password").expectOK()
            try await world.github(world.githubPerson("7002", email: "g@example.com")).expectSignedIn(new: true)
            _ = try await service.call("accounts:lookup", ["idToken": "nonsense"])
            for kind in [WebhookNotice.kind, ForgottenTokens.kind] {
                try await service.stores.outbox.insert(
                    kind: kind,
                    ["a": "b"],
                    of: .password,
                    in: Scope(project: service.project.id),
                    due: service.clock.current
                )
            }
            _ = try await service.assembly.deliveries.deliverDue()
            _ = try await service.stores.configuration.updateSettings(of: service.project.id) { settings in
                settings.blockingFunctions[.beforeCreate] = "http://127.0.0.1:9/"
                return []
            }
            #expect(try await service.signUp("grace@example.com").status == 400)
            let page = try await MetricsPage(service)
            let exported = page.families.map { name, kind in
                Family(name: name, kind: kind, labels: page.labels[name] ?? [])
            }
            #expect(Set(exported) == Set(try Self.documented()))
            #expect(try Self.documented().count == exported.count, "each once")
            #expect(page.sampled == Set(exported.map(\.name)), "and each has a sample")
        }
    }

    @Test("the dashboard and the alert rules ask for what is exported, and for its labels")
    func areExported() throws {
        let documented = Dictionary(uniqueKeysWithValues: try Self.documented().map { ($0.name, $0) })
        let dashboard = try JSON(parsing: Array(try Repository.text("monitoring/dashboard.json").utf8))
        let panels = dashboard["panels"]?.array ?? []
        let asked = panels.flatMap { $0["targets"]?.array ?? [] }.compactMap { $0["expr"]?.string }
        let alerts = try #require(
            try Yams.load(yaml: try Repository.text("monitoring/alerts.yml")) as? [String: [[String: Any]]]
        )
        let rules = try #require(alerts["groups"]?.first?["rules"] as? [[String: Any]])
        let conditions = rules.compactMap { $0["expr"] as? String }
        #expect(asked.count >= 28 && conditions.count == rules.count && rules.count >= 8)
        for rule in rules {
            let annotations = rule["annotations"] as? [String: String]
            #expect(annotations?["summary"] != nil && annotations?["action"] != nil, "\(rule)")
        }
        for expression in asked + conditions {
            let names = expression.matches(of: /\b((?:identity|http_server|process)_[a-z_]+)(?:\{([^}]*)\})?/)
            #expect(!names.isEmpty || expression.hasPrefix("up{"), "\(expression)")
            for match in names {
                let whole = String(match.1)
                let base = whole.replacing(/_(bucket|sum|count)$/, with: "")
                let family = documented[whole] ?? documented[base].flatMap { $0.kind == "histogram" ? $0 : nil }
                #expect(family != nil, "\(whole) of \(expression)")
                let labels = (match.2 ?? "").matches(of: /([a-z_]+)(?:=|!)/).map { String($0.1) }
                let known = (family?.labels ?? []).union(["instance", "job", "le"])
                #expect(Set(labels).isSubset(of: known), "\(labels) of \(expression)")
            }
        }
        // All that there is can be seen.
        let shown = asked.joined(separator: " ")
        #expect(documented.keys.filter { !shown.contains($0) }.sorted() == [])
    }

    @Test("counters that alerts watch begin with 0, so that the first event is an increase")
    func beginWithZero() async throws {
        try await LinkingWorld.run { world in
            let page = try await MetricsPage(world.service)
            let kinds = [
                "mail", "sms", "webhook", "webhook.grant", "application.logout", "application.logout.stranger",
                "provider.revocation", "provider.forgotten_tokens",
            ]
            let outcomes = ["delivered", "continued", "retried", "given_up"]
            for kind in kinds {
                for outcome in outcomes {
                    let series = "identity_deliveries_total{kind=\"\(kind)\",outcome=\"\(outcome)\"}"
                    #expect(page.values[series] == 0, "\(series)")
                }
            }
            let deliveries = page.series.count { $0.hasPrefix("identity_deliveries_total") }
            #expect(deliveries == kinds.count * outcomes.count)
            for status in [500, 503] {
                let counts = page.values.filter {
                    $0.key.hasPrefix("http_server_request_duration_seconds_count{")
                        && $0.key.hasSuffix("http_response_status_code=\"\(status)\"}")
                }
                #expect(counts.count > 150 && counts.values.allSatisfy { $0 == 0 }, "\(counts.count)")
                #expect(counts.keys.contains { $0.contains(#"http_request_method="POST",http_route="/v1/token""#) })
            }
            for series in [
                #"identity_provider_request_duration_seconds_count{provider="google.com",outcome="failed"}"#,
                #"identity_sign_ins_total{provider="saml",outcome="conflict"}"#,
                #"identity_function_request_duration_seconds_count{event="beforeCreate",outcome="timed_out"}"#,
            ] {
                #expect(page.values[series] == 0, "\(series)")
            }
        }
    }

    @Test("alerts fire for what they are there for, also the first time and as a burst, and end")
    func alerts() async throws {
        let file = IdentityProgram.repository.appending(path: "monitoring/alerts.test.yml")
        let result = try await Program.run("/usr/bin/env", ["promtool", "test", "rules", file.path])
        #expect(result.status == 0, "\(result)")
        let (rules, tests) = (
            try Repository.text("monitoring/alerts.yml"), try Repository.text("monitoring/alerts.test.yml")
        )
        for alert in rules.matches(of: /- alert: (\w+)/) {
            #expect(tests.contains("alertname=\"\(alert.1)\", alertstate=\"firing\""), "\(alert.1)")
        }
    }

    @Test("outside input creates no new series")
    func areFew() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            func callers(_ number: Int) async throws {
                let odd = "x\(number)\"} 1\nevil_metric{a=\"b"
                for provider in ["oidc.\(odd)", "oauth.p\(number)", "saml.s\(number)", "p\(number).example", odd] {
                    _ = try await service.signInWithIdP(postBody: "id_token=x&providerId=\(provider.asQuery)")
                    _ = try await service.call("accounts:createAuthUri", ["providerId": .string(provider)])
                }
                for path in [
                    "/nowhere/\(number)", "/v1/accounts:x\(number)", "/v1/projects/p\(number)/accounts:lookup",
                ] {
                    _ = try await service.send("GET", path)
                    _ = try await service.send("POST", path)
                }
                _ = try await PlainHTTP.send("X\(number)", service.baseURL + "/v1/token")
                _ = try await service.call("accounts:signUp", ["email": .string("ada\(number)"), "password": "x"])
                _ = try await service.call("accounts:signInWithPassword", ["email": .string(odd), "password": "pw"])
                _ = try await service.call("accounts:signInWithCustomToken", ["token": .string(odd)])
                _ = try await service.call("accounts:update", [odd: "x", "idToken": .string(odd)])
            }
            try await callers(0)
            let before = try await MetricsPage(service)
            for number in 1...10 { try await callers(number) }
            let after = try await MetricsPage(service)
            #expect(Set(after.series) == Set(before.series), "nothing that came from outside is a label")
            #expect(after.families["evil_metric"] == nil)
        }
    }

    @Test("count conflicts and how they end, sign-ins and requests to providers")
    func countSignIns() async throws {
        try await LinkingWorld.run { world in
            _ = try await world.account([
                "email": "ada@example.com", "emailVerified": true, "password": "correct horse",
            ])
            let conflict = try await world.github(world.githubPerson())
            let wrong = try await world.service.signInWithPassword("ada@example.com", "wrong")
            #expect(wrong.status == 400)
            let user = try await world.service.signInWithPassword("ada@example.com")
            _ = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            _ = try await world.resume(conflict.pendingToken, idToken: user.idToken)
            world.github.addFault(.status(503), at: .token, call: nil)
            _ = try await world.github(world.githubPerson())
            let ready = try await world.service.send("GET", "/readyz")
            #expect(ready.status == 200 && ready["dependencies"]?["providers"] == "failed")
            world.github.removeFaults()
            _ = try await world.github(world.githubPerson())
            #expect(try await world.service.send("GET", "/readyz")["dependencies"]?["providers"] == "ok", "it heals")
            let page = try await MetricsPage(world.service)
            func signIns(_ provider: String, _ outcome: String) -> Double? {
                page.values["identity_sign_ins_total{provider=\"\(provider)\",outcome=\"\(outcome)\"}"]
            }
            #expect(signIns("github.com", "conflict") == 1)
            #expect(signIns("github.com", "refused") == 1)
            #expect(signIns("github.com", "signed_in") == 1)
            #expect(signIns("password", "refused") == 1)
            #expect(signIns("password", "signed_in") == 1)
            #expect(page.values[#"identity_conflicts_total{outcome="raised"}"#] == 1)
            #expect(page.values[#"identity_conflicts_total{outcome="linked"}"#] == 1, "once, however often it is told")
            let calls = "identity_provider_request_duration_seconds_count"
            #expect((page.values["\(calls){provider=\"github.com\",outcome=\"ok\"}"] ?? 0) >= 4)
            #expect(page.values["\(calls){provider=\"github.com\",outcome=\"failed\"}"] == 1)
        }
    }
}

extension String {
    fileprivate func trimming(while isUnwanted: (Character) -> Bool) -> String {
        var text = self[...]
        while let first = text.first, isUnwanted(first) { text.removeFirst() }
        while let last = text.last, isUnwanted(last) { text.removeLast() }
        return String(text)
    }

    fileprivate var asQuery: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self }
}
