package import Delivery
package import Federation
import Linking
package import Passwords
import Projects
package import Secrets
package import Sessions
package import Storage
package import struct Foundation.Date

/// The use cases, each a type in its own file, which share one set of parts.
package struct AccountsService: Sendable {
    private let parts: Parts

    package init(_ parts: Parts) { self.parts = parts }

    package var createAuthURI: CreateAuthURI { CreateAuthURI(parts: parts) }
    package var visitProvider: VisitProvider { VisitProvider(parts: parts) }
    package var returnFromProvider: ReturnFromProvider { ReturnFromProvider(parts: parts) }
    package var signInPage: SignInPage { SignInPage(parts: parts) }
    package var redeemSignInCode: RedeemSignInCode { RedeemSignInCode(parts: parts) }
    package var signInWithIdP: SignInWithIdP { SignInWithIdP(parts: parts) }
    package var signUp: SignUp { SignUp(parts: parts) }
    package var signInWithPassword: SignInWithPassword { SignInWithPassword(parts: parts) }
    package var signInWithCustomToken: SignInWithCustomToken { SignInWithCustomToken(parts: parts) }
    package var signInWithEmailLink: SignInWithEmailLink { SignInWithEmailLink(parts: parts) }
    package var enrollSecondFactor: EnrollSecondFactor { EnrollSecondFactor(parts: parts) }
    package var withdrawSecondFactor: WithdrawSecondFactor { WithdrawSecondFactor(parts: parts) }
    package var signInWithSecondFactor: SignInWithSecondFactor { SignInWithSecondFactor(parts: parts) }
    package var signInWithPhoneNumber: SignInWithPhoneNumber { SignInWithPhoneNumber(parts: parts) }
    package var sendVerificationCode: SendVerificationCode { SendVerificationCode(parts: parts) }
    package var sendOOBCode: SendOOBCode { SendOOBCode(parts: parts) }
    package var applyOOBCode: ApplyOOBCode { ApplyOOBCode(parts: parts) }
    package var resetPassword: ResetPassword { ResetPassword(parts: parts) }
    package var showAction: ShowAction { ShowAction(parts: parts) }
    package var followSignInLink: FollowSignInLink { FollowSignInLink(parts: parts) }
    package var checkContinueURL: CheckContinueURL { CheckContinueURL(parts: parts) }
    package var lookUp: LookUp { LookUp(parts: parts) }
    package var updateAccount: UpdateAccount { UpdateAccount(parts: parts) }
    package var deleteAccount: DeleteAccount { DeleteAccount(parts: parts) }
    package var refresh: Refresh { Refresh(parts: parts) }
    package var signOut: SignOut { SignOut(parts: parts) }
    package var listSessions: ListSessions { ListSessions(parts: parts) }
    package var providerToken: ProviderToken { ProviderToken(parts: parts) }
    package var explainSignIn: ExplainSignIn { ExplainSignIn(parts: parts) }
    package var revokeToken: RevokeToken { RevokeToken(parts: parts) }
    package var credentialState: ReadCredentialState { ReadCredentialState(parts: parts) }
    package var receiveNotification: ReceiveNotification { ReceiveNotification(parts: parts) }
    package var admin: AdminAccounts { AdminAccounts(parts: parts) }
    package var importAccounts: ImportAccounts { ImportAccounts(parts: parts) }
    package var grantAccessToken: GrantAccessToken { GrantAccessToken(parts: parts) }
    package var createSessionCookie: CreateSessionCookie { CreateSessionCookie(parts: parts) }
    package var deleteAccounts: DeleteAccounts { DeleteAccounts(parts: parts) }
    package var queryAccounts: QueryAccounts { QueryAccounts(parts: parts) }
    package var countProviders: CountProviders { CountProviders(stores: parts.stores, development: parts.development) }
    package var listRevocations: ListRevocations { ListRevocations(parts: parts) }
    package var listAuditEntries: ListAuditEntries { ListAuditEntries(parts: parts) }
    package var mergeAccounts: MergeAccounts { MergeAccounts(parts: parts) }
    package var signInToConsole: SignInToConsole { SignInToConsole(parts: parts) }
    package var setUpConsole: SetUpConsole { SetUpConsole(parts: parts) }
    package var countSignIns: CountSignIns { CountSignIns(parts: parts) }
    package var rehearseSignIn: RehearseSignIn { RehearseSignIn(parts: parts) }
}

