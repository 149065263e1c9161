import Accounts
import HTTPTypes
import Logging
import Projects
import Storage
import Traces
package import NIOCore
import struct Foundation.Date

/// Answers every request: finds the route, checks the credential, reads the body, calls the handler, and makes one
/// answer and one log line of whatever came of it.
package struct ServiceResponder: Sendable {
    package let table: RouteTable
    private let gate: Gate
    let limits: Limits
    let load: ServerLoad
    /// Of requests that no route takes.
    private let unmatched: RouteMeter
    private let events: AccountEvents?
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let requestIDs = RequestIDs()

    package struct Limits: Sendable {
        /// For a request's body to come, and then for its answer to be made.
        package var time = TimeAmount.seconds(30)
        /// For the next request of a connection to begin and its head to come.
        package var idle = TimeAmount.seconds(75)
        /// Requests at a time.
        package var requests = 4096
        /// Of all bodies together that are held at a time: 64 MiB.
        package var bodyBytes = 64 << 20
        package var proxies = TrustedProxies.none

        package init() {}
    }

    init(
        table: RouteTable,
        gate: Gate,
        limits: Limits = Limits(),
        load: ServerLoad? = nil,
        unmatched: RouteMeter = RouteMeter(),
        events: AccountEvents? = nil,
        logger: Logger,
        now: @escaping @Sendable () -> Date
    ) {
        self.table = table
        self.gate = gate
        self.limits = limits
        self.load = load ?? ServerLoad(limits)
        self.unmatched = unmatched
        self.events = events
        self.logger = logger
        self.now = now
    }

    /// How many connections are open.
    package var connections: Int { load.connections }

    /// How many requests are being answered.
    package var requestsInFlight: Int { load.requestsInFlight }

    /// Cancelled, it answers 503.
    package func respond(to request: Request) async -> Response {
        let id = requestIDs.next()
        var logger = logger
        logger[metadataKey: "request.id"] = "\(id)"
        let match = table.match(request.method, request.path)
        let trace = request.headers.trace ?? TraceContext()
        var entry = AccessEntry(request: request, match: match, trace: trace)
        var response = Response(status: .internalServerError)
        entry.duration = await ContinuousClock().measure {
            do {
                response = try await withLogger(logger) { logger in
                    try await AccountEvents.$current.withValue(events) {
                        try await TraceContext.$current.withValue(trace) {
                            try await RequestTime.$current.withValue(now()) {
                                try await answer(request, id, match, logger)
                            }
                        }
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
        if request.method == .options { return CrossOrigin.preflight(request.headers) }
        switch match {
        case .none: throw WireError.notFound
        case .otherMethods(let methods): throw WireError.methodNotAllowed(methods)
        case .route(let route, let parameters):
            if let refusal = request.refusal { throw refusal }
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
        guard let query = QueryItems(request.query) else {
            throw WireError.invalidRequest("Invalid query in the request's URL.", field: nil)
        }
        let call = Call(
            method: request.method,
            path: request.path,
            parameters: parameters,
            query: query,
            rawQuery: request.query,
            headers: request.headers,
            body: request.body,
            device: device(request),
            logger: logger
        )
        var origin = AuditOrigin(
            actor: .account,
            addressPrefix: call.device.addressPrefix,
            request: id,
            operation: route.operation
        )
        switch route.access {
        case .unbuilt:
            throw WireError.notBuilt
        case .open(let handler):
            return try await AuditOrigin.$current.withValue(origin) { try await handler(call) }
        case .client(let form?, _) where Gate.hasBearer(request.headers):
            let admin = try await gate.admin(request.headers, hasKey: false)
            let project = try await gate.project(of: call, for: admin, scope: form.scope)
            let adminCall = try AdminCall(call: call, admin: admin, project: project, scope: form.scope)
            origin.name(admin, reason: call.reason)
            return try await AuditOrigin.$current.withValue(origin) { try await form.handler(adminCall) }
        case .client(_, let handler):
            let project = try gate.project(query: query, headers: request.headers, host: route.host)
            let key = try gate.key(query, request.headers)
            // A refresh token is what it is sent for, and says by itself of which tenant it is.
            let tenant = try route.host == .secureToken ? TenantID.none : call.tenant(of: project)
            let caller = try Caller(call, project: project, apiKey: key, language: call.language).entering(tenant)
            return try await AuditOrigin.$current.withValue(origin) {
                try await handler(ClientCall(call: call, caller: caller))
            }
        case .admin(let scope, let handler):
            let hasKey = try gate.key(query, request.headers) != nil
            let admin = try await gate.admin(request.headers, hasKey: hasKey)
            let project =
                if call.parameters["project"] == nil {
                    try await gate.project(of: call, for: admin, scope: scope)
                } else {
                    try await gate.project(named: call.parameter("project"), for: admin, scope: scope)
                }
            let adminCall = try AdminCall(call: call, admin: admin, project: project, scope: scope)
            origin.name(admin, reason: call.reason)
            return try await AuditOrigin.$current.withValue(origin) { try await handler(adminCall) }
        }
    }

    private func device(_ request: Request) -> Call.Device {
        let agent = request.headers[.userAgent].map { String(WireError.line($0).prefix(256)) }
        let address = request.peer
            .map { limits.proxies.client(peer: $0, forwardedFor: request.headers[.forwardedFor]) }
        return Call.Device(
            userAgent: agent,
            addressPrefix: address?.prefix,
            address: address?.text,
            subscriber: address?.subscriber
        )
    }

    private func finish(_ response: inout Response, to request: Request, id: String, isPage: Bool) {
        if !isPage { CrossOrigin.allow(&response.headers) }
        response.headers[.requestID] = id
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.referrerPolicy] == nil { response.headers[.referrerPolicy] = "no-referrer" }
        if response.status != .noContent { response.headers[.contentLength] = String(response.body.readableBytes) }
        if request.method == .head { response.body.clear() }
    }
}

extension AuditOrigin {
    fileprivate mutating func name(_ admin: AdminCredential, reason: String?) {
        actor = .admin(admin.id)
        self.reason = reason
    }
}

extension HTTPFields {
    /// Of the caller; nil when it names none, or none that is valid.
    fileprivate var trace: TraceContext? {
        let parent = self[values: .traceParent]
        return parent.isEmpty ? nil : TraceContext(parent: parent, state: self[values: .traceState])
    }
}

extension HTTPField.Name {
    fileprivate static let traceParent = Self("traceparent") ?? .xContentTypeOptions
    fileprivate static let traceState = Self("tracestate") ?? .xContentTypeOptions
}
