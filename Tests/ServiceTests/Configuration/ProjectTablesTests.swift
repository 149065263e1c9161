import Administration
import Postgres
import Projects
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

    @Test("T-D34: who signs up while a project is deleted is in no project, and not in the next one with its ID")
    func leftovers() async throws {
        try await TestService.run { service in
            let (configuration, id) = (service.stores.configuration, service.project.id)
            func count() async throws -> [Int64] {
                try await TestDatabase.current.client.query(
                    "SELECT count(*) FROM accounts WHERE project = \(id.rawValue)"
                ) { try $0.next() }
            }
            /// As a node does that does not know yet that the project is gone.
            func signUpLate() async throws {
                try await TestDatabase.current.client.execute(
                    """
                    INSERT INTO accounts (project, account, tenant, methods, valid_since, email, created_at)
                    VALUES (\(id.rawValue), 'thief', '', '{}', 0, 'ada@example.com', now())
                    """
                )
                try await TestDatabase.current.client.execute(
                    """
                    INSERT INTO account_emails (project, tenant, email_key, account)
                    VALUES (\(id.rawValue), '', 'ada@example.com', 'thief')
                    """
                )
            }
            try await service.signUp("ada@example.com").expectOK()
            let projects = AdministrationService(stores: service.stores).projects
            try await projects.delete(id) { _ in try await signUpLate() }
            #expect(try await count() == [0])

            try await signUpLate()
            let again = try await configuration.createProject(id, settings: service.project.settings)
            #expect(try await count() == [0] && again.number != service.project.number)
            let key = try await configuration.createAPIKey(for: id, displayName: nil)
            let body: JSON = ["email": "ada@example.com", "password": "correct horse"]
            let signUp = try await service.post("/v1/accounts:signUp?key=\(key.rawValue)", text: body.text)
            signUp.expectOK()
            // The accounts of a project that is there stay, also when its creation is tried again.
            try await configuration.deleteLeftovers(of: id)
            await #expect(throws: ConfigurationError.alreadyExists) {
                try await configuration.createProject(id, settings: service.project.settings)
            }
            #expect(try await count() == [1])
        }
    }
}
