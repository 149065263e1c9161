package import Domain
import Storage

extension AccountsService { package var credentialState: ReadCredentialState { ReadCredentialState(service: self) } }

/// `accounts:credentialState`, not part of Firebase: the state of the account's identity at a provider, in the terms of
/// Apple's `ASAuthorizationAppleIDProvider.CredentialState`.
package struct ReadCredentialState: Sendable {
    let service: AccountsService

    package enum State: String, Sendable { case authorized, revoked, notFound }

    package struct Result: Sendable {
        package var provider: ProviderID
        package var state: State
        package var isPrivateEmail: Bool?
        package var emailForwarding: Bool?
        package var realUserStatus: Int?
    }

    package func callAsFunction(idToken: String?, provider: ProviderID, _ caller: Caller) async throws -> Result {
        let user = try await service.authenticate(idToken, caller: caller)
        return try await callAsFunction(user.account.id, provider, caller)
    }

    /// The same for an account that an admin names.
    func callAsFunction(_ account: AccountID, _ provider: ProviderID, _ caller: Caller) async throws -> Result {
        guard let found = try await service.accounts.credentialState(of: account, at: provider, in: caller.scope) else {
            return Result(provider: provider, state: .notFound)
        }
        return Result(
            provider: provider,
            state: found.revokedAt == nil ? .authorized : .revoked,
            isPrivateEmail: found.emailIsRelay,
            emailForwarding: found.emailForwarding,
            realUserStatus: found.realUserStatus
        )
    }
}
