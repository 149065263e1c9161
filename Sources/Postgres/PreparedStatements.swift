/// The statements that one connection has prepared, by text and parameter types.
final class PreparedStatements {
    private struct Key: Hashable {
        let text: String
        let types: [PostgresType]

        init(_ sql: SQL) {
            text = sql.text
            types = sql.parameters.list.map(\.type)
        }
    }

    private var names: [Key: String] = [:]
    private var made = 0

    /// Texts come from the source code, so their number is limited; this guards against unlimited combinations.
    var isFull: Bool { names.count >= 500 }

    var nextName: String { "s\(made)" }

    func name(of sql: SQL) -> String? { names[Key(sql)] }

    /// Stores the statement under `nextName`.
    func insert(_ sql: SQL) {
        names[Key(sql)] = nextName
        made += 1
    }

    func remove(_ sql: SQL) { names[Key(sql)] = nil }

    func removeAll() { names = [:] }
}
