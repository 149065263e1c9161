import Logging
package import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService { package var selfSignedToken: SelfSignedToken { SelfSignedToken(service: self) } }

/// A JWT of a service account as the bearer token of its calls, without a token endpoint (google.aip.dev/auth/4111), as
/// Google's libraries for Rust, Ruby and .NET send it.
package struct SelfSignedToken: Sendable {
    let service: AccountsService

    /// Those of Google that permit what this service does; ours narrow the account's.
    private static let scopes = ["cloud-platform", "firebase", "identitytoolkit"]
        .map { "https://www.googleapis.com/auth/\($0)" }

    /// The credential of the account's key, as the database has it now.
    ///
    /// - Returns: nil for anything that no registered key signed for this service.
    package func credential(_ token: Secret) async throws -> AdminCredential? {
        let signer: ServiceAccountKey
        let bearer: (scopes: [String], expiresAt: Int64)
        do throws(AssertionError) {
            let assertion = try ServiceAccountAssertion(token.reveal())
            signer = try await service.signer(of: assertion, for: nil)
            bearer = try assertion.checkedAsBearer(for: audiences, now: service.seconds)
        } catch {
            Logger.current.debug("Not a token of a service account", metadata: ["reason": "\(error)"])
            return nil
        }
        let named = Set(bearer.scopes.compactMap { AdminScope(rawValue: $0) })
        guard bearer.scopes.isEmpty || !named.isEmpty || bearer.scopes.contains(where: Self.scopes.contains) else {
            return nil
        }
        return try await service.configuration.adminCredential(
            ofGrantee: signer.id,
            scopes: named.isEmpty ? signer.scopes : signer.scopes.intersection(named),
            expiresAt: bearer.expiresAt
        )
    }

    /// Google's hosts and the service's; no project's own, which may be moved elsewhere (threats.md, T-D33).
    private var audiences: [String] {
        let urls =
            ["identitytoolkit", "securetoken", "www"].map { "https://\($0).googleapis.com" }
            + [service.deployment.serviceURL].compactMap { $0 }.map { "\($0)" }
        return urls + urls.map { "\($0)/" }
    }
}
