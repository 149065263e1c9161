import HTTPTypes
package import IdentityService

/// `/emulator/openapi.json`, the emulator's description of itself: its operations, and who may call them.
///
/// It is generated from the routes. Their parameters and responses are in this project's openapi.yaml.
package struct EmulatorDescription: Sendable {
    private let described: [Route]

    /// - Parameter routes: all routes except this one.
    package init(of routes: [Route]) { described = routes }

    package var routes: [Route] {
        [Route(.get, "/emulator/openapi.json", on: .service, errors: .status, .open(show))]
    }

    private func show(_ call: Call) async throws -> Response {
        .json { json in
            json.member("openapi", "3.1.0")
            json.object("info") { json in
                json.member("title", "Identity")
                json.member("version", "1.0.0")
                json.member(
                    "description",
                    "The operations of identity dev; openapi.yaml describes their requests and responses."
                )
            }
            json.array("servers") { json in json.object { $0.member("url", "/") } }
            json.object("components") { json in
                json.object("securitySchemes") { json in
                    json.object("apiKey") { json in
                        json.member("type", "apiKey")
                        json.member("in", "query")
                        json.member("name", "key")
                    }
                    json.object("bearer") { json in
                        json.member("type", "http")
                        json.member("scheme", "bearer")
                    }
                }
            }
            json.object("paths") { json in
                for (path, routes) in Self.byPath(described + self.routes) {
                    json.object(path) { json in
                        Self.parameters(of: path, &json)
                        for route in routes {
                            json.object(route.method.rawValue.lowercased()) { $0.security(of: route) }
                        }
                    }
                }
            }
        }
    }

    /// In route order; of two routes with the same method and path the first counts.
    private static func byPath(_ routes: [Route]) -> [(path: String, routes: [Route])] {
        var found: [(path: String, routes: [Route])] = []
        for route in routes {
            if case .unbuilt = route.access { continue }
            if let index = found.firstIndex(where: { $0.path == route.path }) {
                if !found[index].routes.contains(where: { $0.method == route.method }) {
                    found[index].routes.append(route)
                }
            } else {
                found.append((route.path, [route]))
            }
        }
        return found
    }

    private static func parameters(of path: String, _ json: inout JSONWriter) {
        let names = path.matches(of: /{([a-zA-Z]+)}/).map { String($0.1) }
        guard !names.isEmpty else { return }
        json.array("parameters") { json in
            for name in names {
                json.object { json in
                    json.member("name", name)
                    json.member("in", "path")
                    json.member("required", true)
                    json.object("schema") { $0.member("type", "string") }
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func security(of route: Route) {
        let schemes: [String] =
            switch route.access {
            case .open, .unbuilt: []
            case .client: ["apiKey", "bearer"]
            case .admin: ["bearer"]
            }
        array("security") { json in
            for scheme in schemes { json.object { $0.array(scheme) { _ in } } }
        }
    }
}
