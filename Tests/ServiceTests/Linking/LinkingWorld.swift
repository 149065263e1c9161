import Development
import Domain
import Projects
import Testing
import TestKit

/// A project with the providers that the decision table speaks of, each over real HTTP:
/// `oidc.acme`, whose claim proves an address; `google.com`; and `github.com`, which is never believed.
struct LinkingWorld: Sendable {
    let service: TestService
    let acme: TestTenant
    let google: TestTenant
    let github: TestTenant

    static let acmeID: ProviderID = "oidc.acme"

    /// - Parameter change: of settings that protect no addresses, so that conflicts say whose they are.
    static func run<R: Sendable>(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (LinkingWorld) async throws -> R
    ) async throws -> R {
        try await TestService.run(options(change)) { try await body(LinkingWorld($0)) }
    }

    static func options(_ change: @Sendable (inout ProjectSettings) -> Void = { _ in }) -> TestService.Options {
        var options = TestService.Options()
        options.settings.emailEnumerationProtection = false
        change(&options.settings)
        options.connections = 3
        return options
    }

    init(_ service: TestService) async throws {
        self.service = service
        acme = try await TestProvider.tenant(.genericOIDC, name: "acme")
        google = try await TestProvider.tenant(.google, name: "google")
        github = try await TestProvider.tenant(.github, name: "github")
        for (tenant, id) in [(acme, Self.acmeID), (google, .google), (github, .github)] {
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: id))
        }
    }

    /// The same tenants behind another node of the project.
    func on(_ other: TestService) -> LinkingWorld { LinkingWorld(other, self) }

    private init(_ service: TestService, _ world: LinkingWorld) {
        self.service = service
        acme = world.acme
        google = world.google
        github = world.github
    }

    // MARK: People

    /// A person at `oidc.acme`.
    func person(_ subject: String = "R", email: String? = "ada@example.com", verified: Bool = true) -> TestUser {
        acme.addUser(TestUser(subject, email: email, emailVerified: verified, name: "Ada of Acme"))
    }

    /// A person at `github.com`, whose address GitHub calls verified.
    func githubPerson(_ subject: String = "7001", email: String = "ada@example.com") -> TestUser {
        github.addUser(TestUser(subject, email: email, name: "Ada of GitHub", login: "ada\(subject)"))
    }

    func googlePerson(_ subject: String = "100001", email: String = "ada@example.com") -> TestUser {
        google.addUser(TestUser(subject, email: email, name: "Ada of Google"))
    }

    // MARK: Sign-ins

    /// With an ID token that the app got itself.
    func acme(
        _ user: TestUser,
        idToken: String? = nil,
        _ more: JSON = [:]
    ) async throws -> Reply {
        let token = try acme.mintIDToken(for: user)
        return try await service.signInWithIdP(
            postBody: "id_token=\(token)&providerId=oidc.acme",
            idToken: idToken,
            more
        )
    }

    func google(_ user: TestUser, idToken: String? = nil, _ more: JSON = [:]) async throws -> Reply {
        let token = try google.mintIDToken(for: user)
        return try await service.signInWithIdP(
            postBody: "id_token=\(token)&providerId=google.com",
            idToken: idToken,
            more
        )
    }

    /// Through GitHub's pages, as it issues no ID tokens.
    func github(_ user: TestUser, idToken: String? = nil, _ more: JSON = [:]) async throws -> Reply {
        github.nextLogin(user)
        return try await service.signIn(through: .github, idToken: idToken, finish: more)
    }

    /// An account that an admin makes.
    func account(_ members: JSON) async throws -> String {
        let reply = try await service.admin("accounts", members)
        return try #require(reply.localID, "\(reply)")
    }

    func update(_ localID: String?, _ members: JSON) async throws {
        var body = members.object ?? [:]
        body["localId"] = JSON(localID)
        let reply = try await service.admin("accounts:update", .object(body))
        reply.expectOK()
    }

    /// Redeems a pending credential, for the signed-in account or alone.
    func resume(_ pendingToken: String?, idToken: String? = nil, _ more: JSON = [:]) async throws -> Reply {
        var body: [String: JSON] = [
            "requestUri": "http://localhost", "pendingToken": JSON(pendingToken), "idToken": JSON(idToken),
            "returnSecureToken": true, "returnIdpCredential": true,
        ]
        for (name, value) in more.object ?? [:] { body[name] = value }
        return try await service.call("accounts:signInWithIdp", .object(body))
    }
}

