import Federation
package import Foundation
import Postgres
package import Projects
package import Secrets

extension FlowStore {
    /// Records that a flow's browser has returned from the provider, once; the flow continues until the client finishes
    /// it.
    ///
    /// - Parameters:
    ///   - browser: the secret that the flow started with.
    ///   - isOver: whether the provider refused the sign-in, which ends the flow.
    /// - Returns: nil if the state is unknown, expired, used, of another browser or project, or has returned before.
    package func noteReturn(
        state: String,
        browser: Secret,
        isOver: Bool,
        in scope: Scope,
        now: Date
    ) async throws -> Consumed? {
        let stateHash = SecureHash.sha256(state)
        let condition: SQL = """
            project = \(scope.project.rawValue) AND state_hash = \(stateHash) AND tenant = \(scope.tenant.rawValue)
                AND browser_hash = \(SecureHash.sha256(browser.reveal())) AND expires_at > \(now)
                AND returned_at IS NULL
            """
        let change: SQL =
            isOver
            ? "DELETE FROM flows WHERE \(sql: condition)"
            : "UPDATE flows SET returned_at = \(now) WHERE \(sql: condition)"
        let rows = try await database.query(
            "\(sql: change) RETURNING provider, purpose, context, payload"
        ) { row in try FlowRow(&row) }
        guard let row = rows.first ?? nil else { return nil }
        return try open(row, stateHash, in: scope)
    }
}
