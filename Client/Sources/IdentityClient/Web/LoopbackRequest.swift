#if os(macOS) || os(Linux)
import Foundation

/// A browser's request, which waits for ``respond(status:html:)``.
struct LoopbackRequest: Sendable {
    /// Path and query, as sent.
    let target: String
    /// The body of a form.
    let form: String?
    private let connection: Int32

    /// Reads a GET or POST of at most 64 KiB; returns nil for anything else.
    init?(_ connection: Int32) {
        var bytes: [UInt8] = []
        var body: ArraySlice<UInt8>?
        var length = 0
        while bytes.count <= 65_536 {
            guard let more = DescriptorIO.read(connection) else { return nil }
            bytes += more
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            length = Self.contentLength(bytes[..<end.lowerBound])
            body = bytes[end.upperBound...]
            if let body, body.count >= length { break }
        }
        guard let body, body.count >= length else { return nil }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self).split(separator: " ")
        guard line.count == 3, line[0] == "GET" || line[0] == "POST" else { return nil }
        self.target = String(line[1])
        self.form = line[0] == "POST" ? String(decoding: body.prefix(length), as: UTF8.self) : nil
        self.connection = connection
    }

    private static func contentLength(_ head: ArraySlice<UInt8>) -> Int {
        for line in String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            return max(0, Int(parts[1].trimmingCharacters(in: .whitespaces)) ?? 0)
        }
        return 0
    }

    /// Sends a page, and closes the connection.
    func respond(status: String, html: String) {
        let head = [
            "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8", "Content-Length: \(html.utf8.count)",
            "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Connection: close", "", "",
        ]
        DescriptorIO.write((head.joined(separator: "\r\n") + html).utf8, to: connection)
        DescriptorIO.close(connection)
    }
}
#endif
