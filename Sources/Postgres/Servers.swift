import Synchronization

/// What a pool's workers know about the servers of its connection string.
final class Servers: Sendable {
    private struct State {
        /// Since when servers have not responded, by their positions.
        var silent: [Int: ContinuousClock.Instant] = [:]
        /// When connections to servers were given up.
        var abandoned: [Int: ContinuousClock.Instant] = [:]
        var isLooking = false
        var lastLook: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    /// How long a silent server is passed over while there are others.
    private static let pause = Duration.seconds(4)

    func noteResponse(of server: Server) { state.withLock { $0.silent[server.index] = nil } }

    func noteSilence(of server: Server) { state.withLock { $0.silent[server.index] = .now } }

    /// Gives up all connections to a server that were opened until now.
    func abandon(_ server: Server) { state.withLock { $0.abandoned[server.index] = .now } }

    func isAbandoned(_ connection: Connection) -> Bool {
        state.withLock { $0.abandoned[connection.server.index].map { connection.since <= $0 } ?? false }
    }

    /// The servers to which to connect, one after another: a silent one last and not each time, because it takes seconds.
    func toTry(of conninfo: Conninfo) -> [Server] {
        let silent = state.withLock { $0.silent }
        let others = conninfo.servers.filter { silent[$0.index] == nil }
        guard !others.isEmpty else { return conninfo.servers }
        return others + conninfo.servers.filter { silent[$0.index].map { .now - $0 >= Self.pause } ?? false }
    }

    /// Whether it was not known to be silent a moment ago.
    func mustAsk(_ server: Server) -> Bool {
        state.withLock { $0.silent[server.index].map { .now - $0 >= Self.pause } ?? true }
    }

    /// Takes the right to look at the servers: one worker at a time has it, and a server that responds is left alone for a
    /// while.
    func beginLook(at server: Server) -> Bool {
        state.withLock { state in
            let isSilent = state.silent[server.index] != nil
            guard !state.isLooking, isSilent || state.lastLook.map({ .now - $0 >= .seconds(1) }) ?? true else {
                return false
            }
            (state.isLooking, state.lastLook) = (true, .now)
            return true
        }
    }

    func endLook() { state.withLock { $0.isLooking = false } }
}
