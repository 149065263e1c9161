package import Projects
package import Sessions
import Storage
import struct Foundation.Date

/// The keys with which back ends sign for their project.
package struct ManageServiceAccounts: Sendable {
    let configuration: ConfigurationStore

    /// - Returns: the registered key, and the pair whose private half is stored nowhere.
    /// - Throws: ``AdministrationError/invalid(_:)``.
    package func create(
        name: String,
        in project: ProjectID,
        _ grant: AdminGrant
    ) async throws -> (key: ServiceAccountKey, pair: ServiceAccountKeyPair) {
        guard ServiceAccountKey.isName(name) else {
            throw AdministrationError.invalid(
                "'\(name)' is not a name: 6 to 30 of a-z, 0-9 and -, starting with a letter"
            )
        }
        let pair = try ServiceAccountKeyPair.generate()
        let key = ServiceAccountKey(
            id: pair.id,
            email: ServiceAccountKey.email(name: name, project: project),
            project: project,
            scopes: grant.scopes,
            publicKey: pair.publicKey,
            expiresAt: grant.end(from: configuration.now()).map { Int64($0.timeIntervalSince1970) }
        )
        try await configuration.createServiceAccountKey(key, name: name)
        return (key, pair)
    }

    /// - Parameter project: nil for any.
    /// - Throws: ``Storage/ConfigurationError/notFound`` for a key that is unknown, another project's or revoked.
    package func revoke(_ key: String, of project: ProjectID? = nil) async throws {
        try await configuration.revokeServiceAccountKey(key, of: project)
    }
}
