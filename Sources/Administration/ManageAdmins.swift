package import Domain
package import Projects
package import Secrets
package import Storage

/// Admins of the console.
package struct ManageAdmins: Sendable {
    let store: ConsoleStore
    let configuration: ConfigurationStore

    package func list() async throws -> [ConsoleStore.ListedAdmin] {
        try await store.listAdmins(now: configuration.now())
    }

    /// - Parameter project: the only project that the admin can access; nil for all.
    /// - Returns: the setup code, which is stored nowhere.
    /// - Throws: ``Storage/ConfigurationError/alreadyExists``.
    package func create(_ email: EmailAddress, in project: ProjectID?, _ grant: AdminGrant) async throws -> Secret {
        let now = configuration.now()
        return try await store.createAdmin(
            email,
            project: project,
            scopes: grant.scopes,
            expiresAt: grant.end(from: now),
            now: now
        ).code
    }

    /// Revokes an admin and ends their sessions on every node immediately.
    ///
    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func revoke(_ email: EmailAddress) async throws {
        try await store.revokeAdmin(email, now: configuration.now())
    }

    /// Removes an admin's password and authenticator app, and ends their sessions.
    ///
    /// - Returns: the code for setting new ones.
    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func reset(_ email: EmailAddress) async throws -> Secret {
        try await store.resetAdmin(email, now: configuration.now())
    }
}
