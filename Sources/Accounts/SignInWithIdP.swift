import Federation
import Linking
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService { package var signInWithIdP: SignInWithIdP { SignInWithIdP(parts: parts) } }

/// Signs in with an identity provider: with a finished authorization flow, with tokens that an app received, or with
/// the pending credential of a conflict.
package struct SignInWithIdP: Sendable {
    let parts: Parts

    package struct Request: Sendable {
        package var requestURI: String?
        package var postBody: String?
        package var sessionID: Secret?
        package var pendingToken: Secret?
        /// Links to this token's account instead of signing in.
        package var idToken: String?
        package var autoCreate = true
        /// Returns link conflicts in the response, with the credential.
        package var returnIdPCredential = false

        package init() {}
    }

    package func callAsFunction(_ request: Request, _ caller: Caller) async throws -> FederatedSignInResult {
        guard let requestURI = request.requestURI, !requestURI.isEmpty else { throw AccountsError.missingRequestURI }
        let proof = try await prove(request, requestURI: requestURI, caller)
        guard let idToken = request.idToken else { return try await signIn(proof, request, caller) }
        return try await link(proof, request, idToken: idToken, caller)
    }

    // MARK: Signing in

    private func signIn(_ proof: Proof, _ request: Request, _ caller: Caller) async throws -> FederatedSignInResult {
        let store = parts.accounts
        var proof = proof
        for number in Parts.tries {
            try await parts.pause(beforeTry: number)
            let session = prepareSession(proof.credential, caller)
            var write = makeWrite(proof, .open(session.values), caller)
            let found = try await store.candidates(
                for: proof.credential.identity,
                // A blocking function must run before anything is written.
                opening: parts.asksBeforeSignIn(caller) ? nil : write,
                in: caller.scope
            )
            try requireSameIssuer(found, proof.credential.identity, caller)
            if found.owner?.displayName == nil { try await recallName(for: &proof.credential, caller) }
            write.credential = proof.credential
            let identity = proof.credential.identity
            let decision = SignInDecision.decide(
                for: identity,
                owner: found.owner?.candidate,
                emailOwner: found.emailOwner?.candidate,
                purpose: proof.purpose == .reauthenticate
                    ? .reauthenticate : request.autoCreate ? .signIn : .signInToExisting,
                policy: parts.policy(for: proof.credential, caller)
            ).decision
            let attempt: Attempt
            switch decision {
            case .refuse(let refusal):
                throw AccountsError(refusal)
            case .conflict(_, let providers):
                return try await conflict(proof, request, with: found.emailOwner, providers: providers, caller)
            case .signIn:
                guard let account = found.owner else { continue }
                guard !found.isBlocked else { throw AccountsError.userDisabled }
                attempt = Attempt(event: .signedIn, account: account.named(by: proof.credential)) { _, write in
                    var write = write
                    write.restoresGrant = found.isWithdrawn
                    return found.isOpened
                        ? .applied(validSince: account.validSince) : try await store.signIn(to: account, write)
                }
            case .signUp(let email, let verified):
                let account = newAccount(for: identity, email: email, verified: verified)
                write.limits = try await parts.takeBeforeAsking(parts.signUpLimits(caller), caller)
                attempt = Attempt(event: .signedUp, account: account) { try await store.signUp($0, $1) }
            case .link(_, let replaced):
                guard let account = found.emailOwner else { continue }
                if replaced != nil { write.revocable = parts.revocable([identity.provider], caller) }
                attempt = Attempt(event: .linked, account: account.linking(identity), recycled: replaced != nil) {
                    try await store.signInAndLink(to: account, replaced: replaced, $1)
                }
            case .takeOver:
                guard let account = found.emailOwner else { continue }
                write.revocable = parts.revocable(Set(account.linked.map(\.provider)), caller)
                attempt = Attempt(event: .takenOver, account: account.takenOver(by: identity, now: parts.seconds)) {
                    try await store.takeOver(account, $1)
                }
            }
            // The first factor's changes stay, whatever the result of the second.
            let challenge = try parts.challenge(attempt.account, session, caller)
            let entrance =
                challenge == nil
                ? try await admit(attempt, session, proof, caller)
                : Entrance(account: attempt.account, session: session)
            write.session = challenge == nil ? entrance.newSession.map(SessionEffect.open) ?? .none : .none
            write.amendment = entrance.amendment
            write.notice = parts.notice(after: attempt.event, of: entrance.account, caller)
            switch try await attempt.apply(entrance.account, write) {
            case .stale: proof = try await reread(proof, caller)
            case .providerDisabled: throw AccountsError.providerDisabled
            case .duplicateToken:
                proof = try await reread(proof, caller)
                guard proof.pending?.redeemed != nil else { throw AccountsError.duplicateCredential }
            case .applied(let validSince):
                if proof.isResumed {
                    AccountEvents.count(
                        conflict: attempt.event == .linked ? .linked : .signedIn,
                        identity.provider,
                        caller
                    )
                }
                if challenge == nil || attempt.event != .signedIn {
                    attempt.event.log(attempt.account.id, provider: identity.provider, caller)
                }
                try entrance.requireEnabled()
                var account = entrance.account
                account.validSince = validSince
                return FederatedSignInResult(
                    outcome: .signedIn(
                        account,
                        try challenge.map(FirstFactorResult.needsSecondFactor)
                            ?? .signedIn(parts.issueTokens(for: account, entrance.session, caller: caller)),
                        isNewUser: attempt.event == .signedUp,
                        emailRecycled: attempt.recycled
                    ),
                    credential: proof.credential,
                    context: proof.context
                )
            }
        }
        throw AccountsError.contended
    }

    /// A decision's result: the statement to run, and the account afterwards.
    private struct Attempt {
        var event: AccountEvent
        var account: Account
        var recycled = false
        /// For a new account, the parameter is the account to create.
        var apply: (Account, SignInWrite) async throws -> WriteOutcome
    }

    private func admit(
        _ attempt: Attempt,
        _ session: PreparedSession,
        _ proof: Proof,
        _ caller: Caller
    ) async throws -> Entrance {
        attempt.event == .signedUp
            ? try await parts.admit(new: attempt.account, session, by: proof.credential, caller)
            : try await parts.admit(attempt.account, session, by: proof.credential, caller)
    }

    /// An account conflict: stores the credential for an hour, so that it can be linked after a sign-in with an
    /// existing method.
    private func conflict(
        _ proof: Proof,
        _ request: Request,
        with account: Account?,
        providers: [ProviderID],
        _ caller: Caller
    ) async throws -> FederatedSignInResult {
        let mayLearn =
            !caller.project.settings.emailEnumerationProtection || proof.credential.identity.emailVerifiedClaim
        AccountEvents.count(conflict: .raised, proof.credential.identity.provider, caller)
        AccountEvent.conflict.log(account?.id, provider: proof.credential.identity.provider, caller)
        return FederatedSignInResult(
            outcome: .needsConfirmation(
                account: mayLearn ? account?.id : nil,
                providers: mayLearn ? providers : nil
            ),
            credential: proof.credential,
            pendingToken: try await keep(proof, request, caller),
            context: proof.context
        )
    }

    // MARK: Linking

    private func link(
        _ proof: Proof,
        _ request: Request,
        idToken: String,
        _ caller: Caller
    ) async throws -> FederatedSignInResult {
        let token = try await parts.verify(idToken, caller: caller)
        var proof = proof
        for number in Parts.tries {
            try await parts.pause(beforeTry: number)
            let found = try await parts.accounts.candidates(
                for: proof.credential.identity,
                caller: (token.account, token.session),
                in: caller.scope
            )
            let user = try SignedInAccount(token: token, account: found.signedIn, session: found.session)
            try requireSameIssuer(found, proof.credential.identity, caller)
            if user.account.displayName == nil { try await recallName(for: &proof.credential, caller) }
            let identity = proof.credential.identity
            // The same request may have arrived twice, and the other one was first.
            if found.owner?.id == user.account.id { proof = try await reread(proof, caller) }
            let decision = LinkDecision.decide(
                for: identity,
                account: user.account.candidate,
                owner: found.owner?.id,
                emailOwner: found.emailOwner?.id,
                policy: parts.policy(for: proof.credential, caller)
            )
            // Linking proves the identity, not the account: `auth_time` stays (docs/guide/linking.md).
            let renewal = parts.prepareRenewal()
            let session = renewal.of(user.session, method: (identity.provider, proof.credential.signInAttributes))
            var write = makeWrite(proof, .renew(session, retiresOldSecret: false), caller)
            let written: WriteOutcome
            var account = user.account
            switch decision {
            case .link(let effect):
                if !account.isGuest { try parts.require([.addMethod], of: user, caller) }
                let linked = account.linking(identity, effect: effect)
                write.notice = parts.notice(after: .linked, of: linked, caller)
                written = try await parts.accounts.link(to: account, effect: effect, write)
                account = linked
            case .refuse where found.owner?.id == account.id && proof.wasRedeemed(by: account.id):
                // The same request again, whose response was lost, gets the same result.
                written = try await parts.accounts.signIn(to: account, write)
            case .refuse(let refusal):
                AccountEvent.linkRefused.log(account.id, provider: identity.provider, caller)
                guard request.returnIdPCredential else { throw AccountsError.linking(refusal) }
                return FederatedSignInResult(
                    outcome: .linkRefused(refusal),
                    credential: proof.credential,
                    pendingToken: try await keep(proof, request, caller),
                    context: proof.context
                )
            }
            switch written {
            case .stale: proof = try await reread(proof, caller)
            case .providerDisabled: throw AccountsError.providerDisabled
            case .duplicateToken:
                proof = try await reread(proof, caller)
                guard proof.pending?.redeemed != nil else { throw AccountsError.duplicateCredential }
            case .applied(let validSince):
                if proof.isResumed { AccountEvents.count(conflict: .linked, identity.provider, caller) }
                AccountEvent.linked.log(account.id, provider: identity.provider, caller)
                return FederatedSignInResult(
                    outcome: .signedIn(
                        account,
                        .signedIn(
                            try parts.issueTokens(
                                for: account,
                                session.written(validSince: validSince),
                                renewal.secret,
                                caller: caller
                            )
                        ),
                        isNewUser: false,
                        emailRecycled: false
                    ),
                    credential: proof.credential,
                    context: proof.context
                )
            }
        }
        throw AccountsError.contended
    }
}
