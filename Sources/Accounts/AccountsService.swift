package import Delivery
import Domain
package import Federation
package import Passwords
package import Projects
import Requests
package import Secrets
package import Sessions
package import Storage
package import struct Foundation.Date

/// Accounts and everything that is done with them: each use case is a type in a file of its own that also adds it here.
///
/// Extensions in files of this name have what several use cases share. The defaults are those of `identity serve`. It is an
/// object, because each use case of each request holds it.
package final class AccountsService: Sendable {
    package let stores: Stores
    package let federation: FederationService
    package let passwords: PasswordHasher
    /// The public keys of service accounts.
    let publicKeys = RSAPublicKeyCache(capacity: 1_024)
    /// The access tokens of applications whose signatures were verified.
    let accessTokens = VerifiedTokenCache(capacity: 65_536)
    package let random: RandomSource
    /// The current time during a request; use cases use ``now()``.
    package let clock: @Sendable () -> Date
    package let deployment: Deployment
    package let options: Options

    package struct Options: Sendable {
        package var tokenVerifier: any TokenVerifier = IDTokenVerifier(cache: VerifiedTokenCache(capacity: 65_536))
        /// Creates ID tokens instead of the signing keys; nil in production.
        package var tokenSigner: (any TokenSigner)?
        /// Waits before checking again what another request or node is doing.
        package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Sends emails; if nil, they stay in the outbox for a node that can.
        package var mailer: Mailer?
        /// Calls blocking functions; if nil, sign-ins that need one are refused.
        package var functions: FunctionCaller?
        /// Verifies CAPTCHAs; if nil, operations that need one are refused.
        package var captchas: CaptchaService?
        /// Sends SMS and webhooks; if nil, they stay in the outbox for a node that can.
        package var messenger: Messenger?
        /// The passwords that `identity.leakedPasswords` refuses; if nil, none.
        package var leakedPasswords: (any LeakedPasswords)?
        /// The numbers of the limits that count over all projects.
        package var deploymentLimits = DeploymentLimits()
        /// Whether to allow what only `identity dev` may do: providers may lack a configuration, and any loopback continue
        /// URL is allowed.
        package var development = false
        /// Reads an unsigned custom token; nil for all others, and in production for all.
        package var unsignedCustomToken: @Sendable (_ text: String) -> CustomToken? = { _ in nil }
        /// Reads the password in a hash of the emulator; nil for all others, and in production for all.
        package var passwordInHash: @Sendable (_ text: String) -> Secret? = { _ in nil }
        /// Receives each email and SMS once it is stored.
        package var hasWritten: @Sendable (WrittenMessage) -> Void = { _ in }

        package init() {}
    }

    package init(
        stores: Stores,
        federation: FederationService,
        passwords: PasswordHasher,
        deployment: Deployment,
        random: RandomSource = .system,
        options: Options = Options(),
        now: @escaping @Sendable () -> Date
    ) {
        self.stores = stores
        self.federation = federation
        self.passwords = passwords
        self.deployment = deployment
        self.random = random
        self.options = options
        clock = now
    }

    var keyRing: KeyRing { stores.keyRing }
    var configuration: ConfigurationStore { stores.configuration }
    var accounts: AccountStore { stores.accounts }
    var sessions: SessionStore { stores.sessions }
    var flows: FlowStore { stores.flows }
    var pendingCredentials: PendingCredentialStore { stores.pendingCredentials }
    var providerTokens: ProviderTokenStore { stores.providerTokens }

    /// The time of the request, which is read once, so that everything it stores or signs has the same second.
    func now() -> Date { RequestContext.current.time ?? clock() }

    /// Seconds since 1970.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }

    func newAccountID() -> AccountID {
        AccountID(random.text(28, of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
    }
}
