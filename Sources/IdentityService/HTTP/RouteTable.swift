package import HTTPTypes

/// All routes, by every path that they have.
package struct RouteTable: Sendable {
    /// In the order of their declaration; the first one takes precedence.
    package let routes: [Route]
    /// By path, for paths without captures: all paths that apps call.
    private var fixed: [String: [Route]] = [:]
    /// By number of segments, for paths with captures.
    private var patterns: [Int: [(pattern: RoutePattern, route: Route)]] = [:]

    package enum Match: Sendable {
        case route(Route, parameters: [String: String])
        case otherMethods([HTTPRequest.Method])
        case none
    }

    package init(_ routes: [Route]) {
        self.routes = routes
        for route in routes {
            for path in Self.paths(of: route) {
                let pattern = RoutePattern(path)
                if pattern.isFixed {
                    fixed[path, default: []].append(route)
                } else {
                    patterns[pattern.count, default: []].append((pattern, route))
                }
            }
        }
    }

    /// All paths of a route: its own, the tenant's, those of Google's older examples (`/admin/v2/…`), that of v3, and each
    /// with its host's name as prefix.
    package static func paths(of route: Route) -> [String] {
        var paths = [route.path]
        if let tenantPath = route.tenantPath { paths.append(tenantPath) }
        if route.isOfAdminV2 { paths += paths.map { "/admin\($0)" } }
        if route.host != .service { paths += paths.map { "/\(route.host.rawValue)\($0)" } }
        for other in route.addresses { paths += [other.path, "/\(other.host.rawValue)\(other.path)"] }
        return paths
    }

    /// - Parameter path: as received; `:` may be sent as `%3A`, and captures are percent-decoded, once.
    package func match(_ method: HTTPRequest.Method, _ path: String) -> Match {
        let method = method == .head ? .get : method
        if let route = fixed[path]?.first(where: { $0.method == method }) { return .route(route, parameters: [:]) }
        guard let segments = RoutePattern.segments(of: path) else { return .none }
        var found = (fixed["/" + segments.joined(separator: "/")] ?? []).map {
            (route: $0, captures: [String: String]())
        }
        if found.isEmpty {
            found = (patterns[segments.count] ?? []).compactMap { entry in
                entry.pattern.match(segments).map { (entry.route, $0) }
            }
        }
        if let match = found.first(where: { $0.route.method == method }) {
            return .route(match.route, parameters: match.captures)
        }
        return found.isEmpty ? .none : .otherMethods(found.map(\.route.method))
    }
}

extension Route {
    /// The path of the same operation in a tenant; nil if tenants do not have it.
    package var tenantPath: String? {
        guard isInTenants, !path.contains("/tenants"),
            let ofProject = ["/projects/{project}/", "/console/{project}/"].first(where: { path.contains($0) })
        else { return nil }
        return path.replacing(ofProject, with: ofProject + "tenants/{tenant}/")
    }

    /// Google's description of the configuration says `/admin/v2` too; Config Connector and firebase-tools do.
    package var isOfAdminV2: Bool { host == .identityToolkit && path.hasPrefix("/v2/projects/") }

    package var legacyPath: String? { legacy.map { "/identitytoolkit/v3/relyingparty/\($0)" } }

    /// Where else Google has it.
    package var addresses: [Address] { (legacyPath.map { [Address(.googleAPIs, $0)] } ?? []) + others }
}
