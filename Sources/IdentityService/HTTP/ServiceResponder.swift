import Accounts
import struct Foundation.Date
import HTTPTypes
import Logging
package import NIOCore
import Postgres
import Projects
import Requests
import Storage
import Text

/// Responds to every request: finds the route, checks the credential, reads the body, calls the handler, and creates
/// one response and one log line.
package struct ServiceResponder: Sendable {
    package let table: RouteTable
    private let authenticator: RequestAuthenticator
    /// Whether pages of other origins may call it.
    private let isForBrowsers: Bool
    let limits: Limits
    let load: ServerLoad
    /// The meter of requests that match no route.
    private let unmatched: RouteMeter
    private let events: AccountEvents?
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let requestIDs = RequestIDs()

    package struct Limits: Sendable {
        /// The time limit for a request's body to arrive, and then for its response.
        package var time = TimeAmount.seconds(30)
        /// The time limit for a connection's next request to arrive with its head.
        package var idle = TimeAmount.seconds(75)
        /// The time limit for a head to arrive from its first byte, and for a new connection's first one from the
        /// connection's start, a TLS handshake included.
        package var head = TimeAmount.seconds(10)
        /// The time for which an idle connection still takes a request when the server stops.
        ///
        /// A proxy may have sent one before it sees the end. It is longer than our nginx keeps idle connections.
        package var parting = TimeAmount.seconds(2)
        /// The maximum number of open connections.
        package var connections = 16_384
        /// The maximum number of simultaneous requests.
        package var requests = 4096
        /// The maximum total size of all bodies and long heads in memory: 64 MiB.
        package var bodyBytes = 64 << 20
        package var proxies = TrustedProxies.none

        package init() {}
    }

    init(
        table: RouteTable,
        authenticator: RequestAuthenticator,
        isForBrowsers: Bool = true,
        limits: Limits = Limits(),
        load: ServerLoad? = nil,
        unmatched: RouteMeter = RouteMeter(),
        events: AccountEvents? = nil,
        logger: Logger,
        now: @escaping @Sendable () -> Date
    ) {
        self.table = table
        self.authenticator = authenticator
        self.isForBrowsers = isForBrowsers
        self.limits = limits
        self.load = load ?? ServerLoad(limits)
        self.unmatched = unmatched
        self.events = events
        self.logger = logger
        self.now = now
    }

    /// The number of open connections.
    package var connections: Int { load.connections }

    /// The number of requests in progress.
    package var requestsInFlight: Int { load.requestsInFlight }

    /// The bytes of request bodies in memory.
    package var heldBytes: Int { load.heldBytes }

    /// If cancelled, it responds with 503.
    package func respond(to request: Request) async -> Response {
        let id = requestIDs.next()
        var logger = logger
        logger[metadataKey: "request.id"] = "\(id)"
        let match = table.match(request.method, request.path)
        let trace = request.headers.trace ?? TraceContext()
        var context = RequestContext()
        (context.trace, context.time, context.events) = (trace, now(), events)
        var entry = AccessEntry(request: request, match: match, trace: trace)
        var response = Response(status: .internalServerError)
        entry.duration = await ContinuousClock().measure {
            do {
                response = try await withLogger(logger) { logger in
                    try await RequestContext.$current.withValue(context) {
                        try await answer(request, id, match, logger)
                    }
                }
            } catch {
                response = entry.refuse(
                    Task.isCancelled ? WireError.unavailable(cause: "timeout") : error,
                    load: load,
                    logger: logger
                )
            }
        }
        finish(&response, to: request, id: id, isPage: entry.envelope.isPage)
        entry.log(response.status, to: logger)
        entry.count(response.status, by: unmatched)
        return response
    }

    private func answer(
        _ request: Request,
        _ id: String,
        _ match: RouteTable.Match,
        _ logger: Logger
    ) async throws -> Response {
        if let refusal = request.refusal { throw refusal }
        if request.method == .options, isForBrowsers {
            return CrossOrigin.preflight(request.headers, isTrusted: authenticator.trustsOrigin(request.headers))
        }
        switch match {
        case .none: throw WireError.notFound
        case .otherMethods(let methods): throw WireError.methodNotAllowed(methods)
        case .route(let route, let parameters):
            guard !request.hasCodedBody else { throw WireError.codedBody }
            return try await call(route, parameters, request, id, logger)
        }
    }

    private func call(
        _ route: Route,
        _ parameters: [String: String],
        _ request: Request,
        _ id: String,
        _ logger: Logger
    ) async throws -> Response {
        guard let fields = FormFields(strict: request.query) else {
            throw WireError.invalidRequest("Invalid query in the request's URL.", field: nil)
        }
        let query = try QueryParameters.read(fields, by: route)
        let visitor = try visitor(of: request, route)
        let device = device(request)
        let call = Call(
            method: request.method,
            path: request.path,
            parameters: parameters,
            query: query,
            rawQuery: request.query,
            headers: request.headers,
            body: request.body,
            device: visitor ?? device,
            longestIDToken: request.longestIDToken,
            logger: logger
        )
        return try await PostgresShare.with(device.site ?? device.subscriber) {
            try await answer(call, for: visitor, route, id)
        }
    }

    /// - Parameter visitor: the one for whom a back end calls.
    private func answer(
        _ call: Call,
        for visitor: Call.Device?,
        _ route: Route,
        _ id: String
    ) async throws -> Response {
        switch route.access {
        case .unbuilt:
            throw WireError.notBuilt
        case .open(let handler):
            return try await acting(in: call, route, id) { try await handler(call) }
        case .client(_, let handler) where visitor != nil:
            let admin = try await authenticator.admin(call.headers)
            let project = try await authenticator.project(of: call, forBackEnd: admin, host: route.host)
            return try await self.call(
                handler,
                call,
                project,
                apiKey: try authenticator.key(call.query, call.headers),
                route,
                id
            )
        case .client(let form?, _) where RequestAuthenticator.hasBearer(call.headers):
            return try await self.call(form, call, hasKey: false, route, id)
        case .client(_, let handler):
            let key = try authenticator.key(call.query, call.headers)
            let backEnd =
                key == nil && RequestAuthenticator.hasBearer(call.headers)
                ? try await authenticator.admin(call.headers) : nil
            let project =
                if let backEnd {
                    try await authenticator.project(of: call, forBackEnd: backEnd, host: route.host)
                } else {
                    try await authenticator.project(of: call, host: route.host)
                }
            return try await self.call(handler, call, project, apiKey: key, backEnd: backEnd, route, id)
        case .admin(let scope, let handler):
            let hasKey = try authenticator.key(call.query, call.headers) != nil
            return try await self.call(Route.AdminForm(scope, handler), call, hasKey: hasKey, route, id)
        }
    }

    /// Answers a call of an end user.
    private func call(
        _ handler: @Sendable (ClientCall) async throws -> Response,
        _ call: Call,
        _ project: Project,
        apiKey: String?,
        backEnd: AdminCredential? = nil,
        _ route: Route,
        _ id: String
    ) async throws -> Response {
        // A refresh token is the request's content, and contains its own tenant.
        let tenant = try route.host == .secureToken ? TenantID.none : call.tenant(of: project)
        var caller = try Caller(call, project: project, apiKey: apiKey, language: call.language).entering(tenant)
        caller.isBackEnd = backEnd != nil
        if !route.refused.ofClients.isEmpty { try call.json().refuse(route.refused.ofClients) }
        return try await acting(as: backEnd, in: call, route, id) { [caller] in
            try await handler(ClientCall(call: call, caller: caller))
        }
    }

    /// The visitor for whom a back end calls, whose address counts in its place; nil without one.
    ///
    /// Anyone could choose an address, so the request needs an admin credential, which only vouches here: the operation is
    /// the visitor's.
    private func visitor(of request: Request, _ route: Route) throws -> Call.Device? {
        guard let text = request.headers[.clientAddress] else { return nil }
        guard case .client = route.access else {
            throw WireError.invalidRequest("Identity-Client-Address is for operations of end users.", field: nil)
        }
        guard RequestAuthenticator.hasBearer(request.headers) else {
            throw WireError.invalidRequest(
                "Identity-Client-Address needs the credential of a back end, as Authorization: Bearer.",
                field: nil
            )
        }
        guard let address = IPAddress(text)?.unmapped else {
            throw WireError.invalidRequest("Identity-Client-Address must be one IP address.", field: nil)
        }
        return device(request, of: address)
    }

    /// Answers a call with an admin credential, in the project of its path or of the credential's request.
    private func call(
        _ form: Route.AdminForm,
        _ call: Call,
        hasKey: Bool,
        _ route: Route,
        _ id: String
    ) async throws -> Response {
        let admin = try await authenticator.admin(call.headers, hasKey: hasKey)
        let project =
            if call.parameters["project"] == nil {
                try await authenticator.project(of: call, for: admin, scope: form.scope)
            } else {
                try await authenticator.project(named: call.parameter("project"), for: admin, scope: form.scope)
            }
        try authenticator.refuseOtherProject(than: project, in: call, route.host)
        if !route.refused.ofAdmins.isEmpty { try call.json().refuse(route.refused.ofAdmins) }
        let adminCall = try AdminCall(call: call, admin: admin, project: project, scope: form.scope)
        return try await acting(as: admin, in: call, route, id) { try await form.handler(adminCall) }
    }

    /// Runs a handler with the origin that its audit entries name.
    private func acting(
        as admin: AdminCredential? = nil,
        in call: Call,
        _ route: Route,
        _ id: String,
        _ handler: () async throws -> Response
    ) async throws -> Response {
        let origin = AuditOrigin(
            actor: admin.map { .admin($0.id) } ?? .account,
            addressPrefix: call.device.addressPrefix,
            request: id,
            operation: route.operation,
            reason: admin == nil ? nil : call.reason
        )
        return try await RequestContext.with({ $0.origin = origin }, handler)
    }

    private func device(_ request: Request) -> Call.Device {
        let address = request.peer
            .map { limits.proxies.client(peer: $0, forwardedFor: request.headers[.forwardedFor]) }
        return device(request, of: address)
    }

    private func device(_ request: Request, of address: IPAddress?) -> Call.Device {
        let agent = request.headers[.userAgent].map { String(WireError.line($0).prefix(256)) }
        return Call.Device(
            userAgent: agent,
            addressPrefix: address?.prefix,
            address: address?.text,
            subscriber: address?.subscriber,
            site: address?.site
        )
    }

    private func finish(_ response: inout Response, to request: Request, id: String, isPage: Bool) {
        if !isPage, isForBrowsers { CrossOrigin.allow(&response.headers) }
        response.headers[.requestID] = id
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.referrerPolicy] == nil { response.headers[.referrerPolicy] = "no-referrer" }
        if request.method == .head { response.nextPart = nil }
        if response.status != .noContent, response.nextPart == nil {
            response.headers[.contentLength] = String(response.body.readableBytes)
        }
        if request.method == .head { response.body.clear() }
    }
}

extension HTTPFields {
    /// The caller's trace; nil if it sends none, or an invalid one.
    fileprivate var trace: TraceContext? {
        let parent = self[values: .traceParent]
        return parent.isEmpty ? nil : TraceContext(parent: parent, state: self[values: .traceState])
    }
}

extension HTTPField.Name {
    fileprivate static let traceParent = Self("traceparent") ?? .xContentTypeOptions
    fileprivate static let traceState = Self("tracestate") ?? .xContentTypeOptions
}
