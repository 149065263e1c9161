package import Projects
import Storage

/// Creates and deletes projects.
package struct ManageProjects: Sendable {
    let configuration: ConfigurationStore

    /// Creates a project, and an API key for its apps.
    ///
    /// Beside another project, it gets a redirect URI of its own (threats.md, T-B3).
    ///
    /// - Throws: ``Storage/ConfigurationError/alreadyExists``.
    package func create(_ id: ProjectID) async throws -> (project: Project, key: APIKey) {
        var settings = ProjectSettings()
        settings.ownCallback = !configuration.snapshot.allProjects.isEmpty
        let project = try await configuration.createProject(id, settings: settings)
        let key = try await configuration.createAPIKey(for: id, displayName: "default")
        return (project, key)
    }

    /// Deletes a project with everything that belongs to it, except its audit log.
    ///
    /// Nodes learn of it within a second, and may have written to it until then: what they wrote goes too.
    ///
    /// - Parameter pause: passes the time until then.
    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func delete(
        _ id: ProjectID,
        pause: (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async throws {
        try await configuration.deleteProject(id)
        try await pause(.seconds(2))
        try await configuration.deleteLeftovers(of: id)
    }
}
