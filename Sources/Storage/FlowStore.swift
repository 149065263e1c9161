package import Federation
package import Foundation
package import Linking
package import Postgres
package import Projects
package import Secrets

/// Authorization requests between the redirect to the provider and the callback.
package struct FlowStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing

    package init(database: PostgresClient, keyRing: KeyRing) {
        self.database = database
        self.keyRing = keyRing
    }

    /// What the person set out to do when the flow began.
    package enum Purpose: String, Sendable {
        case signIn
        case link
        case reauthenticate
    }

    /// A flow that was consumed.
    package struct Consumed: Sendable {
        package var provider: ProviderID
        package var purpose: Purpose
        package var context: String?
        package var flow: AuthorizationFlow
    }

    /// Stores a flow under the hash of its state.
    ///
    /// - Parameter sessionID: the secret that proves at the end that the same client finishes; only its hash is kept.
    package func insert(
        _ flow: AuthorizationFlow,
        state: Secret,
        sessionID: Secret,
        purpose: Purpose,
        context: String?,
        in scope: Scope,
        now: Date,
        lifetime: TimeInterval
    ) async throws {
        let stateHash = SecureHash.sha256(state.reveal())
        let payload = try keyRing.seal(json: flow, for: Self.place(scope.project, stateHash))
        try await database.execute(
            """
            INSERT INTO flows (project, state_hash, tenant, provider, session_hash, purpose, context, payload,
                created_at, expires_at)
            VALUES (\(scope.project.rawValue), \(stateHash), \(scope.tenant.rawValue), \(flow.provider.rawValue),
                \(SecureHash.sha256(sessionID.reveal())), \(purpose.rawValue), \(context), \(payload), \(now),
                \(now.addingTimeInterval(lifetime)))
            """
        )
    }

    /// Ends a flow, once: the one conditional statement decides between callbacks that arrive together.
    ///
    /// The caller proves itself by the session id that the flow began with, or by a value whose SHA-256 in hexadecimal
    /// was that id (iOS hands the handler the hash and keeps the value).
    /// - Returns: nil when the state is unknown, expired, used, or of another client, project or tenant.
    package func consume(state: String, sessionID: String, in scope: Scope, now: Date) async throws -> Consumed? {
        let stateHash = SecureHash.sha256(state)
        let proofs = [SecureHash.sha256(sessionID), SecureHash.sha256(SecureHash.sha256Hex(sessionID))]
        let rows = try await database.query(
            """
            UPDATE flows SET consumed_at = \(now)
            WHERE project = \(scope.project.rawValue) AND state_hash = \(stateHash)
                AND tenant = \(scope.tenant.rawValue) AND session_hash = ANY(\(proofs))
                AND consumed_at IS NULL AND expires_at > \(now)
            RETURNING provider, purpose, context, payload
            """
        ) { row in
            (
                try row.next(String.self), try row.next(String.self), try row.next(String?.self),
                try row.next([UInt8].self)
            )
        }
        guard let (provider, purpose, context, payload) = rows.first, let purpose = Purpose(rawValue: purpose) else {
            return nil
        }
        return Consumed(
            provider: ProviderID(provider),
            purpose: purpose,
            context: context,
            flow: try keyRing.openJSON(payload, for: Self.place(scope.project, stateHash))
        )
    }

    private static func place(_ project: ProjectID, _ stateHash: [UInt8]) -> String {
        "flows/\(project)/\(stateHash.lowercaseHex)"
    }
}
