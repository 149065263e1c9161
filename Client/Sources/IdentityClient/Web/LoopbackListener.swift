#if os(macOS) || os(Linux)
import Foundation
import IdentityCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A web server for one visit of a browser on this machine (RFC 8252 §7.3).
///
/// A thread of its own accepts connections one after the other, until the deadline or ``close()``.
final class LoopbackListener: Sendable {
    let port: UInt16
    /// The requests in the order of their arrival; ends with the listener.
    let requests: AsyncStream<LoopbackRequest>
    private let isClosed = Protected(false)

    /// - Parameter port: 0 for any free one.
    /// - Throws: `errno`.
    init(port: UInt16, timeout: Duration) throws(SessionStorageError) {
        let descriptor = socket(AF_INET, Self.stream, 0)
        guard descriptor >= 0 else { throw .system(code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else {
            let code = errno
            DescriptorIO.close(descriptor)
            throw .system(code: code)
        }
        self.port = UInt16(bigEndian: address.sin_port)
        let (requests, continuation) = AsyncStream.makeStream(of: LoopbackRequest.self)
        self.requests = requests
        let deadline = ContinuousClock.now.advanced(by: timeout)
        let isClosed = isClosed
        Thread.detachNewThread {
            while ContinuousClock.now < deadline, !isClosed.withLock({ $0 }) {
                guard DescriptorIO.isReadable(descriptor, within: 100) else { continue }
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { continue }
                guard let request = LoopbackRequest(connection) else {
                    DescriptorIO.close(connection)
                    continue
                }
                continuation.yield(request)
            }
            DescriptorIO.close(descriptor)
            continuation.finish()
        }
    }

    func close() { isClosed.withLock { $0 = true } }

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #elseif canImport(Musl)
    private static let stream = SOCK_STREAM | SOCK_CLOEXEC
    #else
    private static let stream = SOCK_STREAM
    #endif
}
#endif
