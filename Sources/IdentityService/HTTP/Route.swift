package import HTTPTypes
package import Projects

/// One operation of the API as data: where it is, who may call it, how it fails, what it does.
package struct Route: Sendable {
    package var method: HTTPRequest.Method
    /// `/v1/projects/{project}/accounts:lookup`; a capture is a whole segment, or what stands before a `:verb`.
    package var path: String
    package var host: Host
    /// The v3 method of the same operation, under `/identitytoolkit/v3/relyingparty/`.
    package var legacy: String?
    package var envelope: ErrorEnvelope
    /// How many bytes of body it takes.
    package var bodyLimit: Int
    /// Whether tenants of a project have it as well as the project.
    package var isInTenants: Bool
    package var access: Access
    /// Method and path, as openapi.yaml has them.
    let operation: String
    /// Of all its requests, under whichever path.
    let meter = RouteMeter()

    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        on host: Host = .identityToolkit,
        legacy: String? = nil,
        errors envelope: ErrorEnvelope = .accounts,
        bodyLimit: Int = Request.maximumBody,
        isInTenants: Bool = true,
        _ access: Access
    ) {
        self.method = method
        self.path = path
        operation = "\(method) \(path)"
        self.host = host
        self.legacy = legacy
        self.envelope = envelope
        self.bodyLimit = bodyLimit
        self.isInTenants = isInTenants
        self.access = access
    }

    /// The production host that serves an operation; its name is also a path prefix, which is what SDKs send to an emulator.
    package enum Host: String, Sendable, CaseIterable {
        case identityToolkit = "identitytoolkit.googleapis.com"
        case secureToken = "securetoken.googleapis.com"
        case googleAPIs = "www.googleapis.com"
        case oauth2 = "oauth2.googleapis.com"
        /// Ours alone: no prefix.
        case service = ""
    }

    package typealias Handler<Call> = @Sendable (Call) async throws -> Response

    /// The credential that an operation asks for; it decides what its handler gets, so that none can forget to check.
    package enum Access: Sendable {
        case open(Handler<Call>)
        /// An API key, which names the project and permits nothing. With a bearer header the operation is the admin's
        /// form of itself, where it has one.
        case client(admin: AdminForm? = nil, Handler<ClientCall>)
        /// An admin credential with this scope in the project of the path; without one there, as in v3, in that of the
        /// API key or of `targetProjectId`.
        case admin(AdminScope, Handler<AdminCall>)
        /// Known to the protocol, not to us.
        case unbuilt
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
