import Foundation
import HTTPTypes
import Outbound
import Projects
import StrictJSON
import Text

/// The findings of `identity check --url` about a running service, from the outside, using public requests only.
struct RunningServiceCheck: Sendable {
    let url: PublicURL
    /// The project for requests that name one; it need not exist.
    let project: ProjectID
    let http: OutboundClient
    var now: @Sendable () -> Date = { Date() }

    struct Finding: Sendable, Hashable {
        var id: ID
        /// The problem and the fix.
        var text: String
    }

    /// In the order of a report.
    enum ID: String, Sendable, Hashable, CaseIterable {
        case unreachable
        case withoutTLS = "without-tls"
        case notReady = "not-ready"
        case dependencyFails = "dependency-fails"
        case developmentMode = "development-mode"
        case metricsPublic = "metrics-public"
        case keysMissing = "keys-missing"
        case issuerWrong = "issuer-wrong"
        case clockWrong = "clock-wrong"
        case headersMissing = "headers-missing"

        var level: String {
            switch self {
            case .dependencyFails, .headersMissing: "warning"
            default: "error"
            }
        }
    }

    private struct Answer {
        var status: Int
        var headers: HTTPFields
        var text: String
        var json: JSONObject? { (try? JSONValue(parsing: Array(text.utf8)))?.object }
    }

    /// - Returns: in the order of ``ID``.
    func callAsFunction() async -> [Finding] {
        let isEncrypted = url.isSecure
        var findings: [Finding] = []
        func add(_ id: ID, if applies: Bool, _ text: String) {
            if applies { findings.append(Finding(id: id, text: text)) }
        }
        let isHere = URLComponents(string: url.text)?.host.map {
            ["localhost", "127.0.0.1", "::1", "[::1]"].contains($0)
        }
        add(
            .withoutTLS,
            if: !isEncrypted && isHere != true,
            "tokens and passwords are sent in plain text: put a proxy that terminates TLS in front, or set http.tls"
        )
        let ready: Answer
        switch await ask("/readyz") {
        case .success(let answer): ready = answer
        case .failure(let error):
            add(
                .unreachable,
                if: true,
                "no response (\(error)); check that it runs and that its certificate is trusted"
            )
            return Self.ordered(findings)
        }
        let failed = names(in: ready, "checks")
        add(
            .notReady,
            if: ready.status != 200,
            "/readyz returns \(ready.status)\(failed.isEmpty ? "" : ": " + failed.joined(separator: ", ")); check the "
                + "database, and run `identity migrate`"
        )
        let dependencies = names(in: ready, "dependencies")
        add(
            .dependencyFails,
            if: !dependencies.isEmpty,
            "\(dependencies.joined(separator: ", ")) failed on the last request: see the node's log"
        )
        findings += await development()
        let metrics = await status("/metrics")
        add(
            .metricsPublic,
            if: metrics == 200,
            "/metrics is public: use metrics.bind to serve it outside public networks"
        )
        findings += await tokens()
        if let date = ready.headers[.date].flatMap({ UTCTime.seconds(httpDate: $0) }) {
            let difference = Int(abs(now().timeIntervalSince1970 - Double(date)).rounded())
            add(
                .clockWrong,
                if: difference > 30,
                "its clock and this machine's differ by \(difference) s, which affects token times: set both with NTP"
            )
        }
        var missing = ready.headers[.xContentTypeOptions] == "nosniff" ? [] : ["X-Content-Type-Options"]
        if isEncrypted, ready.headers[.strictTransportSecurity] == nil { missing.append("Strict-Transport-Security") }
        add(
            .headersMissing,
            if: !missing.isEmpty,
            "\(missing.joined(separator: ", ")) missing: let the proxy pass on and add headers "
                + "(docs/operations/production.md)"
        )
        return Self.ordered(findings)
    }

    private static func ordered(_ findings: [Finding]) -> [Finding] {
        ID.allCases.flatMap { id in findings.filter { $0.id == id } }
    }

    /// Finds endpoints that only `identity dev` has.
    private func development() async -> [Finding] {
        var found: [String] = []
        let owner = await status("/v1/projects/\(project)/accounts:batchGet", [.authorization: "Bearer owner"])
        if owner != 401 { found.append("`Bearer owner` returns \(owner.map { "\($0)" } ?? "no response")") }
        for path in ["/emulator/openapi.json", "/emulator/v1/projects/\(project)/config", "/dev"] {
            if await status(path) != 404 { found.append("\(path) exists") }
        }
        return found.isEmpty
            ? []
            : [
                Finding(
                    id: .developmentMode,
                    text: found.joined(separator: ", ")
                        + ": this is not `identity serve`; anyone who can reach it is an admin"
                )
            ]
    }

    private func tokens() async -> [Finding] {
        var findings: [Finding] = []
        let path = "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        let keys = (try? await ask(path).get()).flatMap { $0.status == 200 ? $0.json?["keys"]?.array : nil }
        if keys?.isEmpty ?? true {
            findings.append(
                Finding(
                    id: .keysMissing,
                    text:
                        "no keys at \(path): back ends cannot verify ID tokens; check that the proxy passes paths on unchanged"
                )
            )
        }
        // A project with Firebase's issuer has no such document.
        let issuer = url.issuer(of: project)
        if let answer = try? await ask("/\(project)/.well-known/openid-configuration").get(), answer.status == 200 {
            let said = answer.json?["issuer"]?.string ?? "nothing"
            if said != issuer {
                findings.append(
                    Finding(
                        id: .issuerWrong,
                        text:
                            "the issuer of \(project) is \(String(said.prefix(200))), not \(issuer): libraries refuse its "
                            + "tokens; set http.publicURL to \(url) on every node"
                    )
                )
            }
        }
        return findings
    }

    /// The members of an object in the response that are not `ok`.
    private func names(in answer: Answer, _ member: String) -> [String] {
        guard let object = answer.json?[member]?.object else { return [] }
        return object.members.filter { $0.value != .string("ok") }.map { String($0.name.prefix(40)) }
    }

    private func status(_ path: String, _ headers: HTTPFields = [:]) async -> Int? {
        try? await ask(path, headers).get().status
    }

    private func ask(_ path: String, _ headers: HTTPFields = [:]) async -> Result<Answer, OutboundError> {
        let request = OutboundRequest(url: "\(url)\(path)", headers: headers, maximumResponseSize: 1 << 20)
        do throws(OutboundError) {
            let response = try await http.send(request)
            let text = String(decoding: response.body, as: UTF8.self)
            return .success(Answer(status: response.status, headers: response.headers, text: text))
        } catch {
            return .failure(error)
        }
    }
}