/// The shared parts of the use cases.
package struct Parts: Sendable {
    let stores: Stores
    let federation: FederationService
    let passwords: PasswordHasher
    let tokenVerifier: any TokenVerifier
    /// Creates ID tokens instead of the signing keys; nil in production.
    let tokenSigner: (any TokenSigner)?
    /// The public keys of service accounts.
    let publicKeys = RSAPublicKeyCache(capacity: 1_024)
    let random: RandomSource
    /// The current time during a request; use cases use ``now()``.
    let clock: @Sendable () -> Date
    /// Waits before checking again what another request is doing.
    let pause: @Sendable (Duration) async throws -> Void
    /// Nil without a mail server: emails wait in the outbox.
    let mailer: Mailer?
    /// Calls blocking functions; if nil, sign-ins that need one are refused.
    let functions: FunctionCaller?
    /// Nil without a way to send SMS: they wait in the outbox.
    let messenger: Messenger?
    /// The page for links in emails, from the configuration alone; nil if there is none.
    let actionURL: @Sendable () -> String?
    /// The service's URL without a trailing `/`, from the configuration alone; nil if it is not set.
    let ownURL: @Sendable () -> String?
    /// Whether to allow what only `identity dev` may do.
    let development: Bool
    /// Reads an unsigned custom token; nil for all others, and in production for all.
    let unsignedCustomToken: @Sendable (_ text: String) -> CustomToken?
    /// Reads the password in a hash of the emulator; nil for all others, and in production for all.
    let passwordInHash: @Sendable (_ text: String) -> Secret?

    package init(
        stores: Stores,
        federation: FederationService,
        passwords: PasswordHasher,
        tokenVerifier: any TokenVerifier,
        tokenSigner: (any TokenSigner)? = nil,
        random: RandomSource,
        now: @escaping @Sendable () -> Date,
        pause: @escaping @Sendable (Duration) async throws -> Void,
        mailer: Mailer?,
        functions: FunctionCaller?,
        messenger: Messenger?,
        actionURL: @escaping @Sendable () -> String?,
        ownURL: @escaping @Sendable () -> String?,
        development: Bool,
        unsignedCustomToken: @escaping @Sendable (_ text: String) -> CustomToken? = { _ in nil },
        passwordInHash: @escaping @Sendable (_ text: String) -> Secret? = { _ in nil }
    ) {
        self.stores = stores
        self.federation = federation
        self.passwords = passwords
        self.tokenVerifier = tokenVerifier
        self.tokenSigner = tokenSigner
        self.random = random
        clock = now
        self.pause = pause
        self.mailer = mailer
        self.functions = functions
        self.messenger = messenger
        self.actionURL = actionURL
        self.ownURL = ownURL
        self.development = development
        self.unsignedCustomToken = unsignedCustomToken
        self.passwordInHash = passwordInHash
    }

    var keyRing: KeyRing { stores.keyRing }
    var configuration: ConfigurationStore { stores.configuration }
    var accounts: AccountStore { stores.accounts }
    var sessions: SessionStore { stores.sessions }
    var flows: FlowStore { stores.flows }
    var pendingCredentials: PendingCredentialStore { stores.pendingCredentials }
    var providerTokens: ProviderTokenStore { stores.providerTokens }

    /// The time of the request, which is read once, so that everything it stores or signs has the same second.
    func now() -> Date { RequestTime.current ?? clock() }

    /// Seconds since 1970.
    var seconds: Int64 { Int64(now().timeIntervalSince1970) }

    func newAccountID() -> AccountID {
        AccountID(random.text(28, of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
    }
}

extension Caller {
    var scope: Scope { Scope(project: project.id, tenant: tenant) }
}
