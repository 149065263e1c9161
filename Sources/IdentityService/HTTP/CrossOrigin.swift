import HTTPTypes

/// CORS: browsers call every operation from the origins of apps, with no cookies, so any origin may; pages are for people.
///
/// Errors need the headers as well: without them the Web SDK reports a network failure.
enum CrossOrigin {
    static func allow(_ headers: inout HTTPFields) {
        headers[.accessControlAllowOrigin] = "*"
        headers[.accessControlExposeHeaders] = "x-request-id"
    }

    /// The answer to `OPTIONS`, which looks at no credential and reads no body.
    static func preflight(_ request: HTTPFields) -> Response {
        var headers = HTTPFields()
        headers[.accessControlAllowMethods] = "GET, POST, PATCH, DELETE, OPTIONS"
        headers[.accessControlMaxAge] = "7200"
        headers[.vary] = "Access-Control-Request-Headers"
        if let wanted = request[.accessControlRequestHeaders], isList(wanted) {
            headers[.accessControlAllowHeaders] = wanted
        }
        if request[.requestPrivateNetwork] == "true" { headers[.allowPrivateNetwork] = "true" }
        return Response(status: .noContent, headers: headers)
    }

    /// Header names and commas: nothing else is sent back.
    private static func isList(_ text: String) -> Bool {
        text.utf8.count <= 2048
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: "-_, ".utf8.contains(byte)
                }
            }
    }
}
