import Domain
import Projects
import Sessions
import Storage

/// The account of a request's ID token, after its session was checked; only this check creates one.
struct SignedInAccount: Sendable {
    let account: Account
    let session: StoredSession
    let token: VerifiedIDToken

    /// Checks the token against the current account (deleted, revoked, disabled).
    init(token: VerifiedIDToken, account: Account?, session: StoredSession?) throws(AccountsError) {
        guard let account else { throw .userNotFound }
        guard let session, !session.revoked, token.authTime >= account.validSince else { throw .tokenExpired }
        guard !account.isDisabled else { throw .userDisabled }
        self.account = account
        self.session = session
        self.token = token
    }
}

extension AccountsService {
    /// Verifies an ID token alone: signature, project, tenant, times.
    ///
    /// Before a token is refused, keys that another node created less than half a second ago are loaded.
    func verify(_ idToken: String?, caller: Caller) async throws -> VerifiedIDToken {
        guard let idToken else { throw AccountsError.missingIDToken }
        do {
            let found = try await configuration.findingNew(from: caller.addressPrefix) { () -> VerifiedIDToken? in
                do throws(IDTokenError) { return try check(idToken, caller) } catch .unknownKey { return nil }
            }
            guard let found else { throw IDTokenError.unknownKey }
            return found
        } catch let error as IDTokenError {
            throw AccountsError(error)
        }
    }

    private func check(_ idToken: String, _ caller: Caller) throws(IDTokenError) -> VerifiedIDToken {
        try options.tokenVerifier.verify(
            idToken,
            project: caller.project.id,
            issuers: deployment.issuers(of: caller.project),
            tenant: caller.tenant,
            keys: configuration.signingKeys,
            now: seconds
        )
    }

    /// Verifies an ID token and reads its account and session in one statement.
    func authenticate(_ idToken: String?, caller: Caller) async throws -> SignedInAccount {
        try await standing(try await verify(idToken, caller: caller), caller)
    }

    /// Reads the account and session of a verified ID token.
    func standing(_ token: VerifiedIDToken, _ caller: Caller) async throws -> SignedInAccount {
        let found = try await accounts.find(token.account, session: token.session, in: caller.scope)
        return try SignedInAccount(token: token, account: found?.account, session: found?.session)
    }

    /// Refuses an operation that the session may not perform now (``SensitiveOperation``).
    func require(
        _ operations: Set<SensitiveOperation>,
        of user: SignedInAccount,
        _ caller: Caller
    ) throws(AccountsError) {
        let hasSecondFactor = needsSecondFactor(user.account, caller)
        let policy = caller.project.settings.methodChanges
        let isSensitive = operations.contains { $0.isSensitive(under: policy, hasSecondFactor: hasSecondFactor) }
        guard isSensitive else { return }
        try requireRecentSignIn(user.token, caller: caller)
        guard !hasSecondFactor || user.session.secondFactor != nil else { throw .recentSignInRequired }
    }

    func requireRecentSignIn(_ token: VerifiedIDToken, caller: Caller) throws(AccountsError) {
        let window = caller.project.settings.recentSignInSeconds
        guard RecentSignIn.isRecent(authTime: token.authTime, now: seconds, window: window) else {
            throw .recentSignInRequired
        }
    }
}

extension AccountsError {
    init(_ error: IDTokenError) {
        self =
            switch error {
            case .wrongTenant: .tenantMismatch
            // `TOKEN_EXPIRED` is for the session: SDKs sign the user out.
            case .malformed, .wrongAlgorithm, .unknownKey, .badSignature, .wrongIssuer, .wrongAudience, .issuedInFuture,
                .expired:
                .invalidIDToken
            }
    }
}
