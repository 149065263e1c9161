import Postgres
package import Projects
import Secrets
package import struct Foundation.Date

/// The buckets that a request takes from, as parts of the statement that it runs anyway.
///
/// Each bucket is one row with the time at which it will be empty again (the generic cell rate algorithm). The database
/// decides: taking is one conditional upsert, so all nodes and simultaneous requests share the bucket. Buckets are
/// taken one after another in the order of the list, which prevents deadlocks. If one refuses, the following ones are
/// not touched, so refused requests cannot use up someone else's bucket.
package struct RateLimits: Sendable {
    private struct Bucket: Sendable {
        let kind: RateLimitKind
        /// Empty for limits that all projects share.
        let project: String
        let key: [UInt8]
        /// Seconds for which one request counts: whole microseconds, rounded down, so that all fit.
        let step: Double
        /// Seconds that a request takes: ``step``, or nothing if it only has to find room.
        var taken: Double
        /// The latest time until which the bucket may be in use.
        var latest: Date
        /// Seconds of the bucket that some requests leave to others: a quarter of its requests.
        let share: Double
        /// Half of it.
        let halfShare: Double

        init(
            _ kind: RateLimitKind,
            of project: String,
            _ values: [String],
            _ budget: RateLimitBudget,
            _ now: Date,
            leavesShare: Bool = false
        ) {
            self.kind = kind
            self.project = project
            key = SecureHash.sha256(([kind.rawValue] + values).map { "\($0.utf8.count):\($0)" }.joined())
            step = (Double(budget.seconds) * 1_000_000 / Double(budget.count)).rounded(.down) / 1_000_000
            taken = step
            share = step * Double(budget.count / 4)
            halfShare = step * Double(budget.count / 8)
            latest = now.addingTimeInterval(Double(budget.seconds) - (leavesShare ? share : 0))
        }
    }

    private let buckets: [Bucket]
    let now: Date

    package static let none = RateLimits(buckets: [], now: .distantPast)

    private init(buckets: [Bucket], now: Date) {
        self.buckets = buckets
        self.now = now
    }

    /// What all projects share counts by the deployment's numbers alone: a project's own numbers, if they differ, act on
    /// a bucket of the project, which is taken from first.
    ///
    /// - Parameters:
    ///   - keys: in the order in which their buckets are taken.
    ///   - deployment: the numbers of limits that span projects.
    ///   - address: the caller's; nil if it is unknown.
    ///   - isVouchedFor: whether the project's back end names the address, which then counts in the project alone.
    ///   - signUps: the project's own number of sign-ups by address, which takes the place of the deployment's for its time;
    ///     nil for none.
    package init(
        _ keys: [RateLimitKey],
        settings: RateLimitSettings,
        deployment: DeploymentLimits,
        from address: String? = nil,
        vouchedFor isVouchedFor: Bool = false,
        signUps: RateLimitBudget? = nil,
        in scope: Scope,
        now: Date
    ) {
        guard settings.isEnabled else {
            self = .none
            return
        }
        self.now = now
        let project = scope.project.rawValue
        buckets = keys.flatMap { key -> [Bucket] in
            let (kind, values) = (key.kind, key.values)
            guard kind.spansProjects else {
                let tenant = kind.spansTenants ? "" : scope.tenant.rawValue
                return [Bucket(kind, of: project, [tenant] + values, settings[kind], now)]
            }
            if kind == .signUpsPerAddress, let signUps {
                return [Bucket(kind, of: project, values, key.narrowed(signUps), now)]
            }
            let shared = key.narrowed(deployment.budget(of: kind, for: address))
            switch key.reach {
            case .project(let times):
                let own = settings.own(kind).map(key.narrowed)?.narrowed(to: shared) ?? shared
                return [Bucket(kind, of: project, values, own.times(times), now, leavesShare: key.leavesShare)]
            case .allProjects(let times):
                return [Bucket(kind, of: "", values, shared.times(times), now, leavesShare: key.leavesShare)]
            case .usual: break
            }
            if isVouchedFor, kind.countsAddresses {
                return [Bucket(kind, of: project, values, settings.own(kind).map(key.narrowed) ?? shared, now)]
            }
            let own = settings.own(kind).map(key.narrowed).flatMap {
                $0 == shared ? nil : Bucket(kind, of: project, values, $0, now)
            }
            return (own.map { [$0] } ?? []) + [Bucket(kind, of: "", values, shared, now)]
        }
    }

    /// The limits of the deployment, which projects cannot set.
    package init(ofDeployment values: KeyValuePairs<RateLimitKind, [String]>, now: Date) {
        self.now = now
        buckets = values.map { kind, values in Bucket(kind, of: "", values, kind.standard, now) }
    }

    package var isEmpty: Bool { buckets.isEmpty }

    /// The number of buckets.
    var count: Int { buckets.count }

    /// The first buckets: those that let the request pass.
    func prefix(_ count: Int) -> RateLimits { RateLimits(buckets: Array(buckets.prefix(count)), now: now) }

    /// Needs room in the buckets of a kind, and writes them, but takes nothing.
    package func sparing(_ kind: RateLimitKind) -> RateLimits { changing(kind) { $0.taken = 0 } }

    /// Leaves a quarter of the buckets of a kind to other requests.
    package func leavingShare(of kind: RateLimitKind) -> RateLimits {
        changing(kind) { $0.latest.addTimeInterval(-$0.share) }
    }

    /// Leaves half as much.
    package func leavingHalfShare(of kind: RateLimitKind) -> RateLimits {
        changing(kind) { $0.latest.addTimeInterval(-$0.halfShare) }
    }

    private func changing(_ kind: RateLimitKind, _ change: (inout Bucket) -> Void) -> RateLimits {
        var changed = buckets
        for index in changed.indices where changed[index].kind == kind { change(&changed[index]) }
        return RateLimits(buckets: changed, now: now)
    }

    // MARK: Taking

    /// Parts of a statement, the last of which is the table `limits` with one row: `passed`, the number of buckets that
    /// had room.
    var taking: SQL { taking(where: nil) }

    /// - Parameter condition: on the request's number, as `n`.
    private func taking(where condition: SQL?) -> SQL {
        var parts: SQL = ""
        var sum: SQL = "0::int8"
        var previous: SQL = condition.map { "FROM (SELECT 1::int8 AS number) n WHERE \(sql: $0)" } ?? ""
        for (number, bucket) in buckets.enumerated() {
            let name: SQL = "l\(literal: Int64(number))"
            let until: SQL = "greatest(r.expires_at, \(now))"
            parts = """
                \(sql: parts) \(sql: name) AS (
                    INSERT INTO rate_limits AS r (project, key, expires_at)
                    SELECT \(bucket.project), \(bucket.key), \(sql: .later(than: "\(now)", by: "\(bucket.taken)")) \(sql: previous)
                    ON CONFLICT (project, key) DO UPDATE
                        SET expires_at = \(sql: .later(than: until, by: "\(bucket.taken)"))
                        WHERE \(sql: .later(than: until, by: "\(bucket.step)")) <= \(bucket.latest)
                    RETURNING key
                ),
                """
            sum = "\(sql: sum) + (SELECT count(*) FROM \(sql: name))"
            previous = "WHERE EXISTS (SELECT FROM \(sql: name))"
        }
        return "\(sql: parts) limits AS MATERIALIZED (SELECT \(sql: sum) AS passed)"
    }

    /// The same for the one request of a statement that others may share: as its number 1.
    private func takingAlone(where condition: SQL) -> SQL {
        """
        \(sql: taking(where: condition)), admitted AS MATERIALIZED (
            SELECT 1::int8 AS number FROM limits WHERE \(sql: havePassed)
        )
        """
    }

    /// Parts of a statement for several requests.
    ///
    /// The last part is the table `admitted`: the numbers, starting at 1, of the requests whose buckets had room.
    ///
    /// Requests that share a bucket are admitted together or not at all. A request with several buckets would take from all
    /// of them even if one refused it, so each has at most one (``count``).
    ///
    /// - Parameter condition: evaluated before a bucket is touched.
    static func taking(
        of requests: [RateLimits],
        shared: Bool,
        where condition: SQL = "true",
        now: Date
    ) -> SQL {
        guard shared else { return requests.first.map { $0.takingAlone(where: condition) } ?? "" }
        let wanted = zip(1..., requests).flatMap { number, limits in limits.buckets.map { (Int64(number), $0) } }
        let until: SQL = "greatest(r.expires_at, \(now)) + (EXCLUDED.expires_at - \(now))"
        return """
            wanted AS MATERIALIZED (
                SELECT * FROM unnest(\(wanted.map(\.0))::int8[], \(wanted.map(\.1.project))::text[],
                    \(wanted.map(\.1.key))::bytea[], \(wanted.map(\.1.step))::float8[],
                    \(wanted.map { $0.1.latest.timeIntervalSince(now) })::float8[]) n (number, project, key, step, room)
                WHERE \(sql: condition)
            ), taken AS (
                INSERT INTO rate_limits AS r (project, key, expires_at)
                SELECT project, key, \(sql: .later(than: "\(now)", by: "sum(step)")) FROM wanted
                GROUP BY project, key HAVING sum(step) <= min(room) ORDER BY project DESC, key
                ON CONFLICT (project, key) DO UPDATE SET expires_at = \(sql: until)
                    WHERE \(sql: until) <= \(now) + make_interval(secs => (
                        SELECT min(w.room) FROM wanted w WHERE w.project = r.project AND w.key = r.key
                    ))
                RETURNING project, key
            ), admitted AS MATERIALIZED (
                SELECT number FROM generate_series(1::int8, \(Int64(requests.count))) n (number) WHERE NOT EXISTS (
                    SELECT FROM wanted w
                    WHERE w.number = n.number AND (w.project, w.key) NOT IN (SELECT project, key FROM taken)
                )
            )
            """
    }

    /// Whether all buckets had room.
    var havePassed: SQL { "passed = \(buckets.count)" }

    /// Whether only the last bucket had no room.
    var onlyLastIsFull: SQL { "passed = \(buckets.count - 1)" }

    /// - Throws: ``RateLimitReached`` unless all buckets had room.
    func check(passed: Int64) throws(RateLimitReached) {
        guard let full = buckets.dropFirst(Int(passed)).first else { return }
        throw RateLimitReached(kind: full.kind)
    }

    /// Takes by a statement of their own.
    ///
    /// - Throws: ``RateLimitReached``.
    func take(_ executor: some PostgresExecutor) async throws {
        guard !isEmpty else { return }
        let passed = try await executor.query("WITH \(sql: taking) SELECT passed FROM limits") { row in
            try row.next(Int64.self)
        }
        try check(passed: passed.first ?? 0)
    }

    // MARK: Giving back

    /// The statements that return what was taken.
    var givingBack: [SQL] {
        runs.map { project, buckets in
            """
            UPDATE rate_limits r SET expires_at = \(sql: .later(than: "r.expires_at", by: "- g.step"))
            FROM (\(sql: Self.locked(buckets, of: project))) g WHERE r.project = \(project) AND r.key = g.key
            """
        }
    }

    /// The statements that empty the buckets.
    var emptying: [SQL] {
        runs.map { project, buckets in
            """
            DELETE FROM rate_limits r USING (\(sql: Self.locked(buckets, of: project))) g
            WHERE r.project = \(project) AND r.key = g.key
            """
        }
    }

    /// The buckets in the order in which they are taken, those of one project that follow each other together.
    private var runs: [(project: String, buckets: [Bucket])] {
        buckets.reduce(into: []) { runs, bucket in
            if runs.last?.project == bucket.project {
                runs[runs.count - 1].buckets.append(bucket)
            } else {
                runs.append((bucket.project, [bucket]))
            }
        }
    }

    private static func locked(_ buckets: [Bucket], of project: String) -> SQL {
        """
        SELECT l.key, n.step
        FROM unnest(\(buckets.map(\.key))::bytea[], \(buckets.map(\.step))::float8[]) WITH ORDINALITY n (key, step, number)
        JOIN rate_limits l ON l.project = \(project) AND l.key = n.key
        ORDER BY n.number FOR UPDATE OF l
        """
    }
}

/// A rate limit was reached.
package struct RateLimitReached: Error, Sendable {
    package var kind: RateLimitKind
}

/// Takes from buckets with a separate statement, for requests that run no other one.
package struct RateLimitStore: Sendable {
    let database: PostgresClient

    /// - Throws: ``RateLimitReached``.
    package func take(_ limits: RateLimits) async throws { try await limits.take(database) }

    /// Returns what was taken.
    package func giveBack(_ limits: RateLimits) async throws {
        guard !limits.isEmpty else { return }
        try await database.transaction { transaction in
            for statement in limits.givingBack { transaction.write(statement) }
        }
    }
}
