import Glibc
import NIOCore
import NIOPosix

extension HTTPServer.Address {
    /// Why nothing can listen at an address.
    package struct Unusable: Error, Sendable, Hashable, CustomStringConvertible {
        package enum Reason: Sendable, Hashable {
            case taken, forbidden, foreign
            case other(code: Int32)
        }

        package let host: String
        package let port: Int
        package let reason: Reason

        /// - Parameter code: `errno`.
        package init(_ address: HTTPServer.Address, code: Int32) {
            (host, port) = (address.host, address.port)
            reason =
                switch code {
                case EADDRINUSE: .taken
                case EACCES, EPERM: .forbidden
                case EADDRNOTAVAIL, EAFNOSUPPORT: .foreign
                default: .other(code: code)
                }
        }

        init(_ address: HTTPServer.Address, _ error: any Error) {
            // Anything else than a refusal by the system is a name that leads nowhere.
            self.init(address, code: (error as? IOError)?.errnoCode ?? EADDRNOTAVAIL)
        }

        package var description: String {
            switch reason {
            case .taken: "port \(port) of \(host) is already in use"
            case .forbidden: "this user is not permitted to listen on port \(port) of \(host)"
            case .foreign: "\(host) is not an address of this machine"
            case .other(let code): "listening on port \(port) of \(host) failed (errno \(code))"
            }
        }
    }

    /// Takes the address for a moment, so that one that cannot be used is named before anything else starts.
    ///
    /// Does not listen there: whoever connected would get no response.
    package func requireUsable() throws(Unusable) {
        let address: SocketAddress
        do { address = try SocketAddress.makeAddressResolvingHost(host, port: port) } catch {
            throw Unusable(self, error)
        }
        let probe = socket(address.protocol.rawValue, Int32(SOCK_STREAM.rawValue), 0)
        guard probe >= 0 else { throw Unusable(self, code: errno) }
        defer { close(probe) }
        var yes: Int32 = 1
        let isBound = unsafe address.withSockAddr { pointer, size in
            unsafe setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0
                && bind(probe, pointer, socklen_t(size)) == 0
        }
        if !isBound { throw Unusable(self, code: errno) }
    }
}
