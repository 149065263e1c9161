import Text

/// The addresses of the running service: the start of every issuer, callback, page and link that names it.
///
/// A project may have a URL of its own (``ProjectSettings/publicURL``). Links in emails and issuers never depend on a
/// request (threats.md, T-E3).
package struct Deployment: Sendable {
    private let url: @Sendable () -> PublicURL?
    private let urlAtHost: @Sendable (String) -> PublicURL?
    private let actionPath: String
    private var ownerOfHost: @Sendable (String) -> (project: Project, url: PublicURL)? = { _ in nil }

    /// - Parameter publicURL: `http.publicURL`; nil if it is not set.
    package init(publicURL: String?) {
        let url = publicURL.map { PublicURL($0) }
        self.init { url }
    }

    /// A deployment that learns its address later.
    ///
    /// - Parameters:
    ///   - actionPath: the page for links in emails.
    ///   - urlAtHost: where a browser that uses this host finds the pages; nil for the usual URL.
    ///   - url: nil until it is known.
    package init(
        actionPath: String = "/__/auth/action",
        urlAtHost: @escaping @Sendable (_ host: String) -> PublicURL? = { _ in nil },
        url: @escaping @Sendable () -> PublicURL?
    ) {
        (self.actionPath, self.urlAtHost, self.url) = (actionPath, urlAtHost, url)
    }

    /// The same deployment, which knows the hosts of projects.
    ///
    /// - Parameter find: the project that has a `Host`, and its URL there.
    package func findingProjects(
        _ find: @escaping @Sendable (String) -> (project: Project, url: PublicURL)?
    ) -> Deployment {
        var deployment = self
        deployment.ownerOfHost = find
        return deployment
    }

    /// Where clients and providers reach a project: its own URL, or the service's; nil if neither is configured.
    package func publicURL(of project: Project) -> PublicURL? { urls(of: project).first }

    /// Every URL at which a project can be reached, ``publicURL(of:)`` first.
    package func urls(of project: Project) -> [PublicURL] { [project.settings.publicURL, url()].compactMap { $0 } }

    /// Every URL at which the project's pages are: those of its apps too.
    package func pages(of project: Project) -> [PublicURL] { urls(of: project) + project.settings.appURLs }

    /// The service's own URL; nil if it is not configured.
    package var serviceURL: PublicURL? { url() }

    /// Where a browser finds the pages: at the URL with the host that it uses, if the service knows it.
    ///
    /// - Parameter host: the `Host` of its request.
    package func pages(at host: String?) -> PublicURL? {
        guard let host else { return url() }
        return owner(of: host)?.url ?? urlAtHost(host) ?? url()
    }

    /// Whether a host shows a project's pages: the service's hosts show those of every project, a project's own host
    /// those of this project alone (threats.md, T-D33).
    ///
    /// - Parameter project: nil for pages of the service itself, such as the console.
    package func shows(_ project: ProjectID?, at host: String?) -> Bool {
        guard let owner = host.flatMap(owner) else { return true }
        return owner.project.id == project
    }

    /// The project whose own host it is; none for the service's host, whatever a project says.
    private func owner(of host: String) -> (project: Project, url: PublicURL)? {
        guard let owner = ownerOfHost(host), owner.url.authority != serviceURL?.authority else { return nil }
        return owner
    }

    /// Where a provider redirects after a sign-in that began at a URL of the pages.
    ///
    /// An address that several projects share would bring the codes of one to a page of another (RFC 9700 §4.4;
    /// threats.md, T-B3).
    package func callback(of project: Project, at url: PublicURL) -> String {
        let settings = project.settings
        let isShared = settings.publicURL != url && !settings.appURLs.contains(url)
        return settings.ownCallback && isShared ? "\(url.callback)/\(project.id)" : url.callback
    }

    /// What the host of an app says, below ``hostProof``, so that the project may have it; nil on a node that does not know
    /// its URL.
    package func statement(of project: ProjectID) -> String? { serviceURL?.issuer(of: project) }

    /// The path of the file with which a host names its project.
    ///
    /// It is not below `/__/`, which the host passes on to the service for whoever asks.
    package static let hostProof = "/.well-known/identity-project"

    /// The page for links in a project's emails.
    ///
    /// - Parameter domain: one of the project's authorized domains, which forwards `/__/` to the service; nil for where
    ///   the project is.
    package func actionPage(of project: Project, at domain: String? = nil) -> String? {
        if let domain { return "https://\(domain)\(actionPath)" }
        return publicURL(of: project).map { "\($0)\(actionPath)" }
    }

    /// Below a project's URL: links in emails that open an app.
    ///
    /// Where there is none, a browser goes on from there.
    package static let appLinks = "/__/auth/links"

    /// A link that opens an app, or else goes on to a link in an email.
    ///
    /// - Parameter domain: as for ``actionPage(of:at:)``.
    package func appLink(to link: String, of project: Project, at domain: String? = nil) -> String? {
        let base = domain.map { "https://\($0)" } ?? publicURL(of: project)?.text
        return base.map { "\($0)\(Self.appLinks)?\(FormFields(pairs: [("link", link)]).text)" }
    }

    /// The pages for links in a project's emails, at each of its URLs.
    package func actionPages(of project: Project) -> [String] { urls(of: project).map { "\($0)\(actionPath)" } }

    /// The project whose pages alone a host shows: its owner, or at the service's hosts the only one that there is.
    package func onlyProject(at host: String?, among projects: [Project]) -> Project? {
        let shown = projects.filter { shows($0.id, at: host) }
        return shown.count == 1 ? shown.first : nil
    }

    /// The project that speaks for a host in files below `/.well-known/`; none for a host that is neither a project's nor
    /// the service's, whatever a project says of itself.
    ///
    /// Otherwise one project's app would get the links of another's emails (threats.md, T-E31), and its users' passwords
    /// and passkeys (T-D31).
    package func siteOwner(of host: String?, among projects: [Project]) -> Project? {
        guard let host, isOwned(host) else { return nil }
        return onlyProject(at: host, among: projects)
    }

    /// Whether a host is a project's or the service's own.
    package func isOwned(_ host: String) -> Bool {
        owner(of: host) != nil || serviceURL.map { $0.authority == Self.authority(host, like: $0) } == true
    }

    private static func authority(_ host: String, like url: PublicURL) -> String? {
        PublicURL("\(url.isSecure ? "https" : "http")://\(host)").authority
    }

    /// `iss` of new ID tokens; nil for the project's own issuer on a node that does not know its URL.
    package func issuer(of project: Project) -> String? {
        switch project.settings.tokenIssuer {
        case .firebase: Self.firebaseIssuer(of: project)
        case .own: publicURL(of: project)?.issuer(of: project.id)
        }
    }

    /// The accepted values of `iss` in ID tokens: tokens from before a change of the setting stay valid.
    package func issuers(of project: Project) -> [String] {
        [Self.firebaseIssuer(of: project)] + urls(of: project).map { $0.issuer(of: project.id) }
    }

    private static func firebaseIssuer(of project: Project) -> String { "https://securetoken.google.com/\(project.id)" }
}

/// The `iss` of a project's ID tokens: `identity.tokenIssuer` of its config.
package enum TokenIssuer: String, Sendable, Hashable, Codable, CaseIterable {
    /// `https://securetoken.google.com/{project}`, which Admin SDKs require.
    case firebase
    /// `{publicURL}/{project}`, below which the service publishes a discovery document for OpenID Connect libraries.
    case own
}
