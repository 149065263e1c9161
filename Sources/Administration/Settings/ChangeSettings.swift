package import Projects
import Storage

/// Changes a project's settings.
package struct ChangeSettings: Sendable {
    let configuration: ConfigurationStore
    let deployment: Deployment

    /// Applies all changes or none; simultaneous changes of other settings stay.
    ///
    /// - Parameter version: of the settings that the admin saw; nil changes any.
    /// - Returns: the project afterwards.
    /// - Throws: ``AdministrationError``; ``Storage/ConfigurationError/notFound``.
    package func callAsFunction(
        _ changes: [SettingChange],
        of project: ProjectID,
        ifVersion version: String? = nil
    ) async throws -> Project {
        try await configuration.updateSettings(of: project) { settings in
            if let version, try configuration.version(of: settings) != version {
                throw AdministrationError.changedMeanwhile
            }
            var changed: [String] = []
            for change in changes {
                let before = settings
                try change.apply(&settings)
                if settings != before { changed.append(change.path) }
            }
            if changes.contains(where: { $0.path == Setting.tokenIssuer }), settings.tokenIssuer == .own,
                configuration.snapshot.project(project).flatMap({ deployment.publicURL(of: $0) }) == nil
            {
                throw AdministrationError.invalid("\(Setting.tokenIssuer) own requires http.publicURL.")
            }
            return changed
        }
    }
}
