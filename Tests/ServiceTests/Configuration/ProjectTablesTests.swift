import Postgres
import Storage
import TestKit
import Testing

/// What belongs to a project goes with it.
@Suite("Tables of projects", .database)
struct ProjectTablesTests {
    @Test("the deletion of a project reaches every table that has one, but for the audit log")
    func everyTable() async throws {
        let tables: [String] = try await TestDatabase.current.client.query(
            """
            SELECT table_name::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name = 'project' AND table_name <> 'projects'
                AND table_name NOT LIKE 'audit%'
            """
        ) { try $0.next() }
        #expect(Set(ConfigurationStore.tablesOfProjects.map(\.text)) == Set(tables))
    }
}
