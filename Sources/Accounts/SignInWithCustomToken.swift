import Domain
import Logging
import Projects
package import Secrets
import Sessions
import Storage
import StrictJSON

extension AccountsService {
    package var signInWithCustomToken: SignInWithCustomToken { SignInWithCustomToken(service: self) }
}

/// Signs in a user with a token that one of the project's service accounts signed.
package struct SignInWithCustomToken: Sendable {
    let service: AccountsService

    package struct Result: Sendable {
        package var end: FirstFactorResult
        package var isNewUser: Bool
    }

    package func callAsFunction(token: Secret?, _ caller: Caller) async throws -> Result {
        guard let token, !token.isEmpty else { throw AccountsError.missingCustomToken }
        let content = try await read(token.reveal(), caller)
        guard let uid = content.uid, !uid.isEmpty else { throw AccountsError.missingUID }
        var id: AccountID
        do {
            id = try AdminAccounts.accountID(uid)
        } catch {
            throw AccountsError.missingUID
        }
        let session = service.prepareSession(
            Evidence(content, at: service.seconds),
            provider: .custom,
            claims: try claims(of: content),
            caller: caller
        )
        for _ in 0..<3 {
            if let found = try await service.accounts.find(id, session: nil, in: caller.scope) {
                try requireNewer(content, than: found.account)
                guard let result = try await signIn(to: found.account, session, caller) else { continue }
                return result
            }
            if let alias = try await service.accounts.aliases([id], in: caller.scope)[id] {
                try requireIssued(content, since: alias.validSince)
                id = alias.survivor
                continue
            }
            var account = Account(id: id, validSince: service.seconds, createdAt: service.now())
            account.customAuth = true
            do {
                let signedUp = try await service.create(account, session, caller)
                return Result(end: .signedIn(signedUp.tokens), isNewUser: true)
            } catch AccountsError.duplicateLocalID {
                // A simultaneous request with another token for the same user was faster.
            }
        }
        throw AccountsError.contended
    }

    /// - Returns: nil if the account changed in the meantime.
    private func signIn(to account: Account, _ session: PreparedSession, _ caller: Caller) async throws -> Result? {
        guard !account.isDisabled else { throw AccountsError.userDisabled }
        // The back end vouches for the user, unless the project wants the second factor as well.
        let asks = caller.project.settings.customTokensNeedSecondFactor
        let entrance =
            asks ? try await service.enter(account, session, caller) : try await service.admit(account, session, caller)
        if let session = entrance.newSession {
            let isSignedIn = try await service.accounts.signInByCustomToken(
                to: account,
                session: session,
                amendment: entrance.amendment,
                in: caller.scope,
                now: service.now()
            )
            guard isSignedIn else { return nil }
            AccountEvent.signedIn.log(account.id, provider: .custom, caller)
        }
        return Result(end: try service.result(of: entrance, caller: caller), isNewUser: false)
    }

    /// The token's content, after its signer was verified as a service account of this project.
    private func read(_ text: String, _ caller: Caller) async throws(AccountsError) -> CustomToken {
        if let content = service.options.unsignedCustomToken(text) {
            try requireTenant(content, caller)
            return content
        }
        let content: CustomToken
        let signer: ServiceAccountKey
        do throws(AssertionError) {
            let assertion = try ServiceAccountAssertion(text)
            guard assertion.subject != nil else { throw .malformed }
            // Any project's signer is accepted here; a wrong project is reported below, only to callers with the key.
            signer = try await service.signer(of: assertion, for: .mintCustomTokens)
            content = CustomToken(try assertion.checked(for: [CustomToken.audience], now: service.seconds))
        } catch {
            AccountEvent.customTokenRefused.log(nil, provider: .custom, caller)
            throw .invalidCustomToken(error)
        }
        try requireTenant(content, caller)
        guard signer.project == caller.project.id else { throw .customTokenOfAnotherProject }
        Logger.current.info(
            "Accepted a custom token",
            metadata: ["project.id": "\(caller.project.id)", "key.id": "\(signer.id)"]
        )
        return content
    }

    /// Whoever signed the user out everywhere, or took the account over, has ended the tokens of before as well
    /// (threats.md, T-A17).
    ///
    /// The time of the account's own creation ends none: a back end's clock may be behind.
    private func requireNewer(_ content: CustomToken, than account: Account) throws(AccountsError) {
        guard account.revokedVersion > 0 else { return }
        try requireIssued(content, since: account.validSince)
    }

    private func requireIssued(_ content: CustomToken, since seconds: Int64) throws(AccountsError) {
        guard content.issuedAt.map({ $0 >= seconds }) ?? true else { throw .invalidCustomToken(.revoked) }
    }

    private func requireTenant(_ content: CustomToken, _ caller: Caller) throws(AccountsError) {
        guard content.tenant ?? "" == caller.tenant.rawValue else { throw .tenantMismatch }
    }

    /// The claims for this sign-in's tokens, a JSON object as text; nil for none.
    private func claims(of content: CustomToken) throws(AccountsError) -> String? {
        switch content.claims {
        case nil, .null: return nil
        case .object(let object): return try CustomClaimRules.check(JSONValue.object(object).jsonText)
        default: throw .invalidClaims
        }
    }
}
