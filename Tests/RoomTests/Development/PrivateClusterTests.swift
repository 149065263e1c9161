import Development
import Foundation
import Logging
import Postgres
import Testing

@Suite("The private PostgreSQL")
struct PrivateClusterTests {
    /// A folder that the server's user can reach, gone afterwards.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = "/tmp/cluster-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func client(_ cluster: PrivateCluster) throws -> PostgresClient {
        PostgresClient(
            .init(conninfo: try #require(cluster.conninfo), connections: 2),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    @Test func keepsItsDataBetweenStarts() async throws {
        try await withFolder { folder in
            for start in 0..<2 {
                let clock = ContinuousClock.now
                let cluster = PrivateCluster(folder: folder, settings: ["max_connections": "20"])
                try await cluster.start()
                print("START", start, clock.duration(to: .now))
                let client = try client(cluster)
                if start == 0 { try await client.execute("CREATE TABLE kept (a INT)") }
                #expect(try await client.query("SELECT count(*) FROM kept") { try $0.next() } == [0])
                #expect(try await client.query("SHOW max_connections") { try $0.next() } == ["20"])
                #expect(try await client.query("SHOW fsync") { try $0.next() } == ["on"])
                #expect(PrivateCluster.conninfo(ofRunningIn: folder) != nil)
                if start == 0 { await client.close() }
                let stop = ContinuousClock.now
                await cluster.stop()
                print("STOP", start, stop.duration(to: .now))
                #expect(cluster.conninfo == nil)
                #expect(PrivateCluster.conninfo(ofRunningIn: folder) == nil)
            }
        }
    }
}
