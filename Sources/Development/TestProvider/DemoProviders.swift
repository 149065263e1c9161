import Linking
package import Projects

/// The identity providers that `identity dev` brings along, with people at them.
///
/// Their issuers don't depend on the port, so that accounts of a kept database go on working. Three roads lead through
/// the conflicts: *Demo ID* is believed about addresses, GitHub never is, and Google only for its own domain.
package enum DemoProviders {
    /// The id under which the service is registered at all of them.
    package static let client = "identity-demo"

    /// Adds the tenants and returns what to configure.
    package static func install(in provider: TestProvider) async throws -> [ProviderConfiguration] {
        let demo = try await provider.addTenant(
            "demo",
            .genericOIDC,
            title: "Demo ID",
            issuer: "https://demo-id.example"
        )
        for person in [ada, katherine, alan, margaret] { demo.addUser(person.demo) }

        let google = try await provider.addTenant(
            "google",
            .google,
            title: "Google (demo)",
            issuer: "https://accounts.google.com"
        )
        for person in [grace, katherine] { google.addUser(person.google) }

        let github = try await provider.addTenant(
            "github",
            .github,
            title: "GitHub (demo)",
            issuer: "https://github.com"
        )
        for person in [ada, grace, margaret] { github.addUser(person.github) }

        for tenant in [demo, google, github] {
            tenant.addClient(client, secrets: ["demo-secret"], redirects: .anyLocal)
        }
        return [
            demo.configuration(
                as: ProviderID("oidc.demo"),
                client: client,
                displayName: "Demo ID",
                overrides: ["emailTrust": "claim"]
            ),
            google.configuration(as: .google, client: client),
            github.configuration(as: .github, client: client),
        ]
    }

    /// Someone who may have an account at each provider, all with one address.
    private struct Person {
        var number: Int
        var given: String
        var family: String
        var email: String
        var isVerified = true

        private func user(_ subject: Int) -> TestUser {
            TestUser(
                String(subject),
                email: email,
                emailVerified: isVerified,
                name: given + " " + family,
                givenName: given,
                familyName: family,
                login: given.lowercased() + family.lowercased()
            )
        }

        var demo: TestUser { user(1_000 + number) }
        var google: TestUser { user(10_730_000_000_000 + number) }
        var github: TestUser { user(583_200 + number) }
    }

    private static let ada = Person(number: 1, given: "Ada", family: "Lovelace", email: "ada@example.com")
    private static let grace = Person(number: 2, given: "Grace", family: "Hopper", email: "grace.hopper@gmail.com")
    private static let katherine = Person(
        number: 3,
        given: "Katherine",
        family: "Johnson",
        email: "katherine@example.com"
    )
    private static let alan = Person(
        number: 4,
        given: "Alan",
        family: "Turing",
        email: "alan@example.com",
        isVerified: false
    )
    private static let margaret = Person(
        number: 5,
        given: "Margaret",
        family: "Hamilton",
        email: "margaret@example.com"
    )
}
