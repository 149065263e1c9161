import Postgres
import Projects

import struct Foundation.Date

/// Ends what users granted applications that were deleted or blocked.
///
/// The deletion itself only notes the application, because it may have more grants than a statement can end while the
/// configuration waits for it (T-E11). From then on it is unknown, and its grants are of no use; a new one of the same ID
/// begins when they have ended.
struct EndedClients: Sendable {
    let database: PostgresClient
    /// Read for each portion: the feed of revocations shows nothing that ended long before it was written.
    let now: @Sendable () -> Date

    private static let portion = 1000

    /// Notes a client, in the transaction that has removed or blocked it.
    static func noting(_ client: String, in project: ProjectID, at now: Date) -> SQL {
        """
        INSERT INTO ended_clients (project, client, ended_at) VALUES (\(project.rawValue), \(client), \(now))
        ON CONFLICT (project, client) DO UPDATE SET ended_at = excluded.ended_at
        """
    }

    /// Whether a client has no grants of before its deletion.
    static func isFree(_ client: String, in project: ProjectID) -> SQL {
        "NOT EXISTS (SELECT FROM ended_clients WHERE project = \(project.rawValue) AND client = \(client))"
    }

    /// Ends the grants of all noted clients, with pauses: a portion of each in turn, so that none waits for another's.
    ///
    /// A client whose grants cannot be ended keeps no other's from it.
    ///
    /// - Returns: the number of ended grants.
    /// - Throws: the first failure, at the end.
    func endAll() async throws -> Int {
        let noted = try await database.query("SELECT project, client FROM ended_clients ORDER BY ended_at LIMIT 1000") {
            row in
            (ProjectID(rawValue: try row.next(String.self)), try row.next(String.self))
        }
        var open = noted.compactMap { project, client in project.map { ($0, client, Place()) } }
        var total = 0
        var failure: (any Error)?
        while !open.isEmpty {
            var rest: [(ProjectID, String, Place)] = []
            for (project, client, place) in open {
                do {
                    let next = try await unhurried { try await end(of: client, in: project, after: place) }
                    total += next?.count ?? 0
                    if let next, next.count == Self.portion { rest.append((project, client, next)) }
                } catch {
                    guard !Task.isCancelled else { throw error }
                    failure = failure ?? error
                }
            }
            open = rest
        }
        if let failure { throw failure }
        return total
    }

    /// Ends the grants of a noted client, ten portions at most: the rest is left to the sweeper.
    func end(of client: String, in project: ProjectID) async throws {
        var place = Place()
        for _ in 0..<10 {
            guard let next = try await end(of: client, in: project, after: place), next.count == Self.portion else {
                return
            }
            place = next
        }
    }

    /// Where a portion ended.
    private struct Place {
        var tenant = ""
        var account = ""
        var session = ""
        var count = 0
    }

    /// Ends the next portion, and forgets the client with the last.
    ///
    /// While the client is noted, it opens no sessions: all that there are end. They are locked in the order of their keys,
    /// as refreshes lock them.
    ///
    /// - Returns: nil if there was none; with fewer sessions than a portion has, it was the last.
    private func end(of client: String, in project: ProjectID, after place: Place) async throws -> Place? {
        let isIt: SQL = "project = \(project.rawValue) AND client = \(client)"
        let last = try await database.query(
            """
            WITH portion AS MATERIALIZED (
                SELECT tenant, account, session FROM sessions
                WHERE \(sql: isIt) AND revoked_at IS NULL
                    AND (tenant, account, session) > (\(place.tenant), \(place.account), \(place.session))
                    AND EXISTS (SELECT FROM ended_clients WHERE \(sql: isIt))
                ORDER BY tenant, account, session LIMIT \(Self.portion) FOR NO KEY UPDATE
            ), ended AS (
                UPDATE sessions s SET revoked_at = \(now()) FROM portion p
                WHERE s.project = \(project.rawValue) AND s.tenant = p.tenant AND s.account = p.account
                    AND s.session = p.session
            )
            SELECT tenant, account, session, count(*) OVER () FROM portion
            ORDER BY tenant DESC, account DESC, session DESC LIMIT 1
            """
        ) { row in
            Place(
                tenant: try row.next(),
                account: try row.next(),
                session: try row.next(),
                count: Int(try row.next(Int64.self))
            )
        }.first
        guard last?.count != Self.portion else { return last }
        try await database.execute(
            """
            WITH asked AS (DELETE FROM device_codes WHERE \(sql: isIt))
            DELETE FROM ended_clients WHERE \(sql: isIt)
                AND NOT EXISTS (SELECT FROM sessions WHERE \(sql: isIt) AND revoked_at IS NULL)
            """
        )
        return last
    }
}
