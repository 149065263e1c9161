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

    /// Listens for a moment, so that an address that cannot be used is named before anything else starts.
    package func requireUsable() async throws(Unusable) {
        do {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            try await bootstrap.bind(host: host, port: port).get().close()
        } catch {
            throw Unusable(self, error)
        }
    }
}
