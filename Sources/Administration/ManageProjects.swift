package import Projects
import Storage

/// Creates and deletes projects.
package struct ManageProjects: Sendable {
    let configuration: ConfigurationStore

    /// Creates a project, and an API key for its apps.
    ///
    /// - Throws: ``Storage/ConfigurationError/alreadyExists``.
    package func create(_ id: ProjectID) async throws -> (project: Project, key: APIKey) {
        let project = try await configuration.createProject(id, settings: ProjectSettings())
        let key = try await configuration.createAPIKey(for: id, displayName: "default")
        return (project, key)
    }

    /// Deletes a project with everything that belongs to it, except its audit log.
    ///
    /// - Throws: ``Storage/ConfigurationError/notFound``.
    package func delete(_ id: ProjectID) async throws { try await configuration.deleteProject(id) }
}
