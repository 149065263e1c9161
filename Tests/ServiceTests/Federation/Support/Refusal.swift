import Postgres
import Projects
import TestKit
import Testing

/// Everything that a project keeps about people, as counts and digests.
struct Footprint: Equatable, CustomStringConvertible {
    private var rows: [String: String] = [:]

    /// Of the suite's database.
    init(of service: TestService, in database: PostgresClient = TestDatabase.current.client) async throws {
        let project = service.project.id.rawValue
        let tables: [SQL] = [
            "accounts", "account_activity", "account_emails", "account_phones", "credential_subjects",
            "linked_credentials", "sessions", "pending_credentials", "used_id_tokens",
        ]
        let parts = tables.map { table -> SQL in
            """
            SELECT '\(sql: table)', count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '')
            FROM \(sql: table) t WHERE project = \(project)
            """
        }
        let all = parts.dropFirst().reduce(parts[0]) { "\(sql: $0) UNION ALL \(sql: $1)" }
        for (table, digest) in try await database.query(all, { (try $0.next(String.self), try $0.next(String.self)) }) {
            rows[table] = digest
        }
    }

    var description: String { rows.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "\n") }
}

extension ProviderScene {
    /// Expects a refusal in the envelope of the accounts API, which leaves everything as it was.
    ///
    /// - Parameter message: the whole `error.message`; nil for any.
    @discardableResult
    func refuses(
        _ message: String?,
        status: Int = 400,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ attempt: () async throws -> Reply
    ) async throws -> Reply {
        let before = try await Footprint(of: service)
        let reply = try await attempt()
        let after = try await Footprint(of: service)
        #expect(before == after, "a refusal left something behind: \(reply)", sourceLocation: sourceLocation)
        #expect(reply.status == status, "\(reply)", sourceLocation: sourceLocation)
        if let message { #expect(reply.error == message, sourceLocation: sourceLocation) }
        reply.checkEnvelope(sourceLocation: sourceLocation)
        return reply
    }
}

extension Reply {
    /// Holds an error to the envelope of the accounts API.
    func checkEnvelope(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(idToken == nil && refreshToken == nil && localID == nil, "\(self)", sourceLocation: sourceLocation)
        #expect(response.header("content-type") == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        let error = json["error"]
        #expect(error?["code"]?.number == Double(status), sourceLocation: sourceLocation)
        #expect(error?["message"]?.string?.isEmpty == false, "\(self)", sourceLocation: sourceLocation)
        guard status == 400 else { return }
        // The envelope of v2 has a status instead.
        guard error?["status"] == nil else { return }
        #expect(error?["errors"]?[0]?["message"] == error?["message"], sourceLocation: sourceLocation)
        #expect(error?["errors"]?[0]?["domain"] == "global", sourceLocation: sourceLocation)
        #expect(error?["errors"]?[0]?["reason"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    }
}
