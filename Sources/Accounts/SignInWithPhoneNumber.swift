package import Domain
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService {
    package var signInWithPhoneNumber: SignInWithPhoneNumber { SignInWithPhoneNumber(service: self) }
}

/// `signInWithPhoneNumber`: signs in, signs up, or adds a number to the signed-in account, with an SMS code or with the
/// temporary proof from an earlier code.
package struct SignInWithPhoneNumber: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var sessionInfo: String?
        package var code: String?
        package var phoneNumber: String?
        package var temporaryProof: String?
        /// Adds the number to this token's account instead of signing in.
        package var idToken: String?
        package var operation = Operation.unspecified

        package init() {}
    }

    /// What the caller means to do, in the order of the protocol's numbers.
    package enum Operation: String, Sendable, CaseIterable {
        /// Signs in or up; with an ID token, adds or replaces its account's number.
        case unspecified = "VERIFY_OP_UNSPECIFIED"
        case signUpOrIn = "SIGN_UP_OR_IN"
        /// Creates no account; with an ID token, changes none.
        case reauthenticate = "REAUTH"
        /// Needs an ID token.
        case update = "UPDATE"
        /// Needs an ID token, and replaces no number.
        case link = "LINK"

        fileprivate var signsUp: Bool { [.unspecified, .signUpOrIn].contains(self) }
    }

    package enum Result: Sendable {
        case signedIn(Account, tokens: IssuedTokens, isNewUser: Bool)
        /// Another account has the number: nothing changed.
        ///
        /// The proof signs in to that account.
        case taken(PhoneNumber, proof: Secret, expiresIn: Int64)
    }

    /// The proof that the caller has a number.
    private struct Proof {
        var phoneNumber: PhoneNumber
        var evidence: Evidence
        /// The SMS code, or what stands for a temporary proof.
        var code: OneTimeCode
        var isTemporary = false
    }

    package func callAsFunction(_ request: Request, _ caller: Caller) async throws -> Result {
        guard caller.project.settings.phone.isEnabled else { throw AccountsError.operationNotAllowed }
        if request.idToken == nil, [.update, .link].contains(request.operation) { throw AccountsError.missingIDToken }
        let proof = try await prove(request, caller)
        do {
            return try await use(proof, request, caller)
        } catch AccountsError.invalidSessionInfo where proof.isTemporary {
            throw AccountsError.invalidTemporaryProof
        }
    }

    private func use(_ proof: Proof, _ request: Request, _ caller: Caller) async throws -> Result {
        for number in AccountsService.tries {
            try await service.pause(beforeTry: number)
            let selectors = AccountSelectors(phoneNumbers: proof.phoneNumber.spellings)
            let found = try await service.accounts.find(selectors, merged: true, in: caller.scope)
            let owner = found.first { $0.phoneNumber == proof.phoneNumber.text } ?? found.first
            let result =
                if let idToken = request.idToken {
                    try await link(proof, owner: owner?.id, idToken: idToken, for: request.operation, caller)
                } else if let owner {
                    try await signIn(to: owner, proof, caller)
                } else {
                    try await signUp(proof, signsUp: request.operation.signsUp, caller)
                }
            if let result { return result }
        }
        throw AccountsError.contended
    }

    private func prove(_ request: Request, _ caller: Caller) async throws -> Proof {
        guard let text = request.temporaryProof, !text.isEmpty else {
            let number = try request.phoneNumber.flatMap { text throws(AccountsError) in
                try AdminAccounts.phoneNumber(text)
            }
            let checked = try await service.checkVerificationCode(
                sessionInfo: request.sessionInfo,
                code: request.code,
                purpose: .signIn,
                account: nil,
                caller
            )
            guard number == nil || number == checked.phoneNumber.text else {
                throw AccountsError.unexpectedParameter("phoneNumber")
            }
            return Proof(phoneNumber: checked.phoneNumber, evidence: checked.evidence, code: checked.code)
        }
        guard request.sessionInfo == nil else { throw AccountsError.unexpectedParameter("sessionInfo") }
        guard let phoneNumber = request.phoneNumber else {
            throw AccountsError.missingPhoneNumber
        }
        guard let number = PhoneNumber(phoneNumber),
            let evidence = TemporaryProof.open(
                text,
                of: number,
                service.keyRing,
                for: caller.scope,
                now: service.seconds
            )
        else { throw AccountsError.invalidTemporaryProof }
        return Proof(
            phoneNumber: number,
            evidence: evidence,
            code: TemporaryProof.code(of: Secret(text)),
            isTemporary: true
        )
    }

    /// - Returns: nil if the account changed in the meantime.
    private func signIn(to account: Account, _ proof: Proof, _ caller: Caller) async throws -> Result? {
        guard !account.isDisabled else { throw AccountsError.userDisabled }
        guard !service.needsSecondFactor(account, caller) else { throw AccountsError.secondFactor(.phoneAsFirstFactor) }
        let session = service.prepareSession(proof.evidence, provider: .phone, caller: caller)
        let signedIn = try await service.signIn(to: account, session, spending: proof.code, caller)
        return signedIn.map { .signedIn($0.account, tokens: $0.tokens, isNewUser: false) }
    }

    /// - Returns: nil if another request created an account with the number in the meantime.
    private func signUp(_ proof: Proof, signsUp: Bool, _ caller: Caller) async throws -> Result? {
        guard signsUp else { throw AccountsError.userNotFound }
        guard !caller.project.settings.disabledUserSignup else { throw AccountsError.signUpClosed }
        var account = Account(id: service.newAccountID(), validSince: service.seconds, createdAt: service.now())
        account.phoneNumber = proof.phoneNumber.text
        let session = service.prepareSession(proof.evidence, provider: .phone, caller: caller)
        do {
            let signedUp = try await service.create(account, session, spending: proof.code, caller)
            return .signedIn(signedUp.account, tokens: signedUp.tokens, isNewUser: true)
        } catch AccountsError.phoneNumberExists {
            return nil
        }
    }

    /// Adds the number to the signed-in account, or signs in again if it already has it.
    ///
    /// - Returns: nil if another account took the number in the meantime.
    private func link(
        _ proof: Proof,
        owner: AccountID?,
        idToken: String,
        for operation: Operation,
        _ caller: Caller
    ) async throws -> Result? {
        let token = try await service.verify(idToken, caller: caller)
        guard owner == nil || owner == token.account else { return try await refuse(proof, idToken: idToken, caller) }
        let renewal = service.prepareRenewal()
        let now = service.now()
        do {
            let changed = try await service.link(token, method: .phone, caller) { account, current in
                let user = try SignedInAccount(token: token, account: account, session: current)
                guard !service.needsSecondFactor(account, caller) else {
                    throw AccountsError.secondFactor(.phoneAsFirstFactor)
                }
                var changes = AccountChanges()
                changes.spends = proof.code
                changes.lastSignInAt = now
                var session = renewal.of(user.session, method: (.phone, nil))
                if account.phoneNumber == proof.phoneNumber.text {
                    session = session.signedInAgain(proof.evidence)
                } else {
                    guard operation != .reauthenticate else { throw AccountsError.userNotFound }
                    guard operation != .link || account.phoneNumber == nil else {
                        throw AccountsError.linking(.providerAlreadyLinked)
                    }
                    // Replacing a number removes a sign-in method.
                    let change: SensitiveOperation = account.phoneNumber == nil ? .addMethod : .replacePhoneNumber
                    if !account.isGuest { try service.require([change], of: user, caller) }
                    changes.phoneNumber = proof.phoneNumber.text
                }
                changes.session = .renew(session, retiresOldSecret: false)
                return changes
            }
            let event: AccountEvent = changed.changes.phoneNumber == nil ? .signedIn : .linked
            event.log(token.account, provider: .phone, caller)
            let tokens = try service.issueTokens(after: changed, renewal.secret, caller: caller)
            return .signedIn(try changed.existing, tokens: tokens, isNewUser: false)
        } catch AccountsError.phoneNumberExists {
            return nil
        }
    }

    /// Another account has the number: a code is exchanged for a temporary proof for that account; a temporary proof is
    /// refused.
    private func refuse(_ proof: Proof, idToken: String, _ caller: Caller) async throws -> Result {
        _ = try await service.authenticate(idToken, caller: caller)
        guard !proof.isTemporary else { throw AccountsError.phoneNumberExists }
        guard let temporary = TemporaryProof(of: proof.evidence) else { throw AccountsError.invalidSessionInfo }
        let sealed = try temporary.sealed(service.keyRing, for: caller.scope)
        let codes = service.stores.verificationCodes
        guard try await codes.exchange(proof.code, for: sealed, in: caller.scope, now: service.now()) else {
            throw AccountsError.invalidSessionInfo
        }
        return .taken(proof.phoneNumber, proof: sealed, expiresIn: TemporaryProof.lifetime)
    }
}
