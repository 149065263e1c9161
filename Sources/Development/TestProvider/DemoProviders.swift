package import Domain
package import Projects
package import Storage
import StrictJSON

/// The identity providers that come with `identity dev`, and their users.
///
/// Their issuers don't depend on the port, so that accounts of a kept database continue to work. They cover three kinds
/// of conflict: *Demo ID* is trusted about addresses, GitHub never is, and Google only for its own domain.
package enum DemoProviders {
    /// The client id of the service at all of them.
    package static let client = "identity-demo"

    /// Which of them to start.
    package enum Selection: String, Sendable, CaseIterable { case none, some, all }

    /// All of them, in the order of the demo page.
    package static let all: [DemoProvider] = [
        DemoProvider(
            "oidc.demo",
            .genericOIDC,
            "Demo ID",
            issuer: "https://demo-id.example",
            people: [.ada, .katherine, .alan, .margaret],
            numberedFrom: 1_000,
            isUsual: true,
            definition: ["emailTrust": "claim"]
        ),
        DemoProvider(
            .google,
            .google,
            "Google (demo)",
            issuer: "https://accounts.google.com",
            people: [.grace, .katherine],
            numberedFrom: 10_730_000_000_000,
            isUsual: true
        ),
        DemoProvider(
            .github,
            .github,
            "GitHub (demo)",
            issuer: "https://github.com",
            people: [.ada, .grace, .margaret],
            numberedFrom: 583_200,
            isUsual: true
        ),
        DemoProvider(.apple, .apple, "Apple (demo)", issuer: "https://apple.example"),
        DemoProvider(
            "microsoft.com",
            .microsoft,
            "Microsoft (demo)",
            issuer: "https://microsoft.example",
            // The user's directory is part of the issuer.
            definition: ["issuers": ["https://microsoft.example/{tid}/v2.0"]]
        ),
        DemoProvider("facebook.com", .facebook, "Facebook (demo)", issuer: "https://facebook.example"),
        DemoProvider("twitter.com", .twitter1, "Twitter (demo)", issuer: "https://twitter.example"),
        DemoProvider("yahoo.com", .yahoo, "Yahoo (demo)", issuer: "https://yahoo.example"),
        DemoProvider("oidc.yahoojp", .yahooJapan, "Yahoo! JAPAN (demo)", issuer: "https://yahoo-japan.example"),
        DemoProvider("oidc.line", .line, "LINE (demo)", issuer: "https://line.example"),
        DemoProvider("linkedin.com", .linkedIn, "LinkedIn (demo)", issuer: "https://linkedin.example"),
        DemoProvider("oidc.slack", .slack, "Slack (demo)", issuer: "https://slack.example"),
        DemoProvider("oidc.gitlab", .gitLab, "GitLab (demo)", issuer: "https://gitlab.example"),
        DemoProvider("oauth.discord", .discord, "Discord (demo)", issuer: "https://discord.example"),
        DemoProvider("oauth.feedly", .feedly, "Feedly (demo)", issuer: "https://feedly.example"),
        DemoProvider("oauth.x", .x, "X (demo)", issuer: "https://x.example"),
        DemoProvider("oauth.plain", .genericOAuth2, "Plain OAuth 2.0 (demo)", issuer: "https://plain.example"),
    ]

    /// The maximum of a project's accounts on the page of a demo provider.
    private static let mostPeople = 100

    /// The users of a demo provider who have an account in the project, whatever made the account, oldest first.
    package static func people(
        of project: ProjectID,
        _ stores: Stores
    )
        -> @Sendable (_ tenant: String) async throws
        -> [TestUser]
    {
        { tenant in
            guard let provider = all.first(where: { $0.tenant == tenant })?.id else { return [] }
            var query = AccountQuery()
            query.method = provider
            query.sort = .createdAt
            let found = try await stores.accounts.list(query, offset: 0, limit: mostPeople, in: Scope(project: project))
            return found.flatMap { account in
                account.linked.filter { $0.provider == provider }.map { TestUser($0, of: account) }
            }
        }
    }

    /// Adds the tenants and returns what to configure.
    package static func install(
        _ selection: Selection = .some,
        in provider: TestProvider
    ) async throws -> [ProviderConfiguration] {
        var made: [ProviderConfiguration] = []
        for demo in all where selection == .all || (selection == .some && demo.isUsual) {
            let tenant = try await provider.addTenant(
                demo.tenant,
                demo.personality,
                title: demo.title,
                issuer: demo.issuer
            )
            for person in demo.people { tenant.addUser(person.user(numberedFrom: demo.numberedFrom)) }
            tenant.addClient(client, secrets: ["demo-secret"], redirects: .anyLocal)
            var definition = demo.definition
            if !demo.personality.isOpenID { definition["issuers"] = [.string(demo.issuer)] }
            made.append(
                tenant.configuration(as: demo.id, client: client, displayName: demo.title, overrides: definition)
            )
        }
        return made
    }
}

