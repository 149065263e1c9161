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
        // Before the flow and the provider's code are used up.
        let token: VerifiedIDToken? =
            if let idToken = request.idToken { try await parts.verify(idToken, caller: caller) } else { nil }
        var proof = try await prove(request, requestURI: requestURI, token, caller)
        for number in Parts.tries {
            try await parts.pause(beforeTry: number)
            let decided: Decided? =
                if let token {
                    try await link(&proof, to: token, request, caller)
                } else {
                    try await signIn(&proof, request, caller)
                }
            switch decided {
            case .conflict(let outcome):
                // The credential is kept, so that it can be linked after a sign-in with an existing method.
                let pendingToken = try await keep(proof, request, caller)
                return proof.result(outcome, pendingToken: pendingToken)
            case .write(let attempt):
                if let outcome = try await finish(attempt, &proof, caller) { return proof.result(outcome) }
            case nil: continue
            }
        }
        throw AccountsError.contended
    }

    private enum Decided {
        /// Nothing changes: the client receives a pending token.
        case conflict(FederatedSignInResult.Outcome)
        case write(Attempt)
    }

    /// A write, and the account and session afterwards.
    private struct Attempt {
        var event: AccountEvent
        var account: Account
        /// Of the account as it was read; nil for a new one.
        var version: Int64?
        var write: SignInWrite
        /// The secret of the session that is opened or continued.
        let secret: Secret
        var challenge: SecondFactorChallenge?
        var recycled = false
        /// It was told before: the identity is the account's already.
        var isRepeated = false
        /// For a new account, the first parameter is the account to create.
        var apply: (Account, SignInWrite) async throws -> WriteOutcome
    }

    // MARK: Signing in

    /// - Returns: nil if the accounts changed while they were read.
    private func signIn(_ proof: inout Proof, _ request: Request, _ caller: Caller) async throws -> Decided? {
        let session = prepareSession(proof.credential, caller)
        let policy = parts.policy(for: proof.credential, caller)
        var write = makeWrite(proof, .open(session.values), caller)
        write.adoptsEmail = policy.oneAccountPerEmail
        let found = try await parts.accounts.candidates(
            for: proof.credential.identity,
            // A blocking function must run before anything is written, a token must fit its cookie, and the statement knows
            // nothing of passkeys and of conflicts.
            opening: proof.pending != nil || parts.asksBeforeSignIn(by: proof.credential.identity.provider, caller)
                || caller.longestIDToken != nil || caller.project.settings.passkeys.isSecondFactor ? nil : write,
            in: caller.scope
        )
        try requireSameIssuer(found, proof.credential.identity, caller)
        try requireReadEmail(found, proof.credential, caller)
        try requireStanding(proof, found)
        if found.owner?.displayName == nil { try await recallName(for: &proof.credential, caller) }
        write.credential = proof.credential
        let decision = SignInDecision.decide(
            for: proof.credential.identity,
            owner: found.owner?.candidate(at: parts.now()),
            emailOwner: found.emailOwner?.candidate(at: parts.now()),
            purpose: proof.purpose == .reauthenticate || !request.autoCreate ? .reauthenticate : .signIn,
            policy: policy
        ).decision
        let decided = try await carryOut(decision, found, write, session.secret, caller)
        guard case .write(var attempt) = decided else { return decided }
        // The first factor's changes stay, whatever the result of the second.
        let entrance = try await parts.enter(
            attempt.account,
            isNew: attempt.event == .signedUp,
            session,
            from: attempt.version,
            by: proof.credential,
            caller
        )
        attempt.account = entrance.account
        attempt.challenge = entrance.challenge
        attempt.write.session = entrance.newSession.map(SessionEffect.open) ?? .none
        attempt.write.amendment = entrance.amendment
        attempt.write.notice = parts.notice(
            after: attempt.event,
            of: entrance.account,
            isChanged: decision.emailEffect != .none,
            caller
        )
        return .write(attempt)
    }

    /// The write that a decision requires.
    private func carryOut(
        _ decision: SignInDecision,
        _ found: SignInCandidates,
        _ write: SignInWrite,
        _ secret: Secret,
        _ caller: Caller
    ) async throws -> Decided? {
        let (store, identity) = (parts.accounts, write.credential.identity)
        var write = write
        func attempt(
            _ event: AccountEvent,
            _ account: Account,
            from read: Account? = nil,
            recycled: Bool = false,
            apply: @escaping (Account, SignInWrite) async throws -> WriteOutcome
        ) -> Decided {
            .write(
                Attempt(
                    event: event,
                    account: account,
                    version: read?.version,
                    write: write,
                    secret: secret,
                    recycled: recycled,
                    apply: apply
                )
            )
        }
        switch decision {
        case .refuse(let refusal): throw AccountsError(refusal)
        case .conflict(let account, let providers):
            AccountEvents.count(conflict: .raised, identity.provider, caller)
            AccountEvent.conflict.log(account, provider: identity.provider, caller)
            let mayLearn = !caller.project.settings.emailEnumerationProtection || identity.emailVerifiedClaim
            return .conflict(
                .needsConfirmation(account: mayLearn ? account : nil, providers: mayLearn ? providers : nil)
            )
        case .signIn, .adoptEmail:
            guard let account = found.owner else { return nil }
            guard !found.isBlocked else { throw AccountsError.userDisabled }
            write.restoresGrant = found.isWithdrawn
            let linked = account.linked.first { $0.provider == identity.provider && $0.subject == identity.subject }
            let effect = found.isOpened ? .none : decision.emailEffect
            return attempt(.signedIn, account.named(by: write.credential).changed(by: effect), from: account) {
                let outcome: WriteOutcome =
                    found.isOpened
                    ? .applied(validSince: account.validSince)
                    : try await store.signIn(to: account, effect: effect, $1)
                if case .applied = outcome, let linked, linked.updated(by: identity) != linked {
                    try await store.update(linked.updated(by: identity), by: identity, of: account.id, $1)
                }
                return outcome
            }
        case .signUp(let email, let verified, let displaced):
            write.limits = try await parts.takeBeforeAsking(parts.signUpLimits(caller), caller)
            let loss = email.flatMap { email in displaced.map { parts.displaced(email, of: $0, caller) } }
            return attempt(.signedUp, newAccount(for: identity, email: email, verified: verified)) {
                try await store.signUp($0, displacing: loss, $1)
            }
        case .link(_, let replaced):
            guard let account = found.emailOwner else { return nil }
            if replaced != nil { write.revocable = parts.revocable([identity.provider], caller) }
            return attempt(.linked, account.linking(identity), from: account, recycled: replaced != nil) {
                try await store.signInAndLink(to: account, replaced: replaced, $1)
            }
        case .takeOver:
            guard let account = found.emailOwner else { return nil }
            write.revocable = parts.revocable(Set(account.linked.map(\.provider)), caller)
            return attempt(.takenOver, account.takenOver(by: identity, now: parts.seconds), from: account) {
                try await store.takeOver(account, $1)
            }
        }
    }

    // MARK: Linking

    private func link(
        _ proof: inout Proof,
        to token: VerifiedIDToken,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Decided {
        let store = parts.accounts
        let found = try await store.candidates(
            for: proof.credential.identity,
            caller: (token.account, token.session),
            in: caller.scope
        )
        let user = try SignedInAccount(token: token, account: found.signedIn, session: found.session)
        let account = user.account
        try requireSameIssuer(found, proof.credential.identity, caller)
        try requireReadEmail(found, proof.credential, caller)
        if account.displayName == nil { try await recallName(for: &proof.credential, caller) }
        // The same request may have arrived twice, and the other one was first.
        if found.owner?.id == account.id { proof = try await reread(proof, caller) }
        let identity = proof.credential.identity
        let decision = LinkDecision.decide(
            for: identity,
            account: account.candidate(at: parts.now()),
            owner: found.owner?.id,
            emailOwner: found.emailOwner?.id,
            policy: parts.policy(for: proof.credential, caller)
        )
        // Linking proves the identity, not the account: `auth_time` stays (docs/guide/linking.md).
        let renewal = parts.prepareRenewal()
        var session = renewal.of(user.session, method: (identity.provider, proof.credential.signInAttributes))
        func attempt(
            _ linked: Account,
            isRepeated: Bool = false,
            _ apply: @escaping (Account, SignInWrite) async throws -> WriteOutcome
        ) async throws -> Decided {
            let admitted = try await parts.admit(
                linkTo: linked,
                from: account.version,
                &session,
                method: identity.provider,
                by: proof.credential,
                caller
            )
            var write = makeWrite(proof, .renew(session, retiresOldSecret: false), caller)
            write.amendment = admitted.amendment
            write.restoresGrant = found.owner != nil && found.isWithdrawn
            if found.owner == nil { write.notice = parts.notice(after: .linked, of: admitted.account, caller) }
            return .write(
                Attempt(
                    event: .linked,
                    account: admitted.account,
                    write: write,
                    secret: renewal.secret,
                    isRepeated: isRepeated,
                    apply: apply
                )
            )
        }
        switch decision {
        case .link(let effect):
            if !account.isGuest { try parts.require([.addMethod], of: user, caller) }
            return try await attempt(account.linking(identity, effect: effect)) {
                try await store.link(to: account, effect: effect, $1)
            }
        case .keep:
            guard !found.isBlocked else { throw AccountsError.userDisabled }
            return try await attempt(account, isRepeated: true) { try await store.signIn(to: $0, $1) }
        case .refuse(let refusal):
            AccountEvent.linkRefused.log(account.id, provider: identity.provider, caller)
            // An `errorMessage` that the SDKs for Apple platforms do not know ends the app.
            guard request.returnIdPCredential, refusal != .providerAlreadyLinked else {
                throw AccountsError.linking(refusal)
            }
            return .conflict(.linkRefused(refusal))
        }
    }

    // MARK: The end of both

    /// - Returns: nil if something that the decision depends on changed in the meantime.
    private func finish(
        _ attempt: Attempt,
        _ proof: inout Proof,
        _ caller: Caller
    ) async throws -> FederatedSignInResult.Outcome? {
        let provider = proof.credential.identity.provider
        var account = attempt.account
        switch try await attempt.apply(account, attempt.write) {
        case .providerDisabled: throw AccountsError.providerDisabled
        case .stale:
            proof = try await reread(proof, caller)
            return nil
        case .duplicateToken:
            proof = try await reread(proof, caller)
            guard proof.pending?.redeemed != nil else { throw AccountsError.duplicateCredential }
            return nil
        case .applied(let validSince): account.validSince = validSince
        }
        if proof.isResumed {
            AccountEvents.count(conflict: attempt.event == .linked ? .linked : .signedIn, provider, caller)
        }
        if !attempt.isRepeated, attempt.challenge == nil || attempt.event != .signedIn {
            attempt.event.log(account.id, provider: provider, caller)
        }
        return .signedIn(
            account,
            try result(of: attempt, for: account, caller),
            isNewUser: attempt.event == .signedUp,
            emailRecycled: attempt.recycled
        )
    }

    private func result(of attempt: Attempt, for account: Account, _ caller: Caller) throws -> FirstFactorResult {
        if let challenge = attempt.challenge { return .needsSecondFactor(challenge) }
        let tokens = try parts.issueTokens(for: account, attempt.write.session, attempt.secret, caller: caller)
        // Only a new account that a blocking function disabled has no session.
        guard let tokens else { throw AccountsError.userDisabled }
        return .signedIn(tokens)
    }
}
