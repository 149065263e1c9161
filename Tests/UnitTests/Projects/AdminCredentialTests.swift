import Projects
import Testing

@Suite struct AdminCredentialTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var project: String?
        var scopes: Set<AdminScope> = [.readAccounts]
        var expiresAt: Int64?
        var disabled = false
        var asked = AdminScope.readAccounts
        let allowed: Bool
    }

    @Test(arguments: [
        Case(testDescription: "any project", allowed: true),
        Case(testDescription: "its project", project: "first-project", allowed: true),
        Case(testDescription: "another project", project: "other-project", allowed: false),
        Case(testDescription: "another scope", asked: .manageAccounts, allowed: false),
        Case(testDescription: "no scope implies another", scopes: [.manageAccounts], allowed: false),
        Case(testDescription: "no scope at all", scopes: [], allowed: false),
        Case(
            testDescription: "one of its scopes",
            scopes: Set(AdminScope.allCases),
            asked: .manageConfiguration,
            allowed: true
        ),
        Case(testDescription: "a second before its end", expiresAt: 1001, allowed: true),
        Case(testDescription: "at its end", expiresAt: 1000, allowed: false),
        Case(testDescription: "after its end", expiresAt: 999, allowed: false),
        Case(testDescription: "disabled", disabled: true, allowed: false),
    ])
    func allows(_ example: Case) throws {
        let credential = AdminCredential(
            id: "1",
            name: "ci",
            project: example.project.flatMap { ProjectID(rawValue: $0) },
            scopes: example.scopes,
            expiresAt: example.expiresAt,
            disabled: example.disabled
        )
        let project = try #require(ProjectID(rawValue: "first-project"))
        #expect(credential.allows(example.asked, in: project, now: 1000) == example.allowed)
    }
}
