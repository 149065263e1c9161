package import Foundation
import IdentityCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A web server on a loopback port, with a thread for each connection.
///
/// The handler takes the bytes of a request, and returns those of the response, as they are: also half of one, or nil
/// to close the connection without any.
package final class TestServer: Sendable {
    package let url: URL
    private let descriptor: Int32
    private let isClosed = Protected(false)

    package init(_ handler: @escaping @Sendable (_ request: Data) -> Data?) throws {
        let descriptor = try Self.bound { bind($0, $1, $2) }
        listen(descriptor, 64)
        self.descriptor = descriptor
        guard let url = URL(string: "http://127.0.0.1:\(Self.port(of: descriptor))") else { throw URLError(.badURL) }
        self.url = url
        let isClosed = isClosed
        Thread.detachNewThread {
            // Closed by who accepts: closed by another, its number may be the next server's while this one accepts.
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                if isClosed.withLock({ $0 }) {
                    if connection >= 0 { close(connection) }
                    return
                }
                guard connection >= 0 else { continue }
                Thread.detachNewThread {
                    if let request = Self.readMessage(connection), let response = handler(request) {
                        Self.send(response, to: connection)
                    }
                    shutdown(connection, Int32(SHUT_RDWR))
                    close(connection)
                }
            }
        }
    }

    deinit {
        let isOver = shutdown(descriptor, Int32(SHUT_RDWR)) == 0
        isClosed.withLock { $0 = true }
        // On Darwin a shutdown does not end `accept`, but a connection does.
        guard !isOver, let port = url.port else { return }
        if let connection = try? Self.bound(port: UInt16(port), { connect($0, $1, $2) }) { close(connection) }
    }

    /// A complete response, with JSON unless `type` says otherwise.
    package static func response(
        _ status: Int = 200,
        _ body: String,
        type: String = "application/json",
        headers: [String] = []
    ) -> Data {
        let head =
            ["HTTP/1.1 \(status) X", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] + headers
            + ["Connection: close", "", ""]
        return Data((head.joined(separator: "\r\n") + body).utf8)
    }

    /// Sends a request to a server on this machine, and returns what it responds until it closes the connection.
    package static func forward(_ request: Data, to url: URL) -> Data? {
        guard let descriptor = try? bound(port: UInt16(url.port ?? 80), { connect($0, $1, $2) }) else { return nil }
        defer { close(descriptor) }
        send(request, to: descriptor)
        var response = Data()
        while let bytes = read(descriptor) { response += bytes }
        return response
    }

    private static func bound(
        port: UInt16 = 0,
        _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw URLError(.cannotConnectToHost)
        }
        return descriptor
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Reads a head, and as much of a body as its `Content-Length` names.
    private static func readMessage(_ descriptor: Int32) -> Data? {
        var message = Data()
        while let bytes = read(descriptor) {
            message += bytes
            guard let end = message.firstRange(of: Data("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: message[..<end.lowerBound], as: UTF8.self).lowercased()
            let length = head.firstMatch(of: /content-length: *([0-9]+)/).flatMap { Int($0.1) } ?? 0
            if message.count - end.upperBound >= length { return message }
        }
        return nil
    }

    private static func read(_ descriptor: Int32) -> Data? {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Data(bytes.prefix(count)) : nil
    }

    private static func send(_ data: Data, to descriptor: Int32) {
        var rest = Array(data)
        while !rest.isEmpty {
            #if canImport(Darwin)
            let count = Darwin.send(descriptor, rest, rest.count, 0)
            #else
            let count = Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            #endif
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }
}
