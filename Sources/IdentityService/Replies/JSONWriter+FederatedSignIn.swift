package import Accounts
import Domain
import Federation
package import Projects
import Secrets

extension JSONWriter {
    /// The response of `signInWithIdp`, in each of its forms.
    ///
    /// SDKs test for the presence of `needConfirmation` and `errorMessage`, so both are only written if they apply;
    /// `pendingToken` is only written with a token of the provider, because the Web SDK throws otherwise.
    package mutating func federatedSignIn(_ result: FederatedSignInResult, in tenant: TenantID = .none) {
        kind("VerifyAssertionResponse")
        let credential = result.credential
        member("federatedId", credential.federatedID)
        member("providerId", credential.identity.provider.rawValue)
        member("email", credential.identity.email?.canonical)
        member("emailVerified", result.emailVerified)
        switch result.outcome {
        case .signedIn(let account, let result, let isNewUser, let emailRecycled):
            member("localId", account.id.rawValue)
            firstFactor(result)
            member("isNewUser", ifTrue: isNewUser)
            member("emailRecycled", ifTrue: emailRecycled)
        case .needsConfirmation(let account, let providers):
            member("localId", account?.rawValue)
            member("needConfirmation", true)
            member("verifiedProvider", strings: providers.flatMap { $0.isEmpty ? nil : $0.map(\.rawValue) })
        case .linkRefused(let refusal):
            member("errorMessage", refusal.rawValue)
        }
        profile(credential.identity.profile)
        member("rawUserInfo", credential.rawUserInfo)
        providerTokens(credential)
        if credential.tokens.idToken != nil || credential.tokens.accessToken != nil {
            member("pendingToken", result.pendingToken?.reveal())
        }
        member("context", result.context)
        self.tenant(tenant)
    }

    /// The response of `accounts:providerToken`, without the refresh token.
    mutating func providerToken(_ token: FreshToken) {
        member("providerId", token.provider.rawValue)
        member("oauthAccessToken", token.tokens.accessToken)
        member("oauthTokenSecret", token.tokens.tokenSecret)
        member("oauthIdToken", token.tokens.idToken)
        member("oauthExpireIn", number: token.expiresIn)
        member("expiresAt", int64: token.expiresAt.map { $0 * 1_000 })
        member("scopes", strings: token.tokens.scopes.isEmpty ? nil : token.tokens.scopes)
    }

    private mutating func profile(_ profile: Profile) {
        self.profile(profile, Profile.fields)
        member("fullName", profile.displayName)
        member("username", profile.screenName)  // what iOS reads
    }

    private mutating func providerTokens(_ credential: FederatedCredential) {
        let tokens = credential.tokens
        member("oauthIdToken", tokens.idToken)
        member("oauthAccessToken", tokens.accessToken)
        member("oauthTokenSecret", tokens.tokenSecret)
        member("oauthExpireIn", number: tokens.expiresIn.map { Int64($0) })
        member("oauthRefreshToken", tokens.refreshToken)
        member("oauthAuthorizationCode", tokens.authorizationCode)
        member("nonce", credential.nonce)
    }
}

extension FederatedSignInResult {
    /// The account's own flag if it is the account's email, otherwise the provider's claim; false without an email and
    /// while no user is signed in to it.
    fileprivate var emailVerified: Bool {
        guard let email = credential.identity.email else { return false }
        switch outcome {
        case .signedIn(let account, _, _, _) where account.email?.canonical == email.canonical:
            return account.emailVerified
        case .needsConfirmation: return false
        case .signedIn, .linkRefused: return credential.identity.emailVerifiedClaim
        }
    }
}
