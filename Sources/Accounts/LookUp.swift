package import Linking

extension AccountsService { package var lookUp: LookUp { LookUp(parts: parts) } }

/// Reads the account of an ID token in one statement.
package struct LookUp: Sendable {
    let parts: Parts

    package func callAsFunction(idToken: String?, _ caller: Caller) async throws -> Account {
        try await parts.authenticate(idToken, caller: caller).account
    }
}
