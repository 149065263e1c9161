import Postgres
import Projects
import Testing
import TestKit

/// Every operation while each account has a twin in another tenant: the same ID, with the same sessions, credentials and
/// codes.
@Suite("Accounts of the same ID in another tenant", .database, .testProvider, .serialized)
struct TenantTwinTests {
    @Test("T-D1: no operation changes or shows a twin", arguments: OperationCase.all)
    func isolates(_ example: OperationCase) async throws {
        var options = LinkingWorld.options(example.settings)
        // Alone, a statement finds by their keys the rows that others find again by their place.
        options.batches = false
        try await TestService.run(options) { service in
            let world = try await LinkingWorld(service)
            let request = try await example.prepare(world)
            let twins = try await Twins(of: service.project.id)
            let reply = try await request()
            #expect((200..<400).contains(reply.status), "\(reply)")
            #expect(!"\(reply)\(reply.claims)".contains(Twins.mark), "\(reply)")
            #expect(try await twins.changed() == [])
        }
    }
}

/// Copies of all accounts of a project and its tenants, with what they hold, in tenants of their own.
private struct Twins {
    /// What everybody may read of a twin, in place of its profile.
    static let mark = "TwinOfAnotherTenant"

    private let project: String
    private let tables: [String]
    private var before: [String: String] = [:]

    /// What each table's rows are found by besides the tenant, as a key of the project.
    private static let handles = [
        "account_merges": "merge", "flows": "state_hash", "oob_codes": "code_hash",
        "pending_credentials": "handle_hash", "verification_codes": "session_hash",
    ]

    private static let shown: Set<String> = ["display_name", "photo_url", "screen_name", "user_agent"]

    init(of project: ProjectID) async throws {
        self.project = project.rawValue
        // Of what belongs to a tenant, all but its configuration, its records, and messages on their way.
        let columns = try await TestDatabase.current.client.query(
            """
            SELECT c.table_name::text, c.column_name::text, c.data_type::text
            FROM information_schema.columns c
            JOIN information_schema.columns t USING (table_schema, table_name)
            WHERE c.table_schema = current_schema() AND t.column_name = 'tenant' AND t.is_nullable = 'NO'
                AND NOT c.table_name ~ '^(audit_log.*|sign_in_counts|tenants|provider_configurations)$'
            ORDER BY c.table_name, c.ordinal_position
            """
        ) { row in
            (table: try row.next(String.self), name: try row.next(String.self), type: try row.next(String.self))
        }
        tables = Set(columns.map(\.table)).sorted()
        for table in tables {
            let own = columns.filter { $0.table == table }
            let values = own.map { column -> SQL in
                switch column.name {
                case "tenant": "tenant || '-twin'"
                case Self.handles[table] where column.type == "bytea":
                    "sha256(\(identifier: column.name) || 'twin'::bytea)"
                case Self.handles[table]: "\(identifier: column.name) || '-twin'"
                case let name where Self.shown.contains(name): "\(Self.mark)::text"
                case let name: "\(identifier: name)"
                }
            }
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO \(identifier: table) (\(sql: Self.list(own.map { "\(identifier: $0.name)" })))
                SELECT \(sql: Self.list(values)) FROM \(identifier: table) WHERE project = \(project.rawValue)
                """
            )
        }
        before = try await read()
    }

    /// The tables in which a twin is no longer what it was.
    func changed() async throws -> [String] {
        let after = try await read()
        return tables.filter { after[$0] != before[$0] }
    }

    private func read() async throws -> [String: String] {
        var found: [String: String] = [:]
        for table in tables {
            found[table] = try await TestDatabase.current.client.query(
                """
                SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') FROM \(identifier: table) t
                WHERE project = \(project) AND tenant LIKE '%-twin'
                """
            ) { try $0.next(String.self) }.first
        }
        return found
    }

    private static func list(_ parts: [SQL]) -> SQL {
        parts.dropFirst().reduce(parts[0]) { "\(sql: $0), \(sql: $1)" }
    }
}
