/// The addresses of the running service: the start of every issuer, callback, page and link that names it.
///
/// Links in emails and issuers never depend on a request (threats.md, T-E3).
package struct Deployment: Sendable {
    private let url: @Sendable () -> PublicURL?
    private let urlAtHost: @Sendable (String) -> PublicURL?
    private let actionPath: String

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

    /// Where clients and providers reach a project; nil if it is not configured.
    package func publicURL(of project: Project) -> PublicURL? { url() }

    /// Where a browser finds the pages.
    ///
    /// - Parameter host: the `Host` of its request.
    package func pages(at host: String?) -> PublicURL? { host.flatMap(urlAtHost) ?? url() }

    /// The page for links in a project's emails.
    package func actionPage(of project: Project) -> String? { publicURL(of: project).map { "\($0)\(actionPath)" } }

    /// `iss` of new ID tokens; nil for the project's own issuer on a node that does not know its URL.
    package func issuer(of project: Project) -> String? {
        switch project.settings.tokenIssuer {
        case .firebase: Self.firebaseIssuer(of: project)
        case .own: publicURL(of: project)?.issuer(of: project.id)
        }
    }

    /// The accepted values of `iss` in ID tokens: tokens from before a change of the setting stay valid.
    package func issuers(of project: Project) -> [String] {
        [Self.firebaseIssuer(of: project)] + (publicURL(of: project).map { [$0.issuer(of: project.id)] } ?? [])
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
