import Domain
package import Postgres
package import Projects
import Secrets
import StrictJSON

import struct Foundation.Date

extension Workload: AdminCredentialKind {
    package static let kind = "workload"
    package static let columns: SQL = ", issuer, jwks, audience, claims, token_lifetime"
    package static let selected: SQL = ", issuer, jwks, audience, claims::text, token_lifetime"
    package static let revoked = AuditAction.workloadRevoked

    package init?(_ credential: AdminCredential, _ row: inout PostgresRow) throws {
        let (issuer, jwks, audience): (String?, String?, String?) = (try row.next(), try row.next(), try row.next())
        let (claims, lifetime): (String?, Int64?) = (try row.next(), try row.next())
        guard let issuer, let audience, let lifetime,
            let claims = claims.flatMap({ try? JSONValue(parsing: Array($0.utf8)) })?.object
        else { return nil }
        let values = claims.members.map { ($0.name, $0.value.string) }
        // A condition that cannot be read must not be left out.
        guard values.allSatisfy({ $0.1 != nil }) else { return nil }
        self.init(
            credential: credential,
            issuer: issuer,
            jwks: jwks,
            audience: audience,
            claims: Dictionary(values.map { ($0, $1 ?? "") }) { first, _ in first },
            tokenLifetime: lifetime
        )
    }
}

extension ConfigurationStore {
    /// Registers a workload on every node within half a second.
    ///
    /// - Returns: with its new ID.
    /// - Throws: ``ConfigurationError/notFound`` without the project.
    package func create(_ workload: Workload) async throws -> Workload {
        var workload = workload
        workload.id = newCredentialID()
        let claims = JSONObject(
            workload.claims.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }
        )
        try await create(
            workload.credential,
            as: Workload.self,
            .workloadCreated,
            // It has no secret, and no token has this hash.
            secret: SecureHash.sha256(random.handle()),
            values: """
                , \(workload.issuer), \(workload.jwks), \(workload.audience), \(JSONValue.object(claims).jsonText)::jsonb,
                \(workload.tokenLifetime)
                """
        )
        return workload
    }

    /// Records that a workload's token was exchanged, for all projects and nodes.
    ///
    /// - Parameters:
    ///   - token: its hash.
    ///   - end: seconds since 1970; until then no other exchange succeeds.
    /// - Returns: false if it was exchanged before, or if the workload is revoked.
    package func exchangeToken(
        _ token: [UInt8],
        until end: Int64,
        of workload: Workload,
        for scopes: Set<AdminScope>
    ) async throws -> Bool {
        let entry = AuditEntry(
            .accessTokenGranted,
            in: workload.project.map { Scope(project: $0) },
            resource: workload.id,
            changes: scopes.map(\.rawValue).sorted(),
            at: now()
        )
        do {
            return try await database.transaction { transaction in
                let standing = try await transaction.query(
                    """
                    SELECT true FROM admin_credentials WHERE id = \(workload.id) AND kind = 'workload' AND NOT disabled
                    FOR SHARE
                    """
                ) { try $0.next(Bool.self) }
                guard standing == [true] else { return false }
                transaction.write(
                    """
                    INSERT INTO used_id_tokens (project, token_hash, expires_at)
                    VALUES ('', \(token), \(Date(timeIntervalSince1970: Double(end))))
                    """
                )
                transaction.write(entry.insertion())
                return true
            }
        } catch let error as PostgresError where error.constraint == "used_id_tokens_pkey" {
            return false
        }
    }
}
