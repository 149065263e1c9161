import HTTPTypes

/// Health checks.
struct HealthRoutes {
    let readiness: Readiness

    var routes: [Route] {
        [
            Route(.get, "/healthz", on: .service, errors: .status, .open { _ in .json { $0.member("status", "ok") } }),
            Route(.get, "/readyz", on: .service, errors: .status, .open(ready)),
        ]
    }

    private func ready(_ call: Call) async throws -> Response {
        let checks = await readiness.checks()
        let isReady = checks.allSatisfy { $0.outcome == .ok }
        var response = Response.json(isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", isReady ? "ready" : "unavailable")
            json.object("checks") { json in
                for check in checks { json.member(check.name, check.outcome.rawValue) }
            }
            json.object("dependencies") { json in
                for check in readiness.dependencies() { json.member(check.name, check.outcome.rawValue) }
            }
        }
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
