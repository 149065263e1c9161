import Postgres
import Synchronization

/// Clients of one database that services of tests use one after the other: a new connection costs the server more than
/// most tests ask of it.
///
/// Nobody else has them meanwhile, so that a test meets what it would meet with new ones.
struct LentClients: Sendable {
    let database: PostgresClient
    let watch: PostgresClient
    let conninfo: String

    private init(_ conninfo: String, _ connections: Int) {
        Started.count(.client)
        database = PostgresClient(quietly: .patient(conninfo, connections: connections))
        watch = PostgresClient(quietly: .patient(conninfo, connections: 1))
        self.conninfo = conninfo
    }

    func close() async {
        await database.close()
        await watch.close()
    }

    /// Whether nothing that a test began is left.
    private var isAtRest: Bool {
        [database, watch].map(\.load).allSatisfy { $0.waiting == 0 && $0.idle == $0.connected }
    }

    // MARK: The shelf

    /// Each holds two to five of the server's connections.
    private static let most = 12
    /// Those that nobody uses, the one that waits longest first.
    private static let shelf = Mutex<[LentClients]>([])

    static func take(_ conninfo: String, connections: Int) -> LentClients {
        let kept = shelf.withLock { shelf in
            shelf.lastIndex { $0.conninfo == conninfo && $0.database.connections == connections }
                .map { shelf.remove(at: $0) }
        }
        return kept ?? LentClients(conninfo, connections)
    }

    func giveBack() async {
        // A connection is free a moment after its statement has answered.
        for _ in 0..<1000 where !isAtRest { await Task.yield() }
        guard isAtRest else { return await close() }
        let oldest = Self.shelf.withLock { shelf in
            shelf.append(self)
            return shelf.count > Self.most ? shelf.removeFirst() : nil
        }
        await oldest?.close()
    }

    /// Closes those of a database that is about to go.
    static func close(_ conninfo: String) async {
        let gone = shelf.withLock { shelf in
            defer { shelf.removeAll { $0.conninfo == conninfo } }
            return shelf.filter { $0.conninfo == conninfo }
        }
        for clients in gone { await clients.close() }
    }
}
