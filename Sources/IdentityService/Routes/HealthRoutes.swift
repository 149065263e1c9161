import HTTPTypes

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
}
