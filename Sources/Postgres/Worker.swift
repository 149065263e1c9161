import Foundation

/// A thread with one connection, which it opens when there is work and keeps.
///
/// `@unchecked Sendable`: only the thread uses `connection`; the rest is guarded by the pool's lock.
final class Worker: @unchecked Sendable {
    let pool: Pool
    let signal: Lock.Signal
    private var connection: Connection?
    private var lastUse = ContinuousClock.now

    // Guarded by the pool's lock
    var isConnected = false
    var cancelHandle: CancelHandle?
    /// Set by the code that takes the worker off a list of waiting ones.
    var isAwake = false
    /// Since when a statement of it has had no answer.
    var askedAt: ContinuousClock.Instant?

    init(pool: Pool) {
        self.pool = pool
        signal = Lock.Signal(pool.lock)
    }

    func start(name: String) {
        let thread = Thread { self.serve() }
        thread.name = name
        thread.start()
    }

    private func serve() {
        while pool.waitForWork(self) {
            // A connection that ended in the meantime is replaced before a statement is sent on it.
            if let connection, !isUsable(connection) {
                self.connection = nil
                guard pool.mayReplaceConnection(of: self) else { continue }
            }
            guard let connection = connection ?? connect() else { continue }
            while let job = pool.takeJob(for: self) {
                job.work(self, connection, job)
                guard connection.isBetweenTransactions else {
                    self.connection = nil
                    pool.lostConnection(of: self)
                    break
                }
            }
            lastUse = .now
        }
        connection = nil
        pool.ended(self)
    }

    /// Whether an idle connection can run a statement.
    ///
    /// Nothing says so of a server whose machine or processes hang, so one that was not used for a while is asked.
    private func isUsable(_ connection: Connection) -> Bool {
        guard connection.isUsable, !pool.servers.isAbandoned(connection) else { return false }
        guard lastUse.duration(to: .now) >= Connection.quiet else { return true }
        guard !connection.responds(within: Connection.quiet) else { return true }
        pool.servers.noteSilence(of: connection.server)
        return false
    }

    private func connect() -> Connection? {
        let conninfo: Conninfo
        do throws(PostgresError) { conninfo = try Conninfo(pool.configuration) } catch {
            pool.failedToConnect(self, error, isDown: true)
            return nil
        }
        var failures: [PostgresError] = []
        let servers = pool.servers.toTry(of: conninfo)
        for server in servers {
            let began = ContinuousClock.now
            do throws(PostgresError) {
                let connection = try open(server, of: conninfo)
                pool.servers.noteResponse(of: server)
                connection.isAbandoned = { [unowned self, unowned connection] in
                    pool.servers.isAbandoned(connection) || mustLeave(connection, conninfo)
                }
                connection.countRoundTrip = { [unowned self] in pool.countRoundTrip() }
                self.connection = connection
                lastUse = .now
                pool.connected(self, connection.cancelHandle)
                return connection
            } catch {
                if began.duration(to: .now) >= Connection.quiet { pool.servers.noteSilence(of: server) }
                failures.append(error)
            }
        }
        // The question takes as long again; without connections, it changes nothing.
        let isDown = !pool.hasConnections || !servers.contains { ServerState.ask($0) == .accepting }
        pool.failedToConnect(self, PostgresError(joining: failures), isDown: isDown)
        return nil
    }

    /// Connects, once more if the server accepted the connection and ended it before its settings were set.
    private func open(_ server: Server, of conninfo: Conninfo) throws(PostgresError) -> Connection {
        do throws(PostgresError) { return try Connection(conninfo, server, pool.configuration) } catch {
            guard error.wasConnected else { throw error }
            return try Connection(conninfo, server, pool.configuration)
        }
    }

    /// Whether to give up a statement whose server does not respond at all, because another server accepts writes, or the
    /// process ends.
    private func mustLeave(_ connection: Connection, _ conninfo: Conninfo) -> Bool {
        let (server, mustEnd) = (connection.server, pool.mustEnd)
        guard mustEnd || conninfo.servers.count > 1, pool.servers.beginLook(at: server) else { return false }
        defer { pool.servers.endLook() }
        if pool.servers.mustAsk(server) {
            guard ServerState.ask(server) == .silent else {
                pool.servers.noteResponse(of: server)
                return false
            }
            pool.servers.noteSilence(of: server)
        }
        let isElsewhere = conninfo.servers.contains { other in
            other.index != server.index && (try? Connection(conninfo, other, pool.configuration)) != nil
        }
        guard mustEnd || isElsewhere else { return false }
        pool.servers.abandon(server)
        return true
    }
}
