import Postgres
import Projects
import TestKit
import Testing
import Text

/// An account keeps the 200 sessions that were used last, and as many of applications.
@Suite("Session limit", .database, .testProvider)
struct SessionLimitTests {
    /// Every operation that opens a session for an account that may have others.
    private static let signIns = OperationCase.all.filter { example in
        let prefixes = [
            "signInWith", "finalizeMFASignIn", "finalizePasskeySignIn", "takeSignInStep", "performWithCookies",
        ]
        let others = [
            "new", "conflict", "signed-in", "first one", "another account", "before a second factor", "to a provider",
            "a take-over", "a code of the sign-in page", "a refresh",
        ]
        return prefixes.contains { example.name.hasPrefix($0) } && !others.contains { example.name.contains($0) }
    }

    @Test("T-E27: whatever signs in, 200 of an account's sessions are left with the new one", arguments: signIns)
    func signsIn(_ example: OperationCase) async throws {
        try await LinkingWorld.run(example.settings) { world in
            let project = world.service.project.id
            let request = try await example.prepare(world)
            try await open(300, of: project)
            let before = try await active(project)
            #expect((200..<400).contains(try await request().status))
            let after = try await active(project)
            let changed = after.filter { account, sessions in sessions.own != before[account]?.own }
            #expect(!changed.isEmpty)
            for (account, sessions) in changed {
                #expect(sessions.count == 200, "\(before[account]?.count ?? 0), then \(sessions.count)")
            }
        }
    }

    @Test("T-E27: the sessions used least recently end, the audit log says why, and those of applications count apart")
    func endsTheOldest() async throws {
        try await OAuthScene.run { scene in
            let service = scene.service
            let granted = try await scene.tokens()
            let project = service.project.id.rawValue
            let user = try await service.signInWithPassword(OAuthScene.email)
            try await open(300, of: service.project.id)
            // The three that the user opened were used last.
            service.clock.advance(by: 10)
            let again = try await service.signInWithPassword(OAuthScene.email)
            try await service.refresh(user.refreshToken).expectOK()
            try await service.refresh(again.refreshToken).expectOK()
            let left = try await database.query(
                """
                SELECT count(*), min(ltrim(session, 'old')::int)::int8 FROM sessions
                WHERE project = \(project) AND client IS NULL AND revoked_at IS NULL AND session LIKE 'old%'
                """
            ) { row in [try row.next(Int64.self), try row.next(Int64.self)] }
            #expect(left == [[196, 105]])
            let gone = try await database.query(
                """
                SELECT count(*) FROM audit_log WHERE project = \(project) AND changes = '{SESSION_LIMIT}'
                    AND action = 'SESSION_REVOKED' AND resource LIKE 'old%'
                """
            ) { try $0.next(Int64.self) }
            #expect(gone == [104])
            try await scene.refresh(granted["refresh_token"]?.string).expectOK()
        }
    }

