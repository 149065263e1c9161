import HTTPTypes
import Hummingbird

/// One thing that must be true before the service can answer.
package struct ReadinessCheck: Sendable {
    /// `database`, `migrations`, `signingKey`.
    package var name: String
    package var passes: Bool

    package init(name: String, passes: Bool) {
        self.name = name
        self.passes = passes
    }
}

/// For those who watch over the service.
struct HealthRoutes {
    let readiness: @Sendable () async -> [ReadinessCheck]

    var routes: [Route] {
        [
            Route(.get, "/healthz", on: .service, errors: .status, .open { _ in .json { $0.member("status", "ok") } }),
            Route(.get, "/readyz", on: .service, errors: .status, .open(ready)),
            Route(.get, "/", on: .service, errors: .status, .open(root)),
        ]
    }

    private func ready(_ call: Call) async throws -> Response {
        let checks = await readiness()
        let isReady = checks.allSatisfy(\.passes)
        return .json(isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", isReady ? "ready" : "unavailable")
            json.object("checks") { json in
                for check in checks { json.member(check.name, check.passes ? "ok" : "failed") }
            }
        }
    }

    /// What tools that wait for Firebase's emulator look for.
    private func root(_ call: Call) async throws -> Response {
        .json { json in
            json.object("authEmulator") { json in
                json.member("ready", true)
                json.member("docs", "https://firebase.google.com/docs/emulator-suite")
                json.member("apiSpec", "/emulator/openapi.json")
            }
        }
    }
}
