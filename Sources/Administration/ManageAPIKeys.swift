package import Projects
package import Storage

/// The public keys with which apps name their project.
package struct ManageAPIKeys: Sendable {
    let configuration: ConfigurationStore

    /// All of a project, including revoked ones.
    package func list(of project: ProjectID) async throws -> [ConfigurationStore.ListedAPIKey] {
        try await configuration.listAPIKeys(of: project)
    }

    /// - Throws: ``Storage/ConfigurationError/notFound`` without the project.
    package func create(for project: ProjectID, name: String?) async throws -> APIKey {
        try await configuration.createAPIKey(for: project, displayName: name)
    }

    /// - Parameter project: nil for any.
    /// - Throws: ``Storage/ConfigurationError/notFound`` for a key that is unknown, another project's or revoked.
    package func revoke(_ key: APIKey, of project: ProjectID? = nil) async throws {
        try await configuration.revokeAPIKey(key, of: project)
    }
}