extension JSON {
    /// `providerUserInfo`'s ids, in order.
    var providers: [String] { self["providerUserInfo"]?.array?.compactMap { $0["providerId"]?.string } ?? [] }

    /// Without the members that reading and refreshing move.
    func without(_ names: String...) -> JSON {
        guard var members = object else { return self }
        for name in names { members[name] = nil }
        return .object(members)
    }
}

extension Reply {
    /// A sign-in with tokens, and none of the marks of a conflict.
    func expectSignedIn(as localID: String? = nil, new: Bool = false, sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect(status == 200, "\(self)", sourceLocation: sourceLocation)
        if let localID { #expect(self.localID == localID, "\(self)", sourceLocation: sourceLocation) }
        let keys = Set(json.object?.keys.map { $0 } ?? [])
        #expect(
            keys.isSuperset(of: ["idToken", "refreshToken", "expiresIn"]),
            "\(self)",
            sourceLocation: sourceLocation
        )
        #expect(self["isNewUser"] == (new ? true : nil), sourceLocation: sourceLocation)
        #expect(
            keys.isDisjoint(with: ["needConfirmation", "errorMessage", "verifiedProvider", "mfaPendingCredential"])
        )
        #expect(self["expiresIn"] == "3600", sourceLocation: sourceLocation)
    }

    /// Account exists with different credential, with exactly the members of that answer.
    func expectConflict(
        with localID: String?,
        providers: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(status == 200, "\(self)", sourceLocation: sourceLocation)
        #expect(self["needConfirmation"] == true, "\(self)", sourceLocation: sourceLocation)
        #expect(self["localId"] == localID.map { .string($0) }, sourceLocation: sourceLocation)
        #expect(
            self["verifiedProvider"] == (providers.isEmpty ? nil : .array(providers.map { .string($0) })),
            "\(self)",
            sourceLocation: sourceLocation
        )
        #expect(self["emailVerified"] == false, sourceLocation: sourceLocation)
        #expect(self["email"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(pendingToken?.isEmpty == false, sourceLocation: sourceLocation)
        let keys = Set(json.object?.keys.map { $0 } ?? [])
        let absent = ["idToken", "refreshToken", "expiresIn", "isNewUser", "errorMessage", "emailRecycled"]
        #expect(keys.isDisjoint(with: absent), "\(keys)", sourceLocation: sourceLocation)
        #expect(
            keys.contains("oauthIdToken") || keys.contains("oauthAccessToken"),
            "\(keys)",
            sourceLocation: sourceLocation
        )
    }

    /// A link conflict that came back with its credential.
    func expectLinkRefused(_ code: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == 200, "\(self)", sourceLocation: sourceLocation)
        #expect(self["errorMessage"]?.string == code, "\(self)", sourceLocation: sourceLocation)
        #expect(pendingToken?.isEmpty == false, sourceLocation: sourceLocation)
        let keys = Set(json.object?.keys.map { $0 } ?? [])
        let absent = ["idToken", "refreshToken", "expiresIn", "isNewUser", "needConfirmation", "localId"]
        #expect(keys.isDisjoint(with: absent), "\(keys)", sourceLocation: sourceLocation)
    }

    func expectRefused(_ error: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == 400, "\(self)", sourceLocation: sourceLocation)
        #expect(self.error == error, "\(self)", sourceLocation: sourceLocation)
    }
}
