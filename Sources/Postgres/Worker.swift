import Foundation

/// A thread with one connection, which it opens when there is work and keeps.
///
/// `@unchecked Sendable`: only the thread uses `connection`; the rest is guarded by the pool's lock.
final class Worker: @unchecked Sendable {
    let pool: Pool
    let signal: Lock.Signal
    private var connection: Connection?

    // Guarded by the pool's lock
    var isConnected = false
    var cancelHandle: CancelHandle?
    /// Set by the code that takes the worker off a list of waiting ones.
    var isAwake = false
    /// Cancel requests that are being sent to the server.
    var cancelsInFlight = 0

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
            // A connection that was closed in the meantime is replaced before anything is sent on it.
            if let connection, !connection.isUsable {
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
        }
        connection = nil
        pool.ended(self)
    }

    private func connect() -> Connection? {
        do {
            let conninfo = try Conninfo(pool.configuration)
            do {
                let connection = try Connection(conninfo, pool.configuration)
                self.connection = connection
                pool.connected(self, connection.cancelHandle)
                return connection
            } catch {
                // The question walks through all hosts again, which takes as long; without connections, it changes nothing.
                let isDown = !pool.hasConnections || ServerState.ask(conninfo) != .accepting
                pool.failedToConnect(self, error, isDown: isDown)
            }
        } catch {
            pool.failedToConnect(self, error, isDown: true)
        }
        return nil
    }
}
