import Domain
import Federation
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService { package var signInWithIdP: SignInWithIdP { SignInWithIdP(service: self) } }

/// Signs in with an identity provider: with a finished authorization flow, with tokens that an app received, or with
/// the pending credential of a conflict.
package struct SignInWithIdP: Sendable {
    let service: AccountsService

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
        // Before the flow and the provider's code are used up, and before a thief's session makes others wait (threats.md, T-E40).
        let token: VerifiedIDToken? =
            if let idToken = request.idToken { try await service.verify(idToken, caller: caller) } else { nil }
        if let token {
            try await service.stores.rateLimits.take(service.sessionLimits(of: token.account, token.session, caller))
        }
        var proof = try await prove(request, requestURI: requestURI, token, caller)
        for number in AccountsService.tries {
            try await service.pause(beforeTry: number)
            let next =
                if let token {
                    try await link(proof, to: token, request, caller)
                } else {
                    try await signIn(proof, request, caller)
                }
            switch next {
            case .conflict(let proof, let outcome):
                // The credential is kept, so that it can be linked after a sign-in with an existing method.
                return proof.result(outcome, pendingToken: try await keep(proof, request, caller))
            case .write(let attempt):
                switch try await service.accounts.carry(out: attempt.plan, making: attempt.account, attempt.write) {
                case .applied(let validSince): return try result(of: attempt, validSince: validSince, caller)
                case .providerDisabled: throw AccountsError.providerDisabled
                case .stale: proof = try await reread(proof, caller)
                case .duplicateToken:
                    proof = try await reread(proof, caller)
                    guard proof.pending?.redeemed != nil else { throw AccountsError.duplicateCredential }
                }
            case nil: continue
            }
        }
        throw AccountsError.contended
    }

    private enum Next {
        /// Nothing changes: the client receives a pending token.
        case conflict(Proof, FederatedSignInResult.Outcome)
        case write(Attempt)
    }

    /// A write, and the account and session afterwards.
    private struct Attempt {
        let proof: Proof
        let plan: SignInPlan
        var event: AccountEvent
        /// After the write.
        var account: Account
        var write: SignInWrite
        /// Of the session that is opened or continued.
        let secret: Secret
        var challenge: SecondFactorChallenge?
    }

    // MARK: Signing in

    /// - Returns: nil if the accounts changed while they were read.
    private func signIn(_ proof: Proof, _ request: Request, _ caller: Caller) async throws -> Next? {
        let session = prepareSession(proof.credential, caller)
        let policy = service.policy(for: proof.credential, caller)
        var write = makeWrite(proof, .open(session.values), caller)
        write.adoptsEmail = policy.oneAccountPerEmail
        let found = try await service.accounts.candidates(
            for: proof.credential.identity,
            // A blocking function must run before anything is written, a token must fit its cookie, and the statement knows
            // nothing of passkeys and of conflicts.
            opening: proof.pending != nil || service.asksBeforeSignIn(by: proof.credential.identity.provider, caller)
                || caller.longestIDToken != nil || caller.project.settings.passkeys.isSecondFactor ? nil : write,
            in: caller.scope
        )
        try requireSameIssuer(found, proof.credential.identity, caller)
        try requireReadEmail(found, proof.credential, caller)
        try requireStanding(proof, found)
        let proof = try await named(proof, found.owner, caller)
        write.credential = proof.credential
        let identity = proof.credential.identity
        let decision = SignInDecision.decide(
            for: identity,
            owner: found.owner?.candidate(at: service.now()),
            emailOwner: found.emailOwner?.candidate(at: service.now()),
            purpose: proof.purpose == .reauthenticate || !request.autoCreate ? .reauthenticate : .signIn,
            policy: policy
        ).decision
        let (plan, event, account): (SignInPlan, AccountEvent, Account)
        switch decision {
        case .refuse(let refusal): throw AccountsError(refusal)
        case .conflict(let account, let providers):
            AccountEvents.count(conflict: .raised, identity.provider, caller)
            AccountEvent.conflict.log(account, provider: identity.provider, caller)
            let mayLearn = !caller.project.settings.emailEnumerationProtection || identity.emailVerifiedClaim
            return .conflict(
                proof,
                .needsConfirmation(account: mayLearn ? account : nil, providers: mayLearn ? providers : nil)
            )
        case .signIn, .adoptEmail:
            guard let owner = found.owner else { return nil }
            guard !found.isBlocked else { throw AccountsError.userDisabled }
            write.restoresGrant = found.isWithdrawn
            let effect = found.isOpened ? .none : decision.emailEffect
            plan = .signIn(to: owner, effect: effect, isOpened: found.isOpened)
            (event, account) = (.signedIn, owner.named(by: write.credential).changed(by: effect))
        case .signUp(let email, let verified, let displaced):
            write.limits = try await service.takeBeforeAsking(service.signUpLimits(caller), caller)
            let loss = email.flatMap { email in displaced.map { service.displaced(email, of: $0, caller) } }
            plan = .signUp(displacing: loss)
            (event, account) = (.signedUp, newAccount(for: identity, email: email, verified: verified))
        case .link(_, let replaced):
            guard let owner = found.emailOwner else { return nil }
            if replaced != nil { write.revocable = service.revocable([identity.provider], caller) }
            plan = .signInAndLink(to: owner, replaced: replaced)
            (event, account) = (.linked, owner.linking(identity))
        case .takeOver:
            guard let owner = found.emailOwner else { return nil }
            write.revocable = service.revocable(Set(owner.linked.map(\.provider)), caller)
            plan = .takeOver(of: owner)
            (event, account) = (.takenOver, owner.takenOver(by: identity, now: service.seconds))
        }
        // The first factor's changes stay, whatever the result of the second.
        let entrance = try await service.enter(
            account,
            isNew: event == .signedUp,
            session,
            from: plan.before?.version,
            by: proof.credential,
            caller
        )
        write.session = entrance.newSession.map(SessionEffect.open) ?? .none
        write.amendment = entrance.amendment
        write.notice = service.notice(
            after: event,
            of: entrance.account,
            isChanged: decision.emailEffect != .none,
            caller
        )
        return .write(
            Attempt(
                proof: proof,
                plan: plan,
                event: event,
                account: entrance.account,
                write: write,
                secret: session.secret,
                challenge: entrance.challenge
            )
        )
    }

    // MARK: Linking

    private func link(
        _ proof: Proof,
        to token: VerifiedIDToken,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Next {
        let found = try await service.accounts.candidates(
            for: proof.credential.identity,
            caller: (token.account, token.session),
            in: caller.scope
        )
        let user = try SignedInAccount(token: token, account: found.signedIn, session: found.session)
        let account = user.account
        try requireSameIssuer(found, proof.credential.identity, caller)
        try requireReadEmail(found, proof.credential, caller)
        var proof = try await named(proof, account, caller)
        // The same request may have arrived twice, and the other one was first.
        if found.owner?.id == account.id { proof = try await reread(proof, caller) }
        let identity = proof.credential.identity
        let decision = LinkDecision.decide(
            for: identity,
            account: account.candidate(at: service.now()),
            owner: found.owner?.id,
            emailOwner: found.emailOwner?.id,
            policy: service.policy(for: proof.credential, caller)
        )
        let (plan, linked): (SignInPlan, Account)
        switch decision {
        case .link(let effect):
            if !account.isGuest { try service.require([.addMethod], of: user, caller) }
            (plan, linked) = (.link(to: account, effect: effect), account.linking(identity, effect: effect))
        case .keep:
            guard !found.isBlocked else { throw AccountsError.userDisabled }
            (plan, linked) = (.keep(account), account)
        case .refuse(let refusal):
            AccountEvent.linkRefused.log(account.id, provider: identity.provider, caller)
            // An `errorMessage` that the SDKs for Apple platforms do not know ends the app.
            guard request.returnIdPCredential, refusal != .providerAlreadyLinked else {
                throw AccountsError.linking(refusal)
            }
            return .conflict(proof, .linkRefused(refusal))
        }
        // Linking proves the identity, not the account: `auth_time` stays (docs/guide/linking.md).
        let renewal = service.prepareRenewal()
        var session = renewal.of(user.session, method: (identity.provider, proof.credential.signInAttributes))
        let admitted = try await service.admit(
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
        if found.owner == nil { write.notice = service.notice(after: .linked, of: admitted.account, caller) }
        return .write(
            Attempt(
                proof: proof,
                plan: plan,
                event: .linked,
                account: admitted.account,
                write: write,
                secret: renewal.secret
            )
        )
    }

    // MARK: The end of both

    private func result(of attempt: Attempt, validSince: Int64, _ caller: Caller) throws -> FederatedSignInResult {
        let provider = attempt.proof.credential.identity.provider
        var account = attempt.account
        account.validSince = validSince
        if attempt.proof.isResumed {
            AccountEvents.count(conflict: attempt.event == .linked ? .linked : .signedIn, provider, caller)
        }
        // What only repeats a request was told before; what waits for a second factor is no sign-in yet.
        if !attempt.plan.isRepeated, attempt.challenge == nil || attempt.event != .signedIn {
            attempt.event.log(account.id, provider: provider, caller)
        }
        return attempt.proof.result(
            .signedIn(
                account,
                try firstFactor(of: attempt, for: account, caller),
                isNewUser: attempt.event == .signedUp,
                emailRecycled: attempt.plan.recyclesEmail
            )
        )
    }

    private func firstFactor(of attempt: Attempt, for account: Account, _ caller: Caller) throws -> FirstFactorResult {
        if let challenge = attempt.challenge { return .needsSecondFactor(challenge) }
        let tokens = try service.issueTokens(for: account, attempt.write.session, attempt.secret, caller: caller)
        // Only a new account that a blocking function disabled has no session.
        guard let tokens else { throw AccountsError.userDisabled }
        return .signedIn(tokens)
    }
}
