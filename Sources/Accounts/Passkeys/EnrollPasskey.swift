package import Domain
package import Passkeys
import Projects
import Secrets
import Sessions
import Storage

extension AccountsService { package var enrollPasskey: EnrollPasskey { EnrollPasskey(service: self) } }

/// Adds a passkey to the signed-in account in two steps: the service asks, and the authenticator's response is verified.
package struct EnrollPasskey: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var account: AccountID
        package var tokens: IssuedTokens
    }

    /// - Returns: what the browser asks the authenticator for, good for five minutes, in this session, once.
    package func start(idToken: String?, _ caller: Caller) async throws -> RegistrationOptions {
        guard idToken != nil else { throw AccountsError.missingIDToken }
        let party = try service.relyingParty(caller)
        let user = try await service.authenticate(idToken, caller: caller)
        let account = user.account
        if !account.isGuest { try service.require([.enrollPasskey], of: user, caller) }
        try requireRoom(in: account)
        let challenge = Challenge.random(from: service.random)
        try await service.flows.insert(
            PasskeyChallenge(challenge.bytes, for: .enrollment(account.id, user.session.id)),
            within: service.flowLimits(caller),
            in: caller.scope,
            now: service.now()
        )
        let settings = caller.project.settings.passkeys
        let partyName = settings.relyingPartyName ?? caller.project.id.rawValue
        let name = account.email?.original ?? account.phoneNumber ?? account.displayName ?? partyName
        return RegistrationOptions(
            relyingPartyID: party.id,
            relyingPartyName: partyName,
            user: .init(
                handle: service.userHandle(of: account.id, caller),
                name: name,
                displayName: account.displayName ?? name
            ),
            challenge: challenge,
            excluded: account.passkeys.compactMap(\.descriptor),
            userVerification: settings.userVerification,
            attestation: settings.attestation == .none ? .none : .direct
        )
    }

    /// Verifies the response and stores the passkey; the session continues as one of a passkey.
    ///
    /// A verified email gets a message with a link that removes the passkey.
    ///
    /// - Parameters:
    ///   - name: the user's name for the passkey.
    ///   - browser: of a user who is not asked for a name. It names a passkey whose authenticator's model is unknown, and
    ///     the name is then unlike those of the account's other passkeys.
    ///   - isConditional: whether the browser may have created it without asking, after a password (WebAuthn §7.1 step 15).
    package func finish(
        idToken: String?,
        name: String?,
        browser: String? = nil,
        isConditional: Bool = false,
        _ response: RegistrationResponse,
        _ caller: Caller
    ) async throws -> Result {
        let party = try service.relyingParty(caller)
        let token = try await service.verify(idToken, caller: caller)
        let name = try ProfileRules.displayName(name)
        let challenge = response.clientData.challenge
        let isTaken = try await service.flows.take(
            PasskeyChallenge(challenge, for: .enrollment(token.account, token.session)),
            in: caller.scope,
            now: service.now()
        )
        guard isTaken else { throw AccountsError.passkey(.challengeTimeout) }
        let settings = caller.project.settings.passkeys
        let ceremony = RegistrationCeremony(
            relyingParty: party,
            challenge: Challenge(bytes: challenge),
            userVerification: settings.userVerification,
            isConditional: isConditional,
            attestation: settings.attestationPolicy
        )
        let record: CredentialRecord
        do {
            record = try await ceremony.verify(response, now: service.seconds)
        } catch {
            throw service.refuse(error, token.account, caller)
        }
        let passkey = Passkey(
            record,
            userHandle: service.userHandle(of: token.account, caller),
            name: name.flatMap { $0.isEmpty ? nil : $0 } ?? record.aaguid.name ?? browser,
            enrolledAt: service.now()
        )
        return try await enroll(passkey, numbersName: browser != nil, token, caller)
    }

    /// A recent sign-in was required at the start; the second factor is checked again, because it may be new.
    private func enroll(
        _ passkey: Passkey,
        numbersName: Bool,
        _ token: VerifiedIDToken,
        _ caller: Caller
    ) async throws -> Result {
        let renewal = service.prepareRenewal()
        let changed = try await service.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            if service.needsSecondFactor(account, caller), user.session.secondFactor == nil {
                throw AccountsError.recentSignInRequired
            }
            guard !account.passkeys.contains(where: { $0.id == passkey.id }) else {
                throw AccountsError.passkey(.exists)
            }
            try requireRoom(in: account)
            var passkey = passkey
            if numbersName { passkey.name = passkey.name.map { account.passkeys.newName(like: $0) } }
            var changes = AccountChanges()
            changes.passkeys = account.passkeys + [passkey]
            let session = renewal.of(user.session, method: (.passkey, nil))
            if account.passkeys.isEmpty, caller.project.settings.passkeys.isSecondFactor {
                changes.endOthers(keeping: session)
            } else {
                changes.session = .renew(session, retiresOldSecret: false)
            }
            // A passkey outlives passwords and sessions: its owner must hear of one that somebody else adds (T-D35).
            if let code = service.revertCode(of: passkey.id, account, caller) {
                changes.sends = code
                // Each enrollment sends one, and who has removed a passkey may enroll another.
                changes.sendLimits = service.noticeLimits(of: account.id, caller)
            }
            return changes
        }
        AccountEvent.linked.log(token.account, provider: .passkey, caller)
        let tokens = try service.issueTokens(after: changed, renewal.secret, caller: caller)
        return Result(account: token.account, tokens: tokens)
    }

    private func requireRoom(in account: Account) throws(AccountsError) {
        guard account.passkeys.count < Passkey.most else { throw .passkey(.tooMany) }
    }
}
