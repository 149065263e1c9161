package import Domain
import Federation
package import Projects
import Storage

extension AccountsService { package var explainSignIn: ExplainSignIn { ExplainSignIn(service: self) } }

/// Explains the result of a sign-in with an identity; writes nothing.
package struct ExplainSignIn: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var provider: String?
        package var subject: String?
        package var email: String?
        /// The provider's value; nil for a provider that does not send one.
        package var emailVerified: Bool?
        /// Whether the provider would state that it is the authority for the email (Google's `hd`).
        package var emailAuthority = false
        package var autoCreate = true

        package init() {}
    }

    package struct Explanation: Sendable {
        package var row: SignInRow
        package var decision: SignInDecision
        /// Whether the provider's email counts as verified (V of the table).
        package var provesEmail: Bool
        package var emailTrust: EmailTrust
        /// The account that has the identity linked (L).
        package var owner: Account?
        /// The account whose own email it is (M).
        package var emailOwner: Account?
    }

    package func callAsFunction(
        _ request: Request,
        _ project: Project
    ) async throws -> Explanation {
        guard let provider = request.provider, !provider.isEmpty, let subject = request.subject, !subject.isEmpty else {
            throw AccountsError.missingIdentifierForLink
        }
        guard subject.utf8.count <= 255, !subject.utf8.contains(0) else { throw AccountsError.missingIdentifierForLink }
        let id = ProviderID(provider)
        guard id.isFederated else { throw AccountsError.invalidProviderID }
        let caller = Caller(project: project)
        var identity = FederatedIdentity(provider: id, subject: subject, issuer: "")
        identity.email = try AdminAccounts.email(request.email)
        identity.emailVerifiedClaim = identity.email != nil && request.emailVerified == true
        identity.emailUnverifiedClaim = request.emailVerified.map { !$0 }
        identity.emailAuthorityClaim = identity.email != nil && request.emailAuthority
        let credential = FederatedCredential(
            identity: identity,
            tokens: ProviderTokens(),
            rawUserInfo: "{}",
            federatedID: subject
        )
        guard let configuration = service.provider(credential.identity.provider, caller) else {
            throw AccountsError.providerNotFound
        }
        guard configuration.enabled else { throw AccountsError.providerDisabled }
        return try await explain(credential, autoCreate: request.autoCreate, caller)
    }

    func explain(
        _ credential: FederatedCredential,
        autoCreate: Bool,
        _ caller: Caller
    ) async throws -> Explanation {
        let identity = credential.identity
        let policy = service.policy(for: credential, caller)
        let found = try await service.accounts.candidates(for: identity, in: caller.scope)
        let (row, decision) = SignInDecision.decide(
            for: identity,
            owner: found.owner?.candidate(at: service.now()),
            emailOwner: found.emailOwner?.candidate(at: service.now()),
            purpose: autoCreate ? .signIn : .reauthenticate,
            policy: policy
        )
        return Explanation(
            row: row,
            decision: decision,
            provesEmail: policy.emailTrust.proves(identity),
            emailTrust: policy.emailTrust,
            owner: found.owner,
            emailOwner: found.emailOwner
        )
    }
}
