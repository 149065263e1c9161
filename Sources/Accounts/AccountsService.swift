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
