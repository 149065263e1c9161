import Domain
import Projects
import Secrets
import Testing

@Suite struct ConfigurationSnapshotTests {
    private func project(_ id: String, _ number: Int64) throws -> Project {
        Project(
            id: try #require(ProjectID(rawValue: id)),
            number: ProjectNumber(rawValue: number),
            settings: ProjectSettings(),
            passwordSignerKey: Secret("")
        )
    }

    @Test func findsProjectsByIDNumberAndKeyAlone() throws {
        let first = try project("first-project", 1)
        let second = try project("second-project", 2)
        let snapshot = ConfigurationSnapshot(
            version: .none,
            projects: [second, first],
            apiKeys: [(APIKey(rawValue: "k1"), first.id), (APIKey(rawValue: "k2"), second.id)],
            providers: []
        )
        #expect(snapshot.project(first.id)?.number == first.number)
        #expect(snapshot.project(number: second.number)?.id == second.id)
        #expect(snapshot.project(apiKey: APIKey(rawValue: "k2"))?.id == second.id)
        #expect(snapshot.project(apiKey: APIKey(rawValue: "k3")) == nil)
        #expect(snapshot.project(number: ProjectNumber(rawValue: 3)) == nil)
        #expect(snapshot.allProjects.map(\.id) == [first.id, second.id])
    }

    @Test func providersOfOneTenantOrProjectAreNotThoseOfAnother() throws {
        let first = try project("first-project", 1)
        let second = try project("second-project", 2)
        let tenant = TenantID(rawValue: "t1")
        let inTenant = Scope(project: first.id, tenant: tenant)
        let elsewhere = Scope(project: second.id, tenant: tenant)
        func provider(_ client: String) -> ProviderConfiguration {
            ProviderConfiguration(provider: .google, enabled: true, clientID: client)
        }
        let snapshot = ConfigurationSnapshot(
            version: .none,
            projects: [first, second],
            apiKeys: [],
            providers: [
                (first.scope, provider("a")), (inTenant, provider("b")), (second.scope, provider("c")),
            ]
        )
        #expect(snapshot.provider(.google, in: first.scope)?.clientID == "a")
        #expect(snapshot.provider(.google, in: inTenant)?.clientID == "b")
        #expect(snapshot.provider(.google, in: second.scope)?.clientID == "c")
        #expect(snapshot.provider(.google, in: elsewhere) == nil)
        #expect(snapshot.provider(.github, in: first.scope) == nil)
        #expect(snapshot.providers(in: first.scope).map(\.clientID) == ["a"])
        #expect(ConfigurationSnapshot.empty.allProjects.isEmpty)
    }
}
