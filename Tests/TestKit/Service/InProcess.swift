import HTTPTypes
import IdentityService
import NIOCore
import Text

/// Calls a service without sockets, with the request that its HTTP server would make of what ``PlainHTTP`` sends.
enum InProcess {
    /// - Returns: nil for a request that the server, or a client before it, may change or refuse: only HTTP shows how.
    static func send(
        _ method: String,
        _ path: String,
        headers: [(String, String)],
        body: [UInt8]?,
        to node: ServiceNode
    ) async -> PlainResponse? {
        guard path.first == "/", path.utf8.allSatisfy(isInURL), (body?.count ?? 0) <= Request.maximumClientBody,
            methods.contains(method), let method = HTTPRequest.Method(rawValue: method), let hostName
        else { return nil }
        var fields: HTTPFields = [hostName: node.host]
        for (name, value) in headers {
            guard value.utf8.allSatisfy({ 0x20...0x7e ~= $0 }), value.first != " ", value.last != " ",
                let name = HTTPField.Name(name), !connectionNames.contains(name.canonicalName)
            else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        let request = Request(
            method: method,
            target: path,
            headers: fields,
            body: ByteBuffer(bytes: body ?? []),
            peer: IPAddress(caller: "127.0.0.1")
        )
        // What is being answered goes on when the client is gone, as with the server.
        let response = await Task { await node.responder.respond(to: request) }.value
        return PlainResponse(
            status: response.status.code,
            headers: response.headers.map { (name: $0.name.rawName, value: $0.value) },
            body: await allParts(of: response)
        )
    }

    /// With all its parts; nothing if one of them cannot be made.
    private static func allParts(of response: Response) async -> [UInt8] {
        var body = response.body
        do {
            while let part = try await response.nextPart?() { body.writeImmutableBuffer(part) }
        } catch {
            return []
        }
        return Array(buffer: body)
    }

    private static let methods: Set<String> = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    private static let connectionNames: Set<String> = [
        "connection", "content-length", "expect", "host", "transfer-encoding", "upgrade",
    ]
    private static let hostName = HTTPField.Name("host")

    /// Characters that no client escapes (RFC 3986), and no fragment.
    private static func isInURL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/?@!$&'()*+,;=%".utf8.contains(byte)
        }
    }
}
