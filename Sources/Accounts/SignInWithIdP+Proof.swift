import Domain
import Federation
import Projects
import Secrets
import Sessions
import Storage

import struct Foundation.Date

extension SignInWithIdP {
    /// A verified credential and its source.
    struct Proof: Sendable {
        var credential: FederatedCredential
        var purpose = FlowStore.Purpose.signIn
        var context: String?
        var pending: PendingCredentialStore.Pending?

        /// Whether it resumes a conflict for the first time.
        var isResumed: Bool { pending.map { $0.redeemed == nil } ?? false }

        func result(
            _ outcome: FederatedSignInResult.Outcome,
            pendingToken: Secret? = nil
        ) -> FederatedSignInResult {
            FederatedSignInResult(
                outcome: outcome,
                credential: credential,
                pendingToken: pendingToken,
                context: context
            )
        }
    }

    /// Verifies what the client sent; writes nothing except the end of a flow.
    ///
    /// - Parameter token: of the account to link to, whose session must stand before the provider is asked.
    func prove(
        _ request: Request,
        requestURI: String,
        _ token: VerifiedIDToken?,
        _ caller: Caller
    ) async throws -> Proof {
        let callback: ProviderCallback
        do {
            callback = try ProviderCallback(requestURI: requestURI, postBody: request.postBody)
        } catch {
            throw AccountsError.federation(error)
        }
        if let pendingToken = request.pendingToken {
            guard let pending = try await findPending(.handle(pendingToken.reveal()), caller) else {
                throw AccountsError.invalidPendingToken
            }
            return try resume(pending, caller)
        }
        if callback.isFlowAnswer {
            if let token { _ = try await service.standing(token, caller) }
            return try await finishFlow(callback, request, caller)
        }
        guard let provider = callback.provider, ProviderDefinition.exists(provider),
            let credential = callback.credential
        else {
            throw AccountsError.missingProviderOrCredential(
                requestURI: callback.address,
                provider: callback.provider?.rawValue ?? ""
            )
        }
        let configuration = try enabledProvider(provider, caller)
        if let token {
            if let pending = try await findPending(credential, of: provider, caller) {
                return try resume(pending, caller)
            }
            _ = try await service.standing(token, caller)
        }
        if credential.idToken == nil, configuration != nil {
            try await service.stores.rateLimits.take(service.accessTokenLimits(caller))
        }
        return Proof(credential: try await check(credential, of: provider, configuration, caller))
    }

    /// Verifies tokens that an app received; a failure becomes the error that its client expects.
    private func check(
        _ credential: DirectCredential,
        of provider: ProviderID,
        _ configuration: ProviderConfiguration?,
        _ caller: Caller
    ) async throws -> FederatedCredential {
        do {
            let verified = try await verify(credential, of: provider, configuration, caller)
            if verified.oneTimeToken != nil, credential.nonce == nil, credential.accessToken != nil,
                let idToken = credential.idToken, try await service.accounts.wasUsed(idToken, in: caller.scope)
            {
                throw FederationError.nonceMissingInRequest
            }
            return verified
        } catch FederationError.nonceMissingInRequest where credential.accessToken != nil {
            // An ID token of our own flow has a nonce that no app knows, or it was used. The Web SDK's credential for
            // Google contains that token and the access token; the latter is sufficient proof, so the ID token is ignored.
            var rest = credential
            rest.idToken = nil
            try await service.stores.rateLimits.take(service.accessTokenLimits(caller))
            do {
                return try await verify(rest, of: provider, configuration, caller)
            } catch {
                throw AccountsError.federation(.nonceMissingInRequest)
            }
        } catch FederationError.nonceMismatch {
            // A client that resends a used token gets that error first, whatever nonce it sends.
            guard let idToken = credential.idToken,
                try await service.accounts.wasUsed(idToken, in: caller.scope)
            else { throw AccountsError.federation(.nonceMismatch) }
            throw AccountsError.duplicateCredential
        } catch let error as FederationError {
            throw AccountsError.federation(error, at: provider, caller)
        }
    }

    private func verify(
        _ credential: DirectCredential,
        of provider: ProviderID,
        _ configuration: ProviderConfiguration?,
        _ caller: Caller
    ) async throws(FederationError) -> FederatedCredential {
        try await service.federation.calling(for: caller.project.id) {
            [federation = service.federation] () async throws(FederationError) in
            try await federation.verify(credential, id: provider, with: configuration)
        }
    }

