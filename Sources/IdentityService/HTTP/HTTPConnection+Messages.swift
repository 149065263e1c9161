import HTTPTypes
import NIOCore
import NIOHTTP1
import Text

extension HTTPRequestHead {
    /// Every request of HTTP/1.1 does, and none names several (RFC 9112 §3.2).
    var namesOneHost: Bool {
        let hosts = headers["host"]
        return (hosts.count == 1 || hosts.isEmpty && version == .http1_0) && hosts.allSatisfy(Self.isHost)
    }

    /// Whether it is an authority without user (RFC 9112 §3.2), or empty, as for a target without one.
    private static func isHost(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        guard let url = URLParts("http://" + text) else { return false }
        return url.isWeb && url.authority?.utf8.count == text.utf8.count
    }

    /// The request with its target in origin form: a target in absolute form, which clients send to what they take for a
    /// proxy, names the host itself, and `Host` is ignored then (RFC 9112 §3.2.2).
    ///
    /// Nil for what is no target.
    var inOriginForm: HTTPRequestHead? {
        // The authority form is CONNECT's alone (§3.2.3), which has no route.
        guard !uri.hasPrefix("/"), method != .CONNECT else { return self }
        // The asterisk form is that of OPTIONS alone (§3.2.4).
        if uri == "*" { return method == .OPTIONS ? self : nil }
        guard let url = URLParts(uri), url.isWeb, let authority = url.authority else { return nil }
        // A second or missing header stays the error that it is without an absolute target.
        guard version == .http1_0 || headers["host"].count == 1 else { return self }
        var head = self
        head.uri = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
        head.headers.replaceOrAdd(name: "host", value: authority)
        return head
    }

    /// HTTP/1.0 knows no transfer codings, so where its body ends is uncertain; of the others, only `chunked` is decoded
    /// (RFC 9112 §6.1).
    var hasUnknownCoding: Bool {
        let codings = headers["transfer-encoding"]
        guard !codings.isEmpty else { return false }
        return version != .http1_1 || codings.map { $0.lowercased() } != ["chunked"]
    }

    /// NIO's decoder reads no request after this one.
    var wantsAnotherProtocol: Bool { method == .CONNECT || headers.contains(name: "upgrade") }

    var fieldMethod: HTTPRequest.Method {
        switch method {
        case .POST: .post
        case .GET: .get
        // The decoder only accepts tokens.
        default: HTTPRequest.Method(rawValue: method.rawValue) ?? .trace
        }
    }

    var fields: HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }
}

extension Response {
    /// The response in the format of HTTP/1.1 (RFC 9112 §4).
    func bytes(date: String, closes: Bool, isEncrypted: Bool) -> ByteBuffer {
        var bytes = ByteBufferAllocator().buffer(capacity: 512 + body.readableBytes)
        if status == .ok {
            bytes.writeStaticString("HTTP/1.1 200 OK\r\n")
        } else {
            bytes.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        }
        for field in headers {
            bytes.writeString(field.name.rawName)
            bytes.writeStaticString(": ")
            bytes.writeString(field.value)
            bytes.writeStaticString("\r\n")
        }
        if closes { bytes.writeStaticString("connection: close\r\n") }
        if isEncrypted { bytes.writeStaticString("strict-transport-security: max-age=31536000\r\n") }
        bytes.writeStaticString("date: ")
        bytes.writeString(date)
        bytes.writeStaticString("\r\n\r\n")
        bytes.writeImmutableBuffer(body)
        return bytes
    }
}
