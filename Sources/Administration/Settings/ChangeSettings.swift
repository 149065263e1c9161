package import Projects
import Storage

import struct Foundation.Date

/// Changes a project's settings.
package struct ChangeSettings: Sendable {
    let configuration: ConfigurationStore
    let deployment: Deployment
    let limits: DeploymentLimits
    /// A small file at a URL; nil for anything but a success.
    let read: @Sendable (String, ProjectID) async throws -> [UInt8]?

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
        let proved = isOfService ? [] : try await provedAppURLs(changes, of: project)
        do {
            return try await write(changes, of: project, ifVersion: version, isOfService: isOfService, proved)
        } catch ConfigurationError.alreadyExists {
            throw AdministrationError.invalid("\(Setting.publicURL) is another project's.")
        }
    }

    private func write(
        _ changes: [SettingChange],
        of project: ProjectID,
        ifVersion version: String?,
        isOfService: Bool,
        _ proved: Set<PublicURL>
    ) async throws -> Project {
        try await configuration.updateSettings(of: project) { settings in
            if let version, try configuration.version(of: settings) != version {
                throw AdministrationError.changedMeanwhile
            }
            let (ownURL, appURLs, wasLimited) = (
                settings.publicURL, settings.appURLs, settings.rateLimits.isEnabled
            )
            let before = settings
            let signedWithES256 = settings.signWithES256
            var changed: [String] = []
            for change in changes {
                var before = settings
                try change.apply(&settings)
                // A value that is now given, and was the default before, is no other value.
                before.given = settings.given
                if settings != before { changed.append(change.path) }
            }
            try refuseIdle(settings.rateLimits, before: before.rateLimits)
            if settings.signUpQuota != before.signUpQuota { settings.signUpQuota.setAt = configuration.now() }
            if settings.publicURL != ownURL {
                guard isOfService else { throw AdministrationError.ofServiceOnly(setting: Setting.publicURL) }
                guard settings.publicURL == nil || settings.publicURL?.authority != deployment.serviceURL?.authority
                else {
                    throw AdministrationError.invalid("\(Setting.publicURL) must not be the service's own URL.")
                }
            }
            // Its flows would end where other projects' end (threats.md, T-B3).
            if before.ownCallback, !settings.ownCallback, !isOfService {
                throw AdministrationError.ofServiceOnly(setting: Setting.callback)
            }
            guard isOfService || proved.isSuperset(of: Set(settings.appURLs).subtracting(appURLs)) else {
                throw AdministrationError.changedMeanwhile
            }
            let signsWithES256 = settings.signWithES256
            settings.signWithES256 = signedWithES256
            settings.sign(withES256: signsWithES256, from: Int64(configuration.now().timeIntervalSince1970))
            // All projects have the node's domain for their emails, so no project chooses whose they look like.
            if let sender = changed.first(where: { $0.hasSuffix(".senderLocalPart") }), !isOfService {
                throw AdministrationError.ofServiceOnly(setting: sender)
            }
            let (mails, ownMails) = (RateLimitKind.mailsPerProject.standard, settings.rateLimits[.mailsPerProject])
            if ownMails != before.rateLimits[.mailsPerProject], ownMails.narrowed(to: mails) != ownMails, !isOfService {
                throw AdministrationError.ofServiceOnly(setting: "identity.rateLimits.mailsPerProject")
            }
            // Without them, what counts over all projects does not count here (threats.md, T-E8).
            if wasLimited, !settings.rateLimits.isEnabled, !isOfService {
                throw AdministrationError.ofServiceOnly(setting: Setting.rateLimitsEnabled)
            }
            // Both name the project's issuer.
            let named = [
                (Setting.tokenIssuer, "own ", settings.tokenIssuer == .own),
                (Setting.oauthEnabled, "", settings.oauth.isEnabled),
            ]
            for (path, value, isOn) in named where isOn && settings.publicURL ?? deployment.serviceURL == nil {
                guard changed.contains(path) || changed.contains(Setting.publicURL) else { continue }
                throw AdministrationError.invalid("\(path) \(value)requires http.publicURL.")
            }
            return changed
        }
    }

    /// A project narrows the limits that count over all projects; a number that would widen one is without effect.
    private func refuseIdle(_ limits: RateLimitSettings, before: RateLimitSettings) throws(AdministrationError) {
        for kind in DeploymentLimits.kinds where limits[kind] != before[kind] {
            guard let own = limits.own(kind), let widest = self.limits.covers(own, of: kind), own != widest else {
                continue
            }
            throw .invalid(
                "identity.rateLimits.\(kind.rawValue) can only narrow what the deployment allows, which is \(widest.count) in "
                    + "\(widest.seconds) seconds (rateLimits.\(kind.rawValue) of the nodes)."
            )
        }
    }

    /// The apps' URLs that the changes add, after each host was asked whose it is.
    ///
    /// - Throws: ``AdministrationError`` if one does not name the project.
    private func provedAppURLs(_ changes: [SettingChange], of id: ProjectID) async throws -> Set<PublicURL> {
        guard changes.contains(where: { $0.path == Setting.appURLs }), let project = configuration.snapshot.project(id)
        else { return [] }
        var settings = project.settings
        for change in changes { try change.apply(&settings) }
        let added = Set(settings.appURLs).subtracting(project.settings.appURLs)
        guard !added.isEmpty else { return [] }
        guard let statement = deployment.statement(of: id) else {
            throw AdministrationError.invalid("\(Setting.appURLs) requires http.publicURL.")
        }
        for url in added {
            let file = url.text + Deployment.hostProof
            let says = try await read(file, id).map { String(decoding: $0, as: UTF8.self) } ?? ""
            guard says.split(whereSeparator: \.isWhitespace) == [statement[...]] else {
                throw AdministrationError.invalid(
                    "\(Setting.appURLs) requires that \(file) says \(statement) and nothing else."
                )
            }
            let owner = configuration.snapshot.owner(ofHost: url.authority ?? "")
            guard owner.map({ $0.project.id == id }) ?? true, url.authority != deployment.serviceURL?.authority else {
                throw AdministrationError.invalid(
                    "\(Setting.appURLs) lists \(url), which is another project's or the service's own."
                )
            }
        }
        return added
    }
}
