import Projects
import Secrets
import Testing

@Suite("The addresses of the service")
struct DeploymentTests {
    @Test("T-D33: a project that has the service's own URL takes none of its pages")
    func serviceURL() throws {
        var settings = ProjectSettings()
        settings.publicURL = PublicURL("https://id.example.com")
        let id = try #require(ProjectID(rawValue: "tea-room"))
        let project = Project(
            id: id,
            number: ProjectNumber(rawValue: 1),
            settings: settings,
            passwordSignerKey: Secret("")
        )
        // It could not be set; the service's URL became this one afterwards.
        for (url, shows) in [("https://ID.example.com:443/", true), ("https://login.example.com", false)] {
            let deployment = Deployment(publicURL: url).findingProjects { host in
                host == "id.example.com" ? project : nil
            }
            #expect(deployment.shows(nil, at: "id.example.com") == shows, "\(url)")
            #expect(deployment.shows(id, at: "id.example.com"))
        }
    }
}
