import Foundation
import Logging
import Postgres
import Storage
import TestKit
import Testing

@Suite("Sweeper", .database)
struct SweeperTests {
    @Test("R-06: a flow that nobody finished is deleted once it has expired, a live one stays")
    func deletesWhatHasExpired() async throws {
        let database = TestDatabase.current.client
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for (number, expiry) in [-1.0, 0, 60].enumerated() {
            try await database.execute(
                """
                INSERT INTO flows (project, state_hash, tenant, provider, session_hash, purpose, payload, created_at, expires_at)
                VALUES ('sweeper', \([UInt8(number)]), '', 'oidc.x', \([1] as [UInt8]), 'signIn', \([2] as [UInt8]),
                    \(now), \(now.addingTimeInterval(expiry)))
                """
            )
        }
        let sweeper = Sweeper(database: database, logger: Logger(label: "test"), now: { now })
        #expect(try await sweeper.sweep() == 1)
        let left = try await database.query("SELECT count(*) FROM flows WHERE project = 'sweeper'") {
            try $0.next(Int64.self)
        }
        #expect(left == [2])
    }
}
