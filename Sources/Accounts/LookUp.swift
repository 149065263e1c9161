package import Domain

extension AccountsService { package var lookUp: LookUp { LookUp(service: self) } }

/// Reads the account of an ID token in one statement.
package struct LookUp: Sendable {
    let service: AccountsService

    package func callAsFunction(idToken: String?, _ caller: Caller) async throws -> Account {
        try await service.authenticate(idToken, caller: caller).account
    }
}
