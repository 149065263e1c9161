package import Domain
import Text

/// The version of all configuration in the database.
package struct ConfigurationVersion: Sendable, Hashable {
    /// Counts the changes.
    package var number: Int64
    /// Of the last change, random.
    package var epoch: String

    package init(number: Int64, epoch: String) { (self.number, self.epoch) = (number, epoch) }

    /// Before anything was read.
    package static let none = ConfigurationVersion(number: -1, epoch: "")

    /// Whether the database lost changes since the other version: it was restored, or a server took over that lacks them.
    package func isBehind(_ other: ConfigurationVersion) -> Bool {
        number < other.number || number == other.number && epoch != other.epoch
    }
}

/// A node's view of all configuration, replaced as a whole when the database's version changes.
package struct ConfigurationSnapshot: Sendable {
    package var version: ConfigurationVersion
    private var projects: [ProjectID: Project]
    private var projectByNumber: [ProjectNumber: ProjectID]
    private var projectByKey: [APIKey: ProjectID]
    private var ownHosts: [String: OwnHost]
    private var providers: [ProviderKey: ProviderConfiguration]
    /// Separate from the others, because they are not used for sign-in: only their own operations use them.
    private var samlProviders: [ProviderKey: ProviderConfiguration]
    private var serviceAccountKeys: [String: [ServiceAccountKey]]
    private var workloads: [String: [Workload]]
    /// For ES256 and RS256, until when tokens of any project may be valid, in seconds since 1970.
    private var signedUntil: [Bool: Int64]

    /// A host that is one project's.
    package struct OwnHost: Sendable, Hashable {
        package let project: ProjectID
        package let url: PublicURL
    }

    private struct ProviderKey: Hashable {
        var scope: Scope
        var provider: ProviderID
    }

    package init(
        version: ConfigurationVersion,
        projects: [Project],
        apiKeys: [(APIKey, ProjectID)],
        providers: [(Scope, ProviderConfiguration)],
        serviceAccountKeys: [ServiceAccountKey] = [],
        workloads: [Workload] = []
    ) {
        self.version = version
        self.projects = Dictionary(projects.map { ($0.id, $0) }) { first, _ in first }
        self.projectByNumber = Dictionary(projects.map { ($0.number, $0.id) }) { first, _ in first }
        self.projectByKey = Dictionary(apiKeys) { first, _ in first }
        self.ownHosts = Self.ownHosts(of: projects)
        let all = Dictionary(
            providers.map { (ProviderKey(scope: $0, provider: $1.provider), $1) }
        ) { first, _ in first }
        self.providers = all.filter { !$0.key.provider.isSAML }
        self.samlProviders = all.filter { $0.key.provider.isSAML }
        self.serviceAccountKeys = Dictionary(grouping: serviceAccountKeys, by: \.email)
        self.workloads = Dictionary(grouping: workloads, by: \.issuer)
        signedUntil = [:]
        for settings in projects.lazy.map(\.settings) {
            signedUntil[settings.signWithES256] = .max
            let other = !settings.signWithES256
            signedUntil[other] = max(signedUntil[other] ?? 0, settings.signedOtherwiseUntil ?? 0)
        }
    }

    package static let empty = ConfigurationSnapshot(version: .none, projects: [], apiKeys: [], providers: [])

    package func project(_ id: ProjectID) -> Project? { projects[id] }
    package func project(number: ProjectNumber) -> Project? { projectByNumber[number].flatMap { projects[$0] } }
    package func project(apiKey: APIKey) -> Project? { projectByKey[apiKey].flatMap { projects[$0] } }
    /// The project of which a host is, and its URL there.
    ///
    /// - Parameter host: a `Host` in any spelling: `LOGIN.example.com.:443` is `login.example.com`.
    package func owner(ofHost host: String) -> (project: Project, url: PublicURL)? {
        guard !ownHosts.isEmpty, let parts = URLParts("https://\(host.lowercased())"), var name = parts.host else {
            return nil
        }
        if name.hasSuffix(".") { name.removeLast() }
        let port = parts.port.flatMap { [80, 443].contains($0) ? nil : ":\($0)" } ?? ""
        guard let own = ownHosts[name + port], let project = projects[own.project] else { return nil }
        return (project, own.url)
    }

    /// The project of each `Host`.
    ///
    /// A host that several projects have as an app's is none's; ``ProjectSettings/publicURL`` is an admin's of the whole
    /// service, and counts before (threats.md, T-D33).
    private static func ownHosts(of projects: [Project]) -> [String: OwnHost] {
        func hosts(_ urls: (ProjectSettings) -> [PublicURL]) -> [String: Set<OwnHost>] {
            projects.reduce(into: [:]) { hosts, project in
                for url in urls(project.settings) {
                    guard let authority = url.authority else { continue }
                    hosts[authority, default: []].insert(OwnHost(project: project.id, url: url))
                }
            }
        }
        let apps = hosts(\.appURLs).compactMapValues { Set($0.map(\.project)).count == 1 ? $0.first : nil }
        return apps.merging(hosts { $0.publicURL.map { [$0] } ?? [] }.compactMapValues(\.first)) { $1 }
    }

    /// Whether tokens of an algorithm, of any project, may be valid at a time in seconds since 1970.
    package func signs(withES256: Bool, at seconds: Int64) -> Bool {
        seconds < signedUntil[withES256] ?? (withES256 || !projects.isEmpty ? 0 : .max)
    }

    /// Whether the key's project exists, but cannot be read.
    package func hasUnreadableProject(_ key: APIKey) -> Bool { projectByKey[key] != nil && project(apiKey: key) == nil }
    /// One of the project's keys, always the same.
    package func apiKey(of project: ProjectID) -> APIKey? {
        projectByKey.filter { $0.value == project }.keys.min { $0.rawValue < $1.rawValue }
    }
    package var allProjects: [Project] { projects.values.sorted { $0.id.rawValue < $1.id.rawValue } }

    /// The keys of a service account that are not revoked, by its email.
    package func serviceAccountKeys(of email: String) -> [ServiceAccountKey] { serviceAccountKeys[email] ?? [] }

    /// The workloads of an issuer that are not revoked.
    package func workloads(of issuer: String) -> [Workload] { workloads[issuer] ?? [] }

    package func provider(_ id: ProviderID, in scope: Scope) -> ProviderConfiguration? {
        providers[ProviderKey(scope: scope, provider: id)]
    }

    /// All providers of a project or tenant except SAML, sorted by ID.
    package func providers(in scope: Scope) -> [ProviderConfiguration] { Self.sorted(providers, scope) }

    /// All SAML providers of a project or tenant, sorted by ID.
    package func samlProviders(in scope: Scope) -> [ProviderConfiguration] { Self.sorted(samlProviders, scope) }

    private static func sorted(
        _ providers: [ProviderKey: ProviderConfiguration],
        _ scope: Scope
    ) -> [ProviderConfiguration] {
        providers.filter { $0.key.scope == scope }.map(\.value)
            .sorted { $0.provider.rawValue < $1.provider.rawValue }
    }
}
