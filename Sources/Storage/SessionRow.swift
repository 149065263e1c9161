import Domain
import Postgres
import Sessions

/// The columns of a session that operations read.
enum SessionRow {
    static let columns: SQL = """
        s.session, s.auth_time, s.sign_in_provider, s.claims, s.sign_in_attributes, s.second_factor,
        s.second_factor_identifier, s.generation, s.client, s.revoked_at IS NOT NULL
        """

    /// The session of a table's row that names its account, as a table to join laterally; see ``AccountRow/keyed(by:account:_:)``.
    static func keyed(by row: SQL, session: SQL, columns: SQL = "*", _ place: Placement) -> SQL {
        """
        LATERAL (
            SELECT \(sql: columns) FROM sessions
            WHERE project = \(sql: place.project(of: row)) AND tenant = \(sql: row).tenant AND account = \(sql: row).account
                AND session = \(sql: session) OFFSET 0
        )
        """
    }

    /// Nil if the row has no session.
    static func decode(_ row: inout PostgresRow) throws -> StoredSession? {
        let id: String? = try row.next()
        let authTime: Int64? = try row.next()
        let provider: String? = try row.next()
        let claims: String? = try row.next()
        let attributes: String? = try row.next()
        let kind: String? = try row.next()
        let enrollment: String? = try row.next()
        let generation: Int32? = try row.next()
        let client: String? = try row.next()
        let revoked: Bool? = try row.next()
        guard let id = id.flatMap(SessionID.init(rawValue:)), let authTime, let provider, let generation, let revoked
        else { return nil }
        return StoredSession(
            id: id,
            authTime: authTime,
            signInProvider: ProviderID(provider),
            claims: claims,
            signInAttributes: attributes,
            secondFactor: kind.flatMap { kind in
                enrollment.map { IDTokenClaims.SecondFactor(kind: kind, enrollment: $0) }
            },
            generation: Int(generation),
            client: client,
            revoked: revoked
        )
    }
}
