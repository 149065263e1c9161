package import IdentityService
package import Projects
package import Secrets

/// `Bearer owner`, in any letter case, and what looks like an access token of Google (`ya29.…`) may do everything, as in
/// the Firebase emulator; other tokens go to `next`.
package struct OwnerAuthenticator: AdminAuthenticator {
    static let id = "owner"

    private let next: any AdminAuthenticator

    package init(next: any AdminAuthenticator) { self.next = next }

    package func credential(for token: Secret) async throws -> AdminCredential? {
        let text = token.reveal()
        guard text.lowercased() == Self.id || text.hasPrefix("ya29.") else {
            return try await next.credential(for: token)
        }
        return AdminCredential(id: Self.id, name: Self.id, project: nil, scopes: Set(AdminScope.allCases))
    }
}
