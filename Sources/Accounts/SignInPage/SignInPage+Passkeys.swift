package import Domain
package import Passkeys
package import Projects
import Secrets
import Sessions

extension SignInPage {
    /// Whether the page may ask browsers for the project's passkeys.
    ///
    /// - Parameter url: where browsers find the page.
    package func offersPasskeys(at url: PublicURL, _ caller: Caller) -> Bool {
        caller.project.settings.passkeys.relyingParty?.accepts(pagesAt: url.text) ?? false
    }

    /// Signs in with a passkey, or proves one as the second factor.
    package func signIn(
        with response: AssertionResponse,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        if let challenge = visit.challenge {
            let signIn = SignInWithSecondFactor(service: service)
            let tokens = try await signIn.withPasskey(
                pendingCredential: challenge.pendingCredential,
                response,
                caller
            )
            return try await finish(.signedIn(tokens), visit, caller)
        }
        let result = try await SignInWithPasskey(service: service).finish(response, caller)
        return try await finish(result.end, visit, caller)
    }

    // MARK: The user's own

    /// What the page shows to a signed-in user.
    package struct OwnPasskeys: Sendable {
        package let passkeys: [Passkey]
        package let relyingPartyID: String
        package let userHandle: [UInt8]
        /// For one more; nil if the account may not have another one.
        package let options: RegistrationOptions?
    }

    package func passkeys(_ visit: PageVisit, _ caller: Caller) async throws -> OwnPasskeys {
        guard let signedIn = visit.signedIn else { throw AccountsError.invalidSessionInfo }
        let party = try service.relyingParty(caller)
        let account = try await service.authenticate(signedIn.idToken, caller: caller).account
        let options: RegistrationOptions?
        do {
            options = try await EnrollPasskey(service: service).start(idToken: signedIn.idToken, caller)
        } catch AccountsError.passkey(.tooMany), AccountsError.recentSignInRequired {
            options = nil
        }
        return OwnPasskeys(
            passkeys: account.passkeys,
            relyingPartyID: party.id,
            userHandle: service.userHandle(of: account.id, caller),
            options: options
        )
    }

    /// - Parameter browser: names a passkey whose authenticator's model is unknown.
    package func addPasskey(
        _ response: RegistrationResponse,
        browser: String,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        guard let signedIn = visit.signedIn else { throw AccountsError.invalidSessionInfo }
        let result = try await EnrollPasskey(service: service).finish(
            idToken: signedIn.idToken,
            name: nil,
            browser: browser,
            isConditional: visit.offersPasskey,
            response,
            caller
        )
        return try await goOn(with: result.tokens, visit, caller)
    }

    /// - Parameter id: as ``Domain/Passkey/id``.
    package func removePasskey(_ id: String, _ visit: PageVisit, _ caller: Caller) async throws -> Outcome {
        guard let signedIn = visit.signedIn else { throw AccountsError.invalidSessionInfo }
        var request = UpdateAccount.Request()
        request.idToken = signedIn.idToken
        request.deletePasskeys = [id]
        let tokens = try await UpdateAccount(service: service)(request, caller).tokens
        return try await goOn(with: tokens, visit, caller)
    }

    /// To the list again, or to the app.
    private func goOn(with tokens: IssuedTokens?, _ visit: PageVisit, _ caller: Caller) async throws -> Outcome {
        guard let tokens else { throw AccountsError.invalidSessionInfo }
        var visit = visit
        visit.signedIn?.renew(tokens)
        guard visit.showsPasskeys else { return try await leave(visit, caller) }
        return .ownPasskeys(visit, try await passkeys(visit, caller))
    }

    /// Back to the app, with the code.
    package func leave(_ visit: PageVisit, _ caller: Caller) async throws -> Outcome {
        guard let signedIn = visit.signedIn else { throw AccountsError.invalidSessionInfo }
        let code = try await issueCode(
            for: Secret(signedIn.refreshToken),
            isNewUser: signedIn.isNewUser,
            visit,
            caller
        )
        return .signedIn(code)
    }

    /// What comes after a sign-in: the user's passkeys if the app asked for them; the offer of a first one after a password;
    /// else the app.
    func enter(
        _ tokens: IssuedTokens,
        isNewUser: Bool,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> Outcome {
        var visit = visit
        (visit.conflict, visit.challenge) = (nil, nil)
        visit.signedIn = PageVisit.SignedIn(tokens, isNewUser: isNewUser)
        if visit.showsPasskeys { return .ownPasskeys(visit, try await passkeys(visit, caller)) }
        // The user has signed in, whatever becomes of the offer.
        if visit.offersPasskey, let own = try? await passkeys(visit, caller), own.passkeys.isEmpty, own.options != nil {
            return .ownPasskeys(visit, own)
        }
        return try await leave(visit, caller)
    }
}
