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
    package let createAuthURI: CreateAuthURI
    package let visitProvider: VisitProvider
    package let returnFromProvider: ReturnFromProvider
    package let signInPage: SignInPage
    package let redeemSignInCode: RedeemSignInCode
    package let signInWithIdP: SignInWithIdP
    package let signUp: SignUp
    package let signInWithPassword: SignInWithPassword
    package let signInWithCustomToken: SignInWithCustomToken
    package let signInWithEmailLink: SignInWithEmailLink
    package let enrollSecondFactor: EnrollSecondFactor
    package let withdrawSecondFactor: WithdrawSecondFactor
    package let signInWithSecondFactor: SignInWithSecondFactor
    package let signInWithPhoneNumber: SignInWithPhoneNumber
    package let sendVerificationCode: SendVerificationCode
    package let sendOOBCode: SendOOBCode
    package let applyOOBCode: ApplyOOBCode
    package let resetPassword: ResetPassword
    package let showAction: ShowAction
    package let followSignInLink: FollowSignInLink
    package let checkContinueURL: CheckContinueURL
    package let lookUp: LookUp
    package let updateAccount: UpdateAccount
    package let deleteAccount: DeleteAccount
    package let refresh: Refresh
    package let signOut: SignOut
    package let listSessions: ListSessions
    package let providerToken: ProviderToken
    package let explainSignIn: ExplainSignIn
    package let revokeToken: RevokeToken
    package let credentialState: ReadCredentialState
    package let receiveNotification: ReceiveNotification
    package let admin: AdminAccounts
    package let importAccounts: ImportAccounts
    package let grantAccessToken: GrantAccessToken
    package let createSessionCookie: CreateSessionCookie
    package let deleteAccounts: DeleteAccounts
    package let queryAccounts: QueryAccounts
    package let countProviders: CountProviders
    package let listRevocations: ListRevocations
    package let listAuditEntries: ListAuditEntries
    package let mergeAccounts: MergeAccounts
    package let signInToConsole: SignInToConsole
    package let setUpConsole: SetUpConsole
    package let countSignIns: CountSignIns
    package let rehearseSignIn: RehearseSignIn

    package init(_ parts: Parts) {
        createAuthURI = CreateAuthURI(parts: parts)
        visitProvider = VisitProvider(parts: parts)
        returnFromProvider = ReturnFromProvider(parts: parts)
        signInPage = SignInPage(parts: parts)
        redeemSignInCode = RedeemSignInCode(parts: parts)
        signInWithIdP = SignInWithIdP(parts: parts)
        signUp = SignUp(parts: parts)
        signInWithPassword = SignInWithPassword(parts: parts)
        signInWithCustomToken = SignInWithCustomToken(parts: parts)
        signInWithEmailLink = SignInWithEmailLink(parts: parts)
        enrollSecondFactor = EnrollSecondFactor(parts: parts)
        withdrawSecondFactor = WithdrawSecondFactor(parts: parts)
        signInWithSecondFactor = SignInWithSecondFactor(parts: parts)
        signInWithPhoneNumber = SignInWithPhoneNumber(parts: parts)
        sendVerificationCode = SendVerificationCode(parts: parts)
        sendOOBCode = SendOOBCode(parts: parts)
        applyOOBCode = ApplyOOBCode(parts: parts)
        resetPassword = ResetPassword(parts: parts)
        showAction = ShowAction(parts: parts)
        followSignInLink = FollowSignInLink(parts: parts)
        checkContinueURL = CheckContinueURL(parts: parts)
        lookUp = LookUp(parts: parts)
        updateAccount = UpdateAccount(parts: parts)
        deleteAccount = DeleteAccount(parts: parts)
        refresh = Refresh(parts: parts)
        signOut = SignOut(parts: parts)
        listSessions = ListSessions(parts: parts)
        providerToken = ProviderToken(parts: parts)
        explainSignIn = ExplainSignIn(parts: parts)
        revokeToken = RevokeToken(parts: parts)
        credentialState = ReadCredentialState(parts: parts)
        receiveNotification = ReceiveNotification(parts: parts)
        admin = AdminAccounts(parts: parts)
        importAccounts = ImportAccounts(parts: parts)
        grantAccessToken = GrantAccessToken(parts: parts)
        createSessionCookie = CreateSessionCookie(parts: parts)
        deleteAccounts = DeleteAccounts(parts: parts)
        queryAccounts = QueryAccounts(parts: parts)
        countProviders = CountProviders(stores: parts.stores, development: parts.development)
        listRevocations = ListRevocations(parts: parts)
        listAuditEntries = ListAuditEntries(parts: parts)
        mergeAccounts = MergeAccounts(parts: parts)
        signInToConsole = SignInToConsole(parts: parts)
        setUpConsole = SetUpConsole(parts: parts)
        countSignIns = CountSignIns(parts: parts)
        rehearseSignIn = RehearseSignIn(parts: parts)
    }
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
