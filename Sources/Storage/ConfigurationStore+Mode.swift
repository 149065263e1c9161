import Postgres

extension ConfigurationStore {
    /// The mode that created the database's data.
    package enum Mode: String, Sendable {
        case serve
        case dev
    }

    package func mode() async throws -> Mode {
        let modes = try await database.query("SELECT mode FROM configuration") { try $0.next(String.self) }
        return modes.first.flatMap(Mode.init(rawValue:)) ?? .serve
    }

    /// Marks the database as created by `identity dev`; `serve` refuses it from then on.
    package func markAsDevelopment() async throws {
        try await database.execute("UPDATE configuration SET mode = 'dev' WHERE mode <> 'dev'")
    }
}
