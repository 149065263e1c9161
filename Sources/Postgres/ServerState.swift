import CLibPQ

/// What a server answers to somebody who knocks, without signing in.
package enum ServerState: Sendable {
    case accepting
    /// It is starting, stopping or recovering.
    case rejecting
    case silent

    /// Knocks once, which blocks: not for a cooperative thread.
    package static func ask(_ conninfo: String) -> ServerState {
        switch PQping(conninfo) {
        case PQPING_OK: .accepting
        case PQPING_REJECT: .rejecting
        default: .silent
        }
    }
}
