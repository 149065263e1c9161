import CLibPQ

/// A server's response to a connection attempt without authentication.
package enum ServerState: Sendable {
    case accepting
    /// It is starting, stopping or recovering.
    case rejecting
    case silent

    /// Checks once, which blocks: not for a cooperative thread.
    package static func ask(_ conninfo: String) -> ServerState {
        ServerState(PQping(conninfo))
    }

    static func ask(_ server: Server) -> ServerState {
        ServerState(server.withCStrings { PQpingParams($0, $1, 0) })
    }

    /// A server that refuses our user, or has no free connections, counts as accepting.
    private init(_ answer: PGPing) {
        switch answer {
        case PQPING_OK: self = .accepting
        case PQPING_REJECT: self = .rejecting
        default: self = .silent
        }
    }
}
