package import Accounts
import Domain
import Federation
import HTTPTypes
package import IdentityService
package import Projects
import Sessions
package import Storage
import Text

/// The differences between `identity dev` and `identity serve`.
package enum DevelopmentMode {
    /// Any API key means `project`, as does an admin's request without a key or project in its path; `Bearer owner` is an
    /// admin; a project in an admin path is created on first use; a tenant may have any display name.
    ///
    /// - Parameters:
    ///   - accounts: get the permissions of this mode.
    ///   - unsignedTokens: issue unsigned ID tokens, as the emulator does.
    ///   - say: prints the links in emails and the codes in SMS, because none is sent.
    package static func options(
        for accounts: inout AccountsService.Options,
        _ stores: Stores,
        project: ProjectID,
        unsignedTokens: Bool = false,
        say: @escaping @Sendable (String) -> Void
    ) -> ServiceAssembly.Options {
        accounts.development = true
        accounts.deploymentLimits = DeploymentLimits(.generous)
        accounts.hasWritten = { say($0.text) }
        accounts.unsignedCustomToken = UnsignedCustomTokens.read
        accounts.passwordInHash = ReadableHashes.password
        if unsignedTokens {
            accounts.tokenVerifier = UnsignedIDTokens(next: accounts.tokenVerifier)
            accounts.tokenSigner = UnsignedIDTokens(next: IDTokenVerifier())
        }
        var options = ServiceAssembly.Options()
        options.projectForKey = { Self.project(for: $0, stores, otherwise: project) }
        options.projectNamed = { try await stores.configuration.ensureProject($0, settings: .development) }
        options.unnamedProject = { stores.configuration.snapshot.project(project) }
        options.allowsAnyTenantName = true
        options.admins = { OwnerAuthenticator(next: $0) }
        options.trustsOrigin = isHere
        options.additionalRoutes = { routes(stores, project: project, $0) }
        options.routesOverRoutes = { EmulatorDescription(of: $0).routes }
        return options
    }

    /// Whether a request comes from no page, or from one of this machine: any site that the developer visits can send the
    /// owner's token.
    ///
    /// Browsers send no `Origin` with a page's GET to its own host, and the name of a site can lead to this machine (DNS
    /// rebinding). So the `Host` must be an address, as `10.0.2.2` in Android's emulator, or a name of this machine.
    @Sendable static func isHere(_ headers: HTTPFields) -> Bool {
        let isFromHere = headers[.origin].map { ContinueURI($0)?.isLoopback ?? false } ?? true
        let isForHere = headers[.hostField].map(isAddressOrLocalhost) ?? true
        return isFromHere && isForHere
    }

    private static func isAddressOrLocalhost(_ host: String) -> Bool {
        guard let name = URLParts("http://\(host)")?.host else { return false }
        if name.hasPrefix("["), name.hasSuffix("]") { return IPAddress(name.dropFirst().dropLast()) != nil }
        return IPAddress(name) != nil || name == "localhost" || name.hasSuffix(".localhost")
    }

    /// The demo page, `/dev`, the emulator's utility endpoints and its links of emails.
    package static func routes(_ stores: Stores, project: ProjectID, _ accounts: AccountsService) -> [Route] {
        let page = DemoPage(
            settings: { stores.configuration.snapshot.project(project)?.settings },
            providers: { stores.configuration.snapshot.providers(in: Scope(project: project)) }
        )
        return page.routes + DevPage(stores: stores, project: project).routes + EmulatorRoutes(stores: stores).routes
            + ConsoleOwnerRoute(stores: stores).routes + FakeCaptchaVerifier().routes
            + EmulatorActionRoutes(accounts: accounts) { Self.project(for: $0, stores, otherwise: project) }.routes
    }

    /// Any key is accepted for the project; a key that was made for another project means that one.
    private static func project(for key: APIKey, _ stores: Stores, otherwise project: ProjectID) -> Project? {
        let snapshot = stores.configuration.snapshot
        return snapshot.project(apiKey: key) ?? snapshot.project(project)
    }

    /// Creates keys, the project and the demo providers, and marks the database as one for development.
    ///
    /// - Parameter provider: the server of the demo providers; it need not run when none are selected.
    package static func prepare(
        _ configuration: ConfigurationStore,
        project: ProjectID,
        provider: TestProvider,
        providers selection: DemoProviders.Selection
    ) async throws {
        try await configuration.load()
        try await configuration.markAsDevelopment()
        try await configuration.ensureSigningKeys()
        _ = try await configuration.ensureProject(project, settings: .development)
        let scope = Scope(project: project)
        let demos = try await DemoProviders.install(selection, in: provider)
        for made in demos {
            // Their ports change with every start.
            if configuration.snapshot.provider(made.provider, in: scope) == nil {
                try await configuration.createProvider(made, in: scope)
            } else if configuration.snapshot.provider(made.provider, in: scope) != made {
                try await configuration.replaceProvider(made, in: scope)
            }
        }
        // Providers of an earlier start, which no server answers for now.
        for var left in configuration.snapshot.providers(in: scope)
        where left.enabled && left.clientID == DemoProviders.client
            && !demos.contains(where: { $0.provider == left.provider })
        {
            left.enabled = false
            try await configuration.replaceProvider(left, in: scope)
        }
    }
}
