package import Domain
package import Passkeys
import Projects
import Secrets
import Sessions
import Storage

extension AccountsService {
    package var signInWithPasskey: SignInWithPasskey { SignInWithPasskey(service: self) }
}

/// Signs in with a passkey in two steps; the passkey names the account.
package struct SignInWithPasskey: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var account: AccountID
        package var end: FirstFactorResult
    }

    /// - Returns: what the browser asks the authenticator for, good for five minutes, once.
    package func start(_ caller: Caller) async throws -> AssertionOptions {
        let party = try service.relyingParty(caller)
        let challenge = Challenge.random(from: service.random)
        try await service.flows.insert(
            PasskeyChallenge(challenge.bytes, for: .signIn),
            within: service.flowLimits(caller),
            in: caller.scope,
            now: service.now()
        )
        return AssertionOptions(
            relyingPartyID: party.id,
            challenge: challenge,
            userVerification: caller.project.settings.passkeys.userVerification
        )
    }

    /// Verifies the response and opens a session.
    ///
    /// The challenge is used up by the statement that finds the account, whatever the verification says.
    package func finish(_ response: AssertionResponse, _ caller: Caller) async throws -> Result {
        let party = try service.relyingParty(caller)
        let challenge = response.clientData.challenge
        let id = response.id.description
        let found = try await service.accounts.find(
            passkey: id,
            taking: PasskeyChallenge(challenge, for: .signIn),
            in: caller.scope,
            now: service.now()
        )
        guard var owner = found?.account ?? nil else {
            throw AccountsError.passkey(found == nil ? .challengeTimeout : .enrollmentNotFound)
        }
        let ceremony = AssertionCeremony(
            relyingParty: party,
            challenge: Challenge(bytes: challenge),
            userVerification: caller.project.settings.passkeys.userVerification
        )
        for number in AccountsService.tries {
            if number > 0 {
                try await service.pause(beforeTry: number)
                guard let account = try await service.accounts.find(passkey: id, in: caller.scope) else {
                    throw AccountsError.passkey(.enrollmentNotFound)
                }
                owner = account
            }
            if let end = try await signIn(to: owner, response, ceremony, caller) {
                return Result(account: owner.id, end: end)
            }
        }
        throw AccountsError.contended
    }

    /// - Returns: nil if the account changed in the meantime.
    private func signIn(
        to account: Account,
        _ response: AssertionResponse,
        _ ceremony: AssertionCeremony,
        _ caller: Caller
    ) async throws -> FirstFactorResult? {
        guard let index = account.passkeys.firstIndex(where: { $0.id == response.id.description }) else {
            throw AccountsError.passkey(.enrollmentNotFound)
        }
        let passkey = account.passkeys[index]
        let assertion = try service.verify(response, passkey, ceremony, account.id, caller)
        guard !account.isDisabled else { throw AccountsError.userDisabled }
        let now = service.now()
        let used = passkey.used(assertion.record, at: now)
        var passkeys = account.passkeys
        passkeys[index] = used
        let session = service.prepareSession(
            Evidence(assertion, at: service.seconds),
            provider: .passkey,
            caller: caller
        )
        let entrance = try await service.enter(account, session, caller)
        if let session = entrance.newSession {
            let isSignedIn = try await service.accounts.signIn(
                to: account,
                session: session,
                passkeys: used == passkey ? nil : passkeys,
                amendment: entrance.amendment,
                in: caller.scope,
                now: now
            )
            guard isSignedIn else { return nil }
            AccountEvent.signedIn.log(account.id, provider: .passkey, caller)
        } else if used != passkey {
            guard try await service.accounts.store(passkeys, of: account, in: caller.scope, now: service.now()) else {
                return nil
            }
        }
        return try service.result(of: entrance, caller: caller)
    }
}
