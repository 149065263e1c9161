package import Postgres
package import Projects
import Secrets

extension ServiceAccountKey: AdminCredentialKind {
    package static let kind = "service_account"
    package static let columns: SQL = ", email, public_key"
    package static let revoked = AuditAction.serviceAccountRevoked

    package init?(_ credential: AdminCredential, _ row: inout PostgresRow) throws {
        let (email, publicKey): (String?, [UInt8]?) = (try row.next(), try row.next())
        guard let email, let publicKey, credential.project != nil else { return nil }
        self.init(credential: credential, email: email, publicKey: publicKey)
    }
}

extension ConfigurationStore {
    /// Registers a key of a service account on every node within half a second.
    ///
    /// - Throws: ``ConfigurationError/alreadyExists`` for a registered key, ``ConfigurationError/notFound`` without the
    ///   project.
    package func create(_ key: ServiceAccountKey) async throws {
        try await create(
            key.credential,
            as: ServiceAccountKey.self,
            .serviceAccountCreated,
            secret: SecureHash.sha256(key.publicKey),
            values: ", \(key.email), \(key.publicKey)"
        )
    }
}
