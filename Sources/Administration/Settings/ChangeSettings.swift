package import Projects
import Storage

import struct Foundation.Date

/// Changes a project's settings.
package struct ChangeSettings: Sendable {
    let configuration: ConfigurationStore
    let deployment: Deployment

    /// Applies all changes or none; simultaneous changes of other settings stay.
    ///
    /// - Parameters:
    ///   - version: of the settings that the admin saw; nil changes any.
    ///   - isOfService: whether the admin may change every project. Only then may the project's URL change, because a host
    ///     is the service's to give (threats.md, T-D33).
    /// - Returns: the project afterwards.
    /// - Throws: ``AdministrationError``; ``Storage/ConfigurationError/notFound``.
    package func callAsFunction(
        _ changes: [SettingChange],
        of project: ProjectID,
        ifVersion version: String? = nil,
        isOfService: Bool = false
    ) async throws -> Project {
        do {
            return try await write(changes, of: project, ifVersion: version, isOfService: isOfService)
        } catch ConfigurationError.alreadyExists {
            throw AdministrationError.invalid("\(Setting.publicURL) is another project's.")
        }
    }

    private func write(
        _ changes: [SettingChange],
        of project: ProjectID,
        ifVersion version: String?,
        isOfService: Bool
    ) async throws -> Project {
        try await configuration.updateSettings(of: project) { settings in
            if let version, try configuration.version(of: settings) != version {
                throw AdministrationError.changedMeanwhile
            }
            let (ownURL, wasLimited) = (settings.publicURL, settings.rateLimits.isEnabled)
            let signedWithES256 = settings.signWithES256
            var changed: [String] = []
            for change in changes {
                var before = settings
                try change.apply(&settings)
                // A value that is now given, and was the default before, is no other value.
                before.given = settings.given
                if settings != before { changed.append(change.path) }
            }
            if settings.publicURL != ownURL {
                guard isOfService else { throw AdministrationError.ofServiceOnly(setting: Setting.publicURL) }
                guard settings.publicURL == nil || settings.publicURL?.authority != deployment.serviceURL?.authority
                else {
                    throw AdministrationError.invalid("\(Setting.publicURL) must not be the service's own URL.")
                }
            }
            let signsWithES256 = settings.signWithES256
            settings.signWithES256 = signedWithES256
            settings.sign(withES256: signsWithES256, from: Int64(configuration.now().timeIntervalSince1970))
            // Without them, what counts over all projects does not count here (threats.md, T-E8).
            if wasLimited, !settings.rateLimits.isEnabled, !isOfService {
                throw AdministrationError.ofServiceOnly(setting: Setting.rateLimitsEnabled)
            }
            if changed.contains(where: { $0 == Setting.tokenIssuer || $0 == Setting.publicURL }),
                settings.tokenIssuer == .own, settings.publicURL ?? deployment.serviceURL == nil
            {
                throw AdministrationError.invalid("\(Setting.tokenIssuer) own requires http.publicURL.")
            }
            return changed
        }
    }
}