    private func finishFlow(_ callback: ProviderCallback, _ request: Request, _ caller: Caller) async throws -> Proof {
        guard let state = callback.state, let sessionID = request.sessionID, !sessionID.isEmpty,
            let consumed = try await service.flows.consume(
                state: state.reveal(),
                sessionID: sessionID.reveal(),
                in: caller.scope,
                now: service.now()
            )
        else { throw AccountsError.invalidFlow }
        // All providers share one callback URL: only the flow decides whose response this is, never the request (T-B2).
        guard callback.provider == nil || callback.provider == consumed.provider else {
            throw AccountsError.invalidFlow
        }
        guard let configuration = try enabledProvider(consumed.provider, caller) else {
            throw AccountsError.providerNotFound
        }
        return Proof(
            credential: try await redeem(callback, consumed, configuration, caller),
            purpose: consumed.purpose,
            context: consumed.context
        )
    }

    /// Exchanges the code; a name that the provider sends only once is stored first.
    private func redeem(
        _ callback: ProviderCallback,
        _ consumed: FlowStore.Consumed,
        _ configuration: ProviderConfiguration,
        _ caller: Caller
    ) async throws -> FederatedCredential {
        let (names, provider, scope, now) = (service.stores.keptNames, consumed.provider, caller.scope, service.now())
        do {
            return try await service.federation.calling(for: caller.project.id) {
                [federation = service.federation] () async throws(FederationError) in
                try await federation.redeem(callback, flow: consumed.flow, with: configuration) {
                    do {
                        try await names.keep($1, of: $0, at: provider, in: scope, now: now)
                    } catch {
                        AccountEvent.nameNotKept.log(nil, provider: provider, caller)
                    }
                }
            }
        } catch {
            throw AccountsError.federation(error, at: provider, caller)
        }
    }

    /// The proof with the name of an earlier sign-in that was not completed, if the account has none.
    func named(_ proof: Proof, _ account: Account?, _ caller: Caller) async throws -> Proof {
        guard account?.displayName == nil, proof.credential.lacksNameSaidOnce else { return proof }
        let identity = proof.credential.identity
        let kept = try await service.stores.keptNames.find(
            identity.subject,
            at: identity.provider,
            in: caller.scope,
            now: service.now()
        )
        var proof = proof
        if let kept { proof.credential.takeName(kept) }
        return proof
    }

    /// The pending credential of a conflict whose provider tokens the client sends again.
    private func findPending(
        _ credential: DirectCredential,
        of provider: ProviderID,
        _ caller: Caller
    ) async throws -> PendingCredentialStore.Pending? {
        let (idToken, accessToken) = (credential.idToken?.reveal(), credential.accessToken?.reveal())
        let key = PendingCredentialStore.Key.tokens(idToken: idToken, accessToken: accessToken, provider: provider)
        let pending = try await findPending(key, caller)
        guard let secret = pending?.credential.tokens.tokenSecret else { return pending }
        return Secret(secret) == credential.tokenSecret ? pending : nil
    }

    private func findPending(
        _ key: PendingCredentialStore.Key,
        _ caller: Caller
    ) async throws -> PendingCredentialStore.Pending? {
        let now = service.now()
        let found: PendingCredentialStore.Pending?
        do {
            found = try await service.pendingCredentials.find(key, in: caller.scope, now: now)
        } catch is ForeignPendingCredential {
            try await service.stores.auditLog.record(.pendingCredentialRefused, in: caller.scope, at: now)
            AccountEvent.foreignPendingCredential.log(nil, caller)
            throw AccountsError.invalidPendingToken
        }
        guard let pending = found else { return nil }
        // It ends with its first success; the same request within a minute gets the same response.
        if let redeemed = pending.redeemed, now.timeIntervalSince(redeemed.at) > PendingCredentialStore.retrySeconds {
            return nil
        }
        return pending
    }

    private func resume(_ pending: PendingCredentialStore.Pending, _ caller: Caller) throws -> Proof {
        _ = try enabledProvider(pending.credential.identity.provider, caller)
        var credential = pending.credential
        // The ID token's single use is the redemption of the pending credential, which the same statement records.
        if pending.redeemed != nil { credential.oneTimeToken = nil }
        return Proof(credential: credential, pending: pending)
    }

