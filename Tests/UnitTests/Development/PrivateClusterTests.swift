import Development
import Foundation
import Postgres
import TestKit
import Testing

@Suite("The private PostgreSQL", .timeLimit(.minutes(10)))
struct PrivateClusterTests {
    private func client(_ cluster: PrivateCluster) throws -> PostgresClient {
        PostgresClient(quietly: .patient(try #require(cluster.conninfo), connections: 2))
    }

    private func show(_ setting: String, _ client: PostgresClient) async throws -> [String] {
        try await client.query("SELECT current_setting(\(setting))") { try $0.next() }
    }

    @Test func keepsItsDataBetweenStarts() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, settings: ["max_connections": "20"])
            try await cluster.start()
            let client = try client(cluster)
            try await client.execute("CREATE TABLE kept (a INT)")
            #expect(try await show("max_connections", client) == ["20"])
            #expect(try await show("fsync", client) == ["on"])
            #expect(try await show("listen_addresses", client) == [""])
            #expect(PrivateCluster.conninfo(ofRunningIn: folder) != nil)
            // The mode is the access control: whoever reaches the socket is let in.
            let attributes = try FileManager.default.attributesOfItem(atPath: folder)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            await client.close()
            await cluster.stop()
            #expect(cluster.conninfo == nil)
            #expect(PrivateCluster.conninfo(ofRunningIn: folder) == nil)

            let again = PrivateCluster(folder: folder, durable: false)
            try await again.start()
            let other = try self.client(again)
            #expect(try await other.query("SELECT count(*) FROM kept") { try $0.next() } == [0])
            #expect(try await show("fsync", other) == ["off"])
            await other.close()
            await again.stop()
        }
    }

    @Test func aSecondStarterIsToldSo() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            await #expect(throws: PrivateClusterError.alreadyRunning(folder: folder)) {
                try await PrivateCluster(folder: folder, durable: false).start()
            }
            await #expect(throws: PrivateClusterError.alreadyRunning(folder: folder)) { try await cluster.start() }
            let client = try client(cluster)
            try await client.ping()
            await client.close()
            await cluster.stop()
        }
    }

    @Test func aCrashIsTheEndOfRunAndItsStaleFileIsNoObstacle() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            let file = "\(folder)/data/postmaster.pid"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let process = try #require(text.split(separator: "\n").first.flatMap { Int32($0) })
            kill(process, SIGKILL)
            await #expect(throws: PrivateClusterError.self) { try await cluster.run() }
            #expect(FileManager.default.fileExists(atPath: file))
            // The number now belongs to somebody else of the same user: another server.
            try await withTemporaryFolder { otherFolder in
                let other = PrivateCluster(folder: otherFolder, durable: false)
                try await other.start()
                let stranger = try String(contentsOfFile: "\(otherFolder)/data/postmaster.pid", encoding: .utf8)
                let number = try #require(stranger.split(separator: "\n").first)
                let stale = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
                try ([number] + stale).joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
                #expect(PrivateCluster.conninfo(ofRunningIn: folder) == nil)
                try await cluster.start()
                let client = try client(cluster)
                try await client.ping()
                await client.close()
                await cluster.stop()
                await other.stop()
            }
        }
    }

    @Test func runEndsWellWhenItIsToldToStop() async throws {
        try await withTemporaryFolder { folder in
            let cluster = PrivateCluster(folder: folder, durable: false)
            try await cluster.start()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await cluster.run() }
                group.cancelAll()
                try await group.waitForAll()
            }
            #expect(cluster.conninfo == nil)
        }
    }

    @Test func anotherMajorVersionIsNamed() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: "\(folder)/data", withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: "\(folder)/lock"))
            try Data("9\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/data/PG_VERSION"))
            let error = await #expect(throws: PrivateClusterError.self) {
                try await PrivateCluster(folder: folder).start()
            }
            guard case .wrongVersion(_, "9", let installed) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!installed.isEmpty)
        }
    }

    @Test func aFolderWithOtherThingsIsLeftAlone() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
            try Data().write(to: URL(fileURLWithPath: "\(folder)/thesis.txt"))
            let error = await #expect(throws: PrivateClusterError.self) {
                try await PrivateCluster(folder: folder).start()
            }
            guard case .unusableFolder = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o755)
        }
    }

    @Test func aPathTooLongForASocketGetsOneElsewhere() async throws {
        try await withTemporaryFolder { folder in
            // Removed with the folder above it.
            let long = "\(folder)-\(String(repeating: "x", count: 90))"
            defer { try? FileManager.default.removeItem(atPath: long) }
            let cluster = PrivateCluster(folder: long, durable: false)
            try await cluster.start()
            #expect(cluster.conninfo?.contains("/tmp/identity.") == true)
            #expect(PrivateCluster.conninfo(ofRunningIn: long) == cluster.conninfo)
            let client = try client(cluster)
            try await client.ping()
            await client.close()
            await cluster.stop()
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root's server runs as another user"))
    func aFolderBehindAClosedDoorIsKeptElsewhere() async throws {
        try await withTemporaryFolder { home in
            try FileManager.default.createDirectory(
                atPath: home,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let cluster = PrivateCluster(folder: "\(home)/data", durable: false)
            try await cluster.start()
            #expect(PrivateCluster.conninfo(ofRunningIn: "\(home)/data") == cluster.conninfo)
            let folder = try #require(cluster.location)
            #expect(folder.hasPrefix("/var/lib/identity-dev/"))
            await cluster.stop()
            try FileManager.default.removeItem(atPath: folder)
        }
    }
}
