package import HTTPTypes

extension Response {
    /// A response with a JSON object that must not be cached.
    package static func json(
        _ status: HTTPResponse.Status = .ok,
        _ members: (inout JSONWriter) throws -> Void
    ) rethrows -> Response {
        var json = JSONWriter(capacity: 2048)  // an answer with two tokens
        try json.object(members)
        return Response(
            status: status,
            headers: [.contentType: JSONWriter.contentType, .cacheControl: "no-store"],
            body: json.bytes
        )
    }
}
