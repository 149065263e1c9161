import CLibPQ

/// What a server answers to somebody who knocks, without signing in.
package enum ServerState: Sendable {
    case accepting
    /// It is starting, stopping or recovering.
    case rejecting
    case silent

    /// Knocks once, which blocks: not for a cooperative thread.
    package static func ask(_ conninfo: String) -> ServerState {
        ServerState(PQping(conninfo))
    }

    static func ask(_ conninfo: Conninfo) -> ServerState {
        ServerState(conninfo.withCStrings { PQpingParams($0, $1, 0) })
    }

    /// A server that knows nobody by our name, or has no room, counts as one that accepts.
    private init(_ answer: PGPing) {
        switch answer {
        case PQPING_OK: self = .accepting
        case PQPING_REJECT: self = .rejecting
        default: self = .silent
        }
    }
}
