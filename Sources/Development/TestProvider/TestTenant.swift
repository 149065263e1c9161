import Secrets
import Synchronization

/// One identity provider of the test server, with its own users, apps, keys and faults.
///
/// It can be used from any task; each call is atomic.
package final class TestTenant: Sendable {
    package let name: String
    /// Where its endpoints are; no slash at the end.
    package let base: String
    /// `iss` of its tokens: the base URL, unless another was given.
    package let issuer: String
    package let personality: ProviderPersonality
    private let state: Mutex<TenantState>

    init(_ state: TenantState) {
        self.name = state.name
        self.base = state.base
        self.issuer = state.issuer
        self.personality = state.personality
        self.state = Mutex(state)
    }

    /// The URL of an endpoint; nil when the personality doesn't offer it.
    package func url(_ endpoint: ProviderEndpoint) -> String? {
        personality.url(endpoint, below: base)
    }

    func withState<T: Sendable>(_ body: (inout TenantState) throws -> T) rethrows -> T {
        try state.withLock { try body(&$0) }
    }
}

// MARK: - Apps and people

extension TestTenant {
    /// Registers an app, or replaces it.
    ///
    /// - Parameter authentication: nil for the personality's default.
    @discardableResult
    package func addClient(
        _ id: String = "client",
        secrets: [String] = ["client-secret"],
        redirects: TestClient.RedirectRule,
        authentication: TestClient.Authentication? = nil
    ) -> TestClient {
        let client = TestClient(
            id: id,
            secrets: secrets,
            redirects: redirects,
            authentication: authentication ?? personality.clientAuthentication
        )
        withState { $0.clients[id] = client }
        return client
    }

    /// Adds a user, or replaces the one with that subject.
    ///
    /// Adding a second user with the same address recycles the address.
    @discardableResult
    package func addUser(_ user: TestUser) -> TestUser {
        withState { $0.addUser(user) }
        return user
    }

    /// Withdraws consent, as the user would in the provider's settings: tokens and codes become invalid, and the next
    /// consent counts as the first.
    package func revokeGrant(of user: TestUser, client: String? = nil) {
        withState { $0.revokeGrant(subject: user.subject, client: client) }
    }
}

// MARK: - Logins

extension TestTenant {
    /// Decides the next login at the authorization endpoint; several are used in order.
    package func nextLogin(_ login: ScriptedLogin) {
        withState { $0.nextLogins.append(login) }
    }

    package func nextLogin(_ user: TestUser, _ decision: ScriptedLogin.Decision = .approve) {
        nextLogin(ScriptedLogin(user, decision))
    }

    /// Decides every login that ``nextLogin(_:)`` doesn't; nil for the page, where a person chooses.
    package func everyLogin(_ login: ScriptedLogin?) {
        withState { $0.everyLogin = login }
    }

    package func everyLogin(_ user: TestUser) {
        everyLogin(ScriptedLogin(user))
    }
}

// MARK: - Faults and what was seen

extension TestTenant {
    /// Sets up a fault for one call, counted from now (1 is the next), or for every call when `call` is nil.
    package func addFault(_ fault: ProviderFault, at endpoint: ProviderEndpoint, call: Int? = 1) {
        withState { $0.faults.add(fault, at: endpoint, call: call) }
    }

    package func removeFaults(at endpoint: ProviderEndpoint? = nil) {
        withState { $0.faults.removeAll(at: endpoint) }
    }

    /// Faults that no call has triggered; a test that leaves one behind tested nothing.
    package var unusedFaults: [String] { withState { $0.faults.unused } }

    /// Client mistakes: parts of requests that a correct client would not have sent.
    package var violations: [Violation] { withState { $0.violations } }

    package func clearViolations() { withState { $0.violations = [] } }

    /// Requests in order of arrival.
    package func requests(_ endpoint: ProviderEndpoint? = nil) -> [RecordedRequest] {
        withState { state in state.log.filter { endpoint == nil || $0.endpoint == endpoint } }
    }
}
