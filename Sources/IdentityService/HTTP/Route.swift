package import HTTPTypes
package import Projects

/// One operation of the API as data: its path, credential, error format and handler.
package struct Route: Sendable {
    package var method: HTTPRequest.Method
    /// `/v1/projects/{project}/accounts:lookup`; a capture is a whole segment, or the part before a `:verb`.
    package var path: String
    package var host: Host
    /// The v3 method of the same operation, under `/identitytoolkit/v3/relyingparty/`.
    package var legacy: String?
    /// Its paths on other hosts of Google.
    package var others: [Address]
    package var envelope: ErrorEnvelope
    /// The maximum size of a body in bytes.
    package var bodyLimit: Int
    /// The query parameters that it reads, in camelCase, besides Google's standard ones (``QueryParameters``).
    package var query: [String]
    /// Whether it also exists for tenants of a project.
    package var isInTenants: Bool
    package var refused: RefusedMembers
    package var access: Access
    /// Method and path as in openapi.yaml.
    let operation: String
    /// The meter of all its requests, on any path.
    let meter = RouteMeter()

    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        on host: Host = .identityToolkit,
        legacy: String? = nil,
        also others: [Address] = [],
        errors envelope: ErrorEnvelope = .accounts,
        bodyLimit: Int? = nil,
        query: [String] = [],
        isInTenants: Bool = true,
        refusing refused: RefusedMembers = .none,
        _ access: Access
    ) {
        self.method = method
        self.path = path
        operation = "\(method) \(path)"
        self.host = host
        self.legacy = legacy
        self.others = others
        self.envelope = envelope
        self.bodyLimit = bodyLimit ?? access.bodyLimit
        self.query = query
        self.isInTenants = isInTenants
        self.refused = refused
        self.access = access
    }

    /// The production host of an operation; its name is also a path prefix, as SDKs send it to an emulator.
    package enum Host: String, Sendable, CaseIterable {
        case identityToolkit = "identitytoolkit.googleapis.com"
        case secureToken = "securetoken.googleapis.com"
        case googleAPIs = "www.googleapis.com"
        case oauth2 = "oauth2.googleapis.com"
        /// Where older libraries, and older keys of service accounts, ask for access tokens.
        case accounts = "accounts.google.com"
        /// Operations that Firebase does not have: no prefix.
        case service = ""
    }

    /// A path on a host.
    package struct Address: Sendable {
        package var host: Host
        package var path: String

        package init(_ host: Host, _ path: String) { (self.host, self.path) = (host, path) }
    }

    /// The maximum size of a body in bytes, for requests with or without an admin's credential.
    func bodyLimit(hasBearer: Bool) -> Int {
        switch access {
        case .open: bodyLimit
        case .client, .admin, .unbuilt: hasBearer ? bodyLimit : min(bodyLimit, Request.maximumClientBody)
        }
    }

    package typealias Handler<Call> = @Sendable (Call) async throws -> Response

    /// The required credential; it determines the handler's argument, so no handler can skip the check.
    package enum Access: Sendable {
        case open(Handler<Call>)
        /// An API key, which names the project and grants no access.
        ///
        /// With a bearer header, the operation is its admin form, if it has one.
        case client(admin: AdminForm? = nil, Handler<ClientCall>)
        /// An admin credential with this scope in the path's project, or, without one as in v3, in that of the API key
        /// or `targetProjectId`.
        case admin(AdminScope, Handler<AdminCall>)
        /// Part of the protocol, but not implemented.
        case unbuilt

        /// Whoever has no credential sends little.
        fileprivate var bodyLimit: Int {
            if case .open = self { Request.maximumClientBody } else { Request.maximumBody }
        }
    }

    package struct AdminForm: Sendable {
        package var scope: AdminScope
        package var handler: Handler<AdminCall>

        package init(_ scope: AdminScope, _ handler: @escaping Handler<AdminCall>) {
            self.scope = scope
            self.handler = handler
        }
    }
}
