import Development
import Foundation
import Postgres
import TestKit
import Testing

/// A primary that hangs: its kernel goes on acknowledging, so no connection to it ends by itself.
@Suite("PostgreSQL: a frozen primary", .timeLimit(.minutes(10)))
struct FrozenPrimaryTests {
    @Test("once another server is the primary, idle connections and statements without an answer go on there")
    func frozen() async throws {
        try await withTemporaryFolder { folder in
            let first = PrivateCluster(folder: folder + "/1", durable: false, settings: ["cluster_name": "first"])
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try await first.start()
            let second = PrivateCluster(folder: folder + "/2", durable: false, settings: ["cluster_name": "second"])
            try await Self.copy(try #require(first.conninfo), to: folder + "/2")
            try await second.start()
            let (one, two) = (try #require(first.conninfo), try #require(second.conninfo))
            var configuration = PostgresClient.Configuration.patient(
                try Self.together(one, two),
                connections: 4,
                patience: Patience.limit
            )
            configuration.connectTimeout = .seconds(2)
            let client = PostgresClient(quietly: configuration)
            let other = PostgresClient(quietly: .patient(one, connections: 1))
            let standby = PostgresClient(quietly: .patient(two, connections: 1))
            try await client.execute("CREATE TABLE kept (a INT)")
            try await client.onEachConnection { _ = try await $0.execute("SELECT") }
            // It ends at the second server alone.
            let server: SQL = """
                SELECT current_setting('cluster_name') FROM (
                    SELECT CASE current_setting('cluster_name') WHEN 'first' THEN pg_sleep(3600) END
                ) t
                """
            async let waiting = client.repeating.query(server) { try $0.next(String.self) }
            let (cancelled, hung) = Self.cancellable(server, client)
            async let once = #expect(throws: PostgresError.self) { _ = try await client.execute(server) }
            let sleeping: SQL = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            try await waitUntil { try await other.execute(sleeping) == 3 }
            try await waitUntil { try await standby.execute("SELECT FROM pg_class WHERE relname = 'kept'") == 1 }

            let primary = try #require(OtherProcess(postgresIn: folder + "/1"))
            primary.suspend()
            defer { primary.resume() }
            // The request to cancel it hangs as well.
            hung()
            try await standby.execute("SELECT pg_promote()")
            #expect(try await waiting == ["second"])
            // It may have run.
            #expect(await once?.code == .connectionLost)
            for _ in 1...8 { #expect(try await client.execute("INSERT INTO kept VALUES (1)") == 1) }
            #expect(try await standby.query("SELECT count(*) FROM kept") { try $0.next(Int64.self) } == [8])
            await #expect(throws: PostgresError.self) { try await cancelled() }
            let (ended, cancel) = Self.cancellable("SELECT pg_sleep(3600)", client)
            try await waitUntil { try await standby.execute(sleeping) == 1 }
            cancel()
            await #expect(throws: PostgresError.self) { try await ended() }
            primary.resume()
            for client in [client, other, standby] { await client.close() }
            await first.stop()
            await second.stop()
        }
    }

    @Test("a client that is told to stop waits neither for the answer of a server that hangs nor for another server")
    func stops() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let conninfo = try #require(cluster.conninfo)
            var configuration = PostgresClient.Configuration.patient(conninfo, connections: 2, patience: Patience.limit)
            configuration.connectTimeout = .seconds(2)
            let client = PostgresClient(quietly: configuration)
            let other = PostgresClient(quietly: .patient(conninfo, connections: 1))
            async let hung = #expect(throws: PostgresError.self) { try await client.execute("SELECT pg_sleep(3600)") }
            let sleeping: SQL = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            try await waitUntil { try await other.execute(sleeping) == 1 }
            let server = try #require(OtherProcess(postgresIn: folder))
            server.suspend()
            defer { server.resume() }
            client.stopWaiting()
            #expect(await hung?.code == .connectionLost)
            server.resume()
            await cluster.stop()
            let refused = await #expect(throws: PostgresError.self) { try await client.ping() }
            #expect(refused?.code == .unavailable || refused?.code == .connectionLost)
            await client.close()
            await other.close()
        }
    }

    /// Starts a statement.
    ///
    /// - Returns: what waits for its end, and what cancels it.
    private static func cancellable(
        _ sql: SQL,
        _ client: PostgresClient
    ) -> (end: @Sendable () async throws -> Void, cancel: @Sendable () -> Void) {
        let task = Task { _ = try await client.execute(sql) }
        return ({ try await task.value }, { task.cancel() })
    }

    /// One connection string for two servers.
    private static func together(_ one: String, _ two: String) throws -> String {
        let both = try [one, two].map { text in
            Dictionary(uniqueKeysWithValues: try ConnectionString.parse(text).map { ($0.keyword, $0.value) })
        }
        let lists = ["host", "port"].map { key in "\(key)=\(both.compactMap { $0[key] }.joined(separator: ","))" }
        return lists.joined(separator: " ") + " user=postgres dbname=postgres"
    }

    /// A standby of a server that runs.
    private static func copy(_ conninfo: String, to folder: String) async throws {
        let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
        let script = """
            chmod 711 "$(dirname "$FOLDER")"; install -d -m 700 $([ "$(id -u)" != 0 ] || echo -o postgres -g postgres) "$FOLDER"
            cd /; \(user) touch "$FOLDER/lock"
            \(user) pg_basebackup -d "$URL" -D "$FOLDER/data" -R -c fast --no-sync
            """
        let result = try await Program.run(
            "/bin/bash",
            ["-euc", script],
            environment: ["URL": conninfo, "FOLDER": folder]
        )
        #expect(result.status == 0, "\(result)")
    }
}