extension TestUser {
    fileprivate init(_ linked: LinkedCredential, of account: Account) {
        self.init(
            linked.subject,
            email: linked.email,
            emailVerified: account.emailVerified && account.email?.canonical == linked.email,
            name: linked.displayName,
            picture: linked.photoURL,
            login: linked.screenName
        )
    }
}

/// A personality of the test provider, as a provider to sign in with.
package struct DemoProvider: Sendable {
    package var id: ProviderID
    package var personality: ProviderPersonality
    package var title: String
    /// Never contacted; the endpoints are the test provider's.
    var issuer: String
    package var people: [DemoPerson]
    /// Added to a person's number to make their id at this provider.
    var numberedFrom: Int
    /// Started without being selected.
    package var isUsual: Bool
    /// Further members of `definition{}`.
    var definition: JSONObject

    /// `google` of `google.com`, `demo` of `oidc.demo`.
    var tenant: String {
        let parts = id.rawValue.split(separator: ".")
        return String((id.isOIDC || id.isOAuth2 ? parts.last : parts.first) ?? "")
    }

    fileprivate init(
        _ id: ProviderID,
        _ personality: ProviderPersonality,
        _ title: String,
        issuer: String,
        people: [DemoPerson] = [.ada, .grace, .katherine, .alan, .margaret],
        numberedFrom: Int = 4_000,
        isUsual: Bool = false,
        definition: JSONObject = [:]
    ) {
        self.id = id
        self.personality = personality
        self.title = title
        self.issuer = issuer
        self.people = people
        self.numberedFrom = numberedFrom
        self.isUsual = isUsual
        self.definition = definition
    }
}

/// A person who can have an account at each provider, all with one address.
package struct DemoPerson: Sendable {
    var number: Int
    var given: String
    var family: String
    var email: String
    var isVerified = true

    func user(numberedFrom base: Int) -> TestUser {
        TestUser(
            String(base + number),
            email: email,
            emailVerified: isVerified,
            name: name,
            givenName: given,
            familyName: family,
            login: given.lowercased() + family.lowercased()
        )
    }

    package var name: String { given + " " + family }

    static let ada = DemoPerson(number: 1, given: "Ada", family: "Lovelace", email: "ada@example.com")
    static let grace = DemoPerson(number: 2, given: "Grace", family: "Hopper", email: "grace.hopper@gmail.com")
    static let katherine = DemoPerson(
        number: 3,
        given: "Katherine",
        family: "Johnson",
        email: "katherine@example.com"
    )
    static let alan = DemoPerson(
        number: 4,
        given: "Alan",
        family: "Turing",
        email: "alan@example.com",
        isVerified: false
    )
    static let margaret = DemoPerson(
        number: 5,
        given: "Margaret",
        family: "Hamilton",
        email: "margaret@example.com"
    )
}
