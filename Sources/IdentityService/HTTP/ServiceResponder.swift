import Accounts
import HTTPTypes
package import Hummingbird
import Logging
import NIOCore
package import Secrets

/// Answers every request: finds the route, checks the credential, reads the body, calls the handler, and makes one
/// answer and one log line of whatever came of it.
package struct ServiceResponder: HTTPResponder {
    package typealias Context = ServiceContext

    package let table: RouteTable
    private let gate: Gate
    private let limits: Limits
    private let deadline: Deadline
    private let random: RandomSource

    package struct Limits: Sendable {
        /// From the first byte of the head to the handler's answer.
        package var time: Duration = .seconds(30)
        package var proxies: TrustedProxies = .none

        package init(time: Duration = .seconds(30), proxies: TrustedProxies = .none) {
            self.time = time
            self.proxies = proxies
        }
    }

    package init(
        table: RouteTable,
        gate: Gate,
        limits: Limits = Limits(),
        random: RandomSource = .system
    ) {
        self.table = table
        self.gate = gate
        self.limits = limits
        deadline = Deadline(limits.time)
        self.random = random
    }

    package func respond(to request: Request, context: Context) async throws -> Response {
        let id = Base64URL.encode(random.bytes(12))
        var logger = context.logger
        logger[metadataKey: "request.id"] = "\(id)"
        let match = table.match(request.method, request.uri.path)
        var entry = AccessEntry(request: request, match: match)
        var response = Response(status: .internalServerError)
        entry.duration = try await ContinuousClock().measure {
            do {
                response = try await withLogger(logger) { logger in
                    try await answer(request, match, context, logger)
                }
            } catch let failure as BodyReader.ConnectionFailure {
                throw failure.underlying  // nobody is left to answer, or Hummingbird does
            } catch {
                response = entry.refuse(error, logger: logger)
            }
        }
        finish(&response, to: request, id: id)
        entry.log(response.status, to: logger)
        return response
    }

    private func answer(
        _ request: Request,
        _ match: RouteTable.Match,
        _ context: Context,
        _ logger: Logger
    ) async throws -> Response {
        if request.method == .options { return CrossOrigin.preflight(request.headers) }
        switch match {
        case .none: throw WireError.notFound
        case .otherMethods(let methods): throw WireError.methodNotAllowed(methods)
        case .route(let route, let parameters):
            return try await deadline.run {
                try await call(route, parameters, request, context, logger)
            }
        }
    }

    private func call(
        _ route: Route,
        _ parameters: [String: String],
        _ request: Request,
        _ context: Context,
        _ logger: Logger
    ) async throws -> Response {
        guard let query = QueryItems(request.uri.query ?? "") else {
            throw WireError.invalidRequest("Invalid query in the request's URL.", field: nil)
        }
        var call = Call(
            method: request.method,
            parameters: parameters,
            query: query,
            headers: request.headers,
            device: device(request.headers, peer: context.peerAddress),
            logger: logger
        )
        switch route.access {
        case .unbuilt:
            throw WireError.notBuilt
        case .open(let handler):
            call.body = try await BodyReader.read(request)
            return try await handler(call)
        case .client(let form?, _) where Gate.hasBearer(request.headers):
            let admin = try await gate.admin(request.headers, hasKey: false)
            call.body = try await BodyReader.read(request)
            let project = try await gate.project(of: call, for: admin, scope: form.scope)
            return try await form.handler(AdminCall(call: call, admin: admin, project: project))
        case .client(_, let handler):
            let project = try gate.project(query: query, headers: request.headers, host: route.host)
            call.body = try await BodyReader.read(request)
            let caller = Caller(
                project: project,
                userAgent: call.device.userAgent,
                addressPrefix: call.device.addressPrefix
            )
            return try await handler(ClientCall(call: call, caller: caller))
        case .admin(let scope, let handler):
            let hasKey = try gate.key(query, request.headers) != nil
            let admin = try await gate.admin(request.headers, hasKey: hasKey)
            let project = try await gate.project(named: call.parameter("project"), for: admin, scope: scope)
            guard parameters["tenant"] == nil else { throw WireError.tenantNotFound }
            call.body = try await BodyReader.read(request)
            return try await handler(AdminCall(call: call, admin: admin, project: project))
        }
    }

    private func device(_ headers: HTTPFields, peer: String?) -> Call.Device {
        let agent = headers[.userAgent].map { String(WireError.line($0).prefix(256)) }
        let address = peer.flatMap { NetworkAddress($0) }
            .map { limits.proxies.client(peer: $0, forwardedFor: headers[.forwardedFor]) }
        return Call.Device(userAgent: agent, addressPrefix: address?.prefix)
    }

    private func finish(_ response: inout Response, to request: Request, id: String) {
        CrossOrigin.allow(&response.headers)
        response.headers[.requestID] = id
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.referrerPolicy] == nil { response.headers[.referrerPolicy] = "no-referrer" }
        if request.method == .head {
            let length = response.body.contentLength
            response.body = ResponseBody()
            response.headers[.contentLength] = length.map { String($0) }
        }
    }
}
