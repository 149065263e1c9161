import HTTPTypes
import Text

/// CORS: apps in browsers call every operation without cookies, so any origin is allowed; pages are not included.
///
/// Errors need the headers too: without them the Web SDK reports a network failure.
enum CrossOrigin {
    static func allow(_ headers: inout HTTPFields) {
        headers[.accessControlAllowOrigin] = "*"
        headers[.accessControlExposeHeaders] = "x-request-id"
    }

    /// The response to `OPTIONS`, which checks no credential and reads no body.
    ///
    /// - Parameter isTrusted: whether the page may reach this machine from a public network.
    static func preflight(_ request: HTTPFields, isTrusted: Bool) -> Response {
        var headers = HTTPFields()
        headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
        headers[.accessControlMaxAge] = "7200"
        headers[.vary] = "Access-Control-Request-Headers"
        if let wanted = request[.accessControlRequestHeaders], isList(wanted) {
            headers[.accessControlAllowHeaders] = wanted
        }
        if isTrusted, request[.requestPrivateNetwork] == "true" { headers[.allowPrivateNetwork] = "true" }
        return Response(status: .noContent, headers: headers)
    }

    /// Header names and commas; nothing else is echoed.
    private static func isList(_ text: String) -> Bool {
        text.utf8.count <= 2048 && text.consists(of: .alphanumerics + "-_, ")
    }
}
