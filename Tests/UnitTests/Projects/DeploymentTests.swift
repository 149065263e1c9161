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
                host == "id.example.com" ? (project, PublicURL("https://id.example.com")) : nil
            }
            #expect(deployment.shows(nil, at: "id.example.com") == shows, "\(url)")
            #expect(deployment.shows(id, at: "id.example.com"))
        }
    }

    @Test("T-D33: the host of an app is that of the one project that has it; an admin's of the service counts before")
    func appURLs() throws {
        func project(_ name: String, _ change: (inout ProjectSettings) -> Void) throws -> Project {
            var settings = ProjectSettings()
            change(&settings)
            return Project(
                id: try #require(ProjectID(rawValue: name)),
                number: ProjectNumber(rawValue: Int64(name.count)),
                settings: settings,
                passwordSignerKey: Secret("")
            )
        }
        let projects = [
            try project("tea-room") {
                $0.appURLs = ["https://a.example.com", "https://both.example.com", "https://c.example.com"].map {
                    PublicURL($0)
                }
            },
            try project("coffee-house") { $0.appURLs = [PublicURL("https://both.example.com")] },
            try project("wine-cellar") { $0.publicURL = PublicURL("https://c.example.com") },
        ]
        let snapshot = ConfigurationSnapshot(version: .none, projects: projects, apiKeys: [], providers: [])
        for (host, owner) in [
            ("a.example.com", "tea-room"), ("A.example.com.:443", "tea-room"), ("both.example.com", nil),
            ("c.example.com", "wine-cellar"), ("a.example.com:8443", nil), ("b.a.example.com", nil),
        ] {
            #expect(snapshot.owner(ofHost: host)?.project.id.rawValue == owner, "\(host)")
        }
    }

    @Test("T-E31: links open apps at a project's own host, and at the service's while it has one project")
    func appLinks() throws {
        func project(_ name: String, at url: String? = nil) throws -> Project {
            var settings = ProjectSettings()
            settings.publicURL = url.map { PublicURL($0) }
            return Project(
                id: try #require(ProjectID(rawValue: name)),
                number: ProjectNumber(rawValue: Int64(name.count)),
                settings: settings,
                passwordSignerKey: Secret("")
            )
        }
        let (shared, own) = (try project("tea-room"), try project("coffee-house", at: "https://own.example.com"))
        for (projects, host, owner) in [
            ([shared], "id.example.com", "tea-room"), ([shared], "ID.example.com:443", "tea-room"),
            ([shared], "id.example.com:8443", nil), ([shared], "other.example.com", nil), ([shared], nil, nil),
            ([shared, own], "id.example.com", nil), ([shared, own], "own.example.com", "coffee-house"),
            ([own], "id.example.com", "coffee-house"), ([], "id.example.com", nil),
        ] as [([Project], String?, String?)] {
            let snapshot = ConfigurationSnapshot(version: .none, projects: projects, apiKeys: [], providers: [])
            let deployment = Deployment(publicURL: "https://id.example.com")
                .findingProjects { snapshot.owner(ofHost: $0) }
            let found = deployment.siteOwner(of: host, among: snapshot.allProjects)
            #expect(found?.id.rawValue == owner, "\(projects.count) \(host ?? "-")")
        }
    }
}