    @Test("T-E27: an application's 201st grant ends its account's least recently used one, and no session of an app")
    func endsGrants() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.tokens()
            try await database.execute(
                """
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    created_at, last_used_at, client, application_grant)
                SELECT project, account, 'old' || lpad(n::text, 19, '0'), tenant, secret_hash, auth_time,
                    sign_in_provider, created_at, last_used_at - make_interval(secs => 400 - n), client, application_grant
                FROM sessions, generate_series(1, 300) n
                WHERE project = \(scene.service.project.id.rawValue) AND client IS NOT NULL
                """
            )
            _ = try await scene.redeem(scene.open().query["code"])
            let counts = try await database.query(
                """
                SELECT count(*) FILTER (WHERE client IS NOT NULL), count(*) FILTER (WHERE client IS NULL),
                    count(*) FILTER (WHERE session <= 'old' || lpad('102', 19, '0') AND session LIKE 'old%')
                FROM sessions WHERE project = \(scene.service.project.id.rawValue) AND revoked_at IS NULL
                """
            ) { row in [try row.next(Int64.self), try row.next(Int64.self), try row.next(Int64.self)] }
            #expect(counts == [[200, 2, 0]])
        }
    }

    @Test("T-E27: an application with more than a hundred grants ends its own, whoever's were used last")
    func sparesOtherApplications() async throws {
        try await OAuthScene.run { scene in
            _ = try await scene.tokens()
            let other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            try await database.execute(
                """
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    created_at, last_used_at, client, application_grant)
                SELECT project, account, c.prefix || lpad(n::text, 17, '0'), tenant, secret_hash, auth_time,
                    sign_in_provider, created_at, last_used_at - make_interval(secs => c.age - n), c.client, application_grant
                FROM sessions, generate_series(1, 100) n,
                    (VALUES ('other', \(other.clientID), 800), ('these', \(scene.clientID), 400)) c (prefix, client, age)
                WHERE project = \(scene.service.project.id.rawValue) AND sessions.client IS NOT NULL
                """
            )
            _ = try await scene.redeem(scene.open().query["code"])
            let counts = try await database.query(
                """
                SELECT count(*) FILTER (WHERE client = \(other.clientID)), count(*) FILTER (WHERE client = \(scene.clientID))
                FROM sessions WHERE project = \(scene.service.project.id.rawValue) AND revoked_at IS NULL
                """
            ) { row in [try row.next(Int64.self), try row.next(Int64.self)] }
            #expect(counts == [[99, 101]])
        }
    }

    @Test("T-E27: sign-ins that applications repeat end no grant with refresh tokens, however long ago that was used")
    func sparesRefreshing() async throws {
        try await OAuthScene.run { scene in
            let kept = try await scene.tokens()
            let other = try await OAuthScene.register(OAuthScene.publicClient(), at: scene.service)
            try await database.execute(
                """
                INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                    created_at, last_used_at, client, application_grant)
                SELECT project, account, 'again' || lpad(n::text, 17, '0'), tenant, secret_hash, auth_time,
                    sign_in_provider, created_at, last_used_at + interval '1 second',
                    CASE WHEN n % 2 = 0 THEN client ELSE \(other.clientID) END, application_grant || '{"refreshes": false}'
                FROM sessions, generate_series(1, 300) n
                WHERE project = \(scene.service.project.id.rawValue) AND client IS NOT NULL
                """
            )
            _ = try await scene.redeem(scene.open().query["code"])
            let counts = try await database.query(
                """
                SELECT count(*) FROM sessions
                WHERE project = \(scene.service.project.id.rawValue) AND revoked_at IS NULL AND client IS NOT NULL
                """
            ) { row in try row.next(Int64.self) }
            #expect(counts == [200])
            try await scene.refresh(kept["refresh_token"]?.string).expectOK()
        }
    }

    private var database: PostgresClient { TestDatabase.current.client }

    /// Opens sessions of every account, used one second after the other, the last one a while ago.
    private func open(_ count: Int, of project: ProjectID) async throws {
        try await database.execute(
            """
            INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider,
                created_at, last_used_at)
            SELECT project, account, 'old' || lpad(n::text, 19, '0'), tenant, ''::bytea, valid_since, 'password',
                created_at, created_at - make_interval(secs => 1000 - n)
            FROM accounts, generate_series(1, \(count)) n WHERE project = \(project.rawValue)
            """
        )
    }

    /// How many active sessions each account has, and those that ``open(_:of:)`` did not open.
    private func active(_ project: ProjectID) async throws -> [String: (count: Int64, own: String?)] {
        let rows = try await database.query(
            """
            SELECT account, count(*), string_agg(session, ' ' ORDER BY session) FILTER (WHERE session NOT LIKE 'old%')
            FROM sessions
            WHERE project = \(project.rawValue) AND revoked_at IS NULL AND client IS NULL GROUP BY account
            """
        ) { row in (try row.next(String.self), (count: try row.next(Int64.self), own: try row.next(String?.self))) }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}