    /// Refuses a conflict's credential that no longer proves anything: since then, the account has ended its sessions, or the
    /// user has withdrawn the provider's consent (threats.md, T-A2).
    func requireStanding(_ proof: Proof, _ found: SignInCandidates) throws(AccountsError) {
        guard let pending = proof.pending, let owner = found.owner else { return }
        guard Int64(pending.createdAt.timeIntervalSince1970) >= owner.validSince, !found.isWithdrawn else {
            throw .invalidPendingToken
        }
    }

    /// The proof with the current state of its pending credential, which another request may have redeemed.
    func reread(_ proof: Proof, _ caller: Caller) async throws -> Proof {
        guard let before = proof.pending else { return proof }
        guard let pending = try await findPending(.handleHash(before.handleHash), caller) else {
            throw AccountsError.invalidPendingToken
        }
        return try resume(pending, caller)
    }

    /// Stores the credential for an hour, under its existing handle or a new one, which expires no later than the
    /// first.
    ///
    /// A new one counts like the account that the conflict prevents (threats.md, T-E11).
    func keep(_ proof: Proof, _ request: Request, _ caller: Caller) async throws -> Secret {
        if proof.pending != nil, let pendingToken = request.pendingToken { return pendingToken }
        let (handle, now) = (Secret("idp_" + service.random.handle()), service.now())
        let redeemed = proof.pending?.redeemed?.at.addingTimeInterval(PendingCredentialStore.retrySeconds)
        try await service.pendingCredentials.insert(
            proof.credential,
            handle: handle,
            within: service.signUpLimits(caller),
            in: caller.scope,
            now: now,
            expiresAt: redeemed ?? proof.pending?.expiresAt ?? now.addingTimeInterval(PendingCredentialStore.lifetime)
        )
        return handle
    }

    /// The provider's configuration; nil only if none is required.
    private func enabledProvider(_ id: ProviderID, _ caller: Caller) throws(AccountsError) -> ProviderConfiguration? {
        guard let configuration = service.provider(id, caller) else {
            guard service.options.development else { throw .providerNotFound }
            return nil
        }
        guard configuration.enabled else { throw .providerDisabled }
        return configuration
    }

    /// Refuses an identity whose issuer differs from the one with which its subject was linked.
    func requireSameIssuer(
        _ found: SignInCandidates,
        _ identity: FederatedIdentity,
        _ caller: Caller
    ) throws(AccountsError) {
        // A link by an admin has no issuer, so the first sign-in with it is accepted.
        guard let issuer = found.ownerIssuer, !issuer.isEmpty, issuer != identity.issuer else { return }
        AccountEvent.issuerChanged.log(found.owner?.id, provider: identity.provider, caller)
        throw .federation(.issuerMismatch(got: identity.issuer, want: issuer))
    }

    /// Refuses a new identity whose email could not be read: what becomes of it depends on the email.
    ///
    /// A linked identity signs in without: its account stays the same.
    func requireReadEmail(
        _ found: SignInCandidates,
        _ credential: FederatedCredential,
        _ caller: Caller
    ) throws(AccountsError) {
        guard found.owner == nil, let reason = credential.emailUnavailable else { return }
        throw .federation(.unavailable(reason), at: credential.identity.provider, caller)
    }

    func makeWrite(_ proof: Proof, _ session: SessionEffect, _ caller: Caller) -> SignInWrite {
        var write = SignInWrite(
            scope: caller.scope,
            credential: proof.credential,
            keptTokens: service.federation.tokenKeeping(service.provider(proof.credential.identity.provider, caller))
                .kept(of: proof.credential.tokens),
            session: session,
            now: service.now(),
            allowsUnconfiguredProvider: service.options.development,
            redeems: proof.pending?.handleHash
        )
        write.pace = SignInPace(caller.project.settings.rateLimits)
        return write
    }

    func prepareSession(_ credential: FederatedCredential, _ caller: Caller) -> PreparedSession {
        service.prepareSession(
            Evidence(credential, at: service.seconds),
            provider: credential.identity.provider,
            attributes: credential.signInAttributes,
            caller: caller
        )
    }

    func newAccount(for identity: FederatedIdentity, email: EmailAddress?, verified: Bool) -> Account {
        var account = Account(id: service.newAccountID(), validSince: service.seconds, createdAt: service.now())
        account.email = email
        account.emailVerified = verified
        account.apply(identity.profile)
        account.linked = [LinkedCredential(identity)]
        return account
    }
}
