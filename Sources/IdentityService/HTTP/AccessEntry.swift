import HTTPTypes
import Logging
import Requests

/// The log line of a request: the operation and its result; never a query, a header, a body or a name from them.
struct AccessEntry {
    private let method: HTTPRequest.Method
    /// The route's path; for an unknown path, the path itself, shortened.
    private let path: String
    let envelope: ErrorEnvelope
    private let meter: RouteMeter?
    private let acceptedLanguages: String?
    private let trace: TraceContext
    var duration: Duration = .zero
    private var code: String?
    private var cause: String?

    init(request: Request, match: RouteTable.Match, trace: TraceContext) {
        self.trace = trace
        method = request.method
        acceptedLanguages = request.headers[.acceptLanguage]
        if case .route(let route, _) = match {
            path = route.path
            envelope = route.envelope
            meter = route.meter
        } else {
            path = String(WireError.line(request.path).prefix(128))
            envelope = ConsolePath.holds(request.path) ? .consolePage : .status
            meter = nil
        }
    }

    /// Builds an error's response and keeps its code for the log line.
    ///
    /// Unexplained errors are logged each time. Unavailability, and what the database refuses, is logged once a minute for
    /// each cause, because one cause affects thousands of requests.
    mutating func refuse(_ error: any Error, load: ServerLoad, logger: Logger) -> Response {
        let page = error as? RefusedPage
        let error = page?.cause ?? error
        let wire = WireError(mapping: error)
        code = wire.code ?? wire.statusName
        cause = wire.cause
        let metadata: Logger.Metadata = ["error.type": "\(type(of: error))", "error.cause": "\(cause ?? "unknown")"]
        let named = cause ?? "unknown"
        switch wire.status {
        case .notImplemented: break
        case .serviceUnavailable:
            if load.causes.isDue(named) { logger.warning("Requests are refused", metadata: metadata) }
        case let status where status.kind == .serverError:
            guard !named.hasPrefix("postgres.") || load.causes.isDue(named) else { break }
            logger.error("Request failed", metadata: metadata)
        default: break
        }
        return page?.response ?? wire.response(in: envelope, accepting: acceptedLanguages)
    }

    func count(_ status: HTTPResponse.Status, by unmatched: RouteMeter) {
        (meter ?? unmatched).record(status: status.code, code: code, duration)
    }

    /// What asks a node every few seconds how it is, and writes a line only when it hears something else than usual.
    private static let probes: Set = ["/healthz", "/readyz", "/metrics"]

    func log(_ status: HTTPResponse.Status, to logger: Logger) {
        let level = Self.probes.contains(path) && status.kind == .successful ? Logger.Level.debug : .info
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "trace.id": "\(trace.id)", "http.method": "\(method.rawValue)", "http.path": "\(path)",
            "http.status": "\(status.code)",
            "duration.us":
                "\(duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000)",
        ]
        if let code { metadata["error.code"] = "\(code)" }
        if let cause { metadata["error.cause"] = "\(cause)" }
        logger.log(level: level, "Request", metadata: metadata)
    }
}
