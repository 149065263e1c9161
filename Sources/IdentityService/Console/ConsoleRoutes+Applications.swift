import Administration
import OAuth
import Projects
import Storage

extension ConsoleRoutes {
    /// The applications that sign in with the project's accounts, on the page of its keys.
    ///
    /// - Parameter deleting: the form that deletes the one with this ID.
    func applications(of project: Project, deleting: (_ id: String) -> HTML) async throws -> HTML {
        let rows = try await administration.oauthClients.list(of: project.id).map { client -> [HTML] in
            let origin =
                switch client.origin {
                case .admin: client.isTrusted ? "an admin, trusted" : "an admin"
                case .registration: "itself"
                case .document: "its metadata document"
                case .blocked: "nobody: it is blocked"
                }
            let redirects = client.metadata.redirectURIs.map { uri -> HTML in "<bdi>\(uri.text)</bdi><br>" }
            return [
                "<bdi>\(client.displayName)</bdi><br><code>\(client.id)</code>", "\(html: redirects)",
                "\(client.metadata.authentication.rawValue)", "\(origin)",
                client.origin == .blocked ? "" : deleting(client.id),
            ]
        }
        let table = ConsoleText.table(
            "Applications",
            ["Application", "Redirect URIs", "Authentication", "Registered by", ""],
            rows
        )
        let nothing: HTML =
            project.settings.oauth.isEnabled
            ? "No applications. <code>identity oauth-clients create</code> registers one that signs in with the project's accounts."
            : "The project is no OpenID provider: see the settings."
        return ConsoleText.section("applications", "Applications", table, else: nothing)
    }
}
