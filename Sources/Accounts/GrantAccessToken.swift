import Logging
import Projects
package import Secrets
import Sessions
import Storage
import StrictJSON

extension AccountsService { package var grantAccessToken: GrantAccessToken { GrantAccessToken(service: self) } }

/// Exchanges a service account's assertion for an access token (RFC 7523 §2.1), as Admin SDKs do before their first
/// call.
///
/// The token has the account's permissions; scopes of ours in the assertion narrow them. Nothing is stored: the token
/// names the account's key, which is looked up with each use.
package struct GrantAccessToken: Sendable {
    let service: AccountsService

    /// The lifetime of an access token in seconds.
    package static let lifetime: Int64 = 3600

    package struct Result: Sendable {
        package var accessToken: Secret
        /// In seconds.
        package var expiresIn: Int64
    }

    /// - Parameter audiences: the URLs of the token endpoint that callers may use.
    package func callAsFunction(assertion text: Secret, for audiences: [String]) async throws -> Result {
        let signer: ServiceAccountKey
        let payload: JSONObject
        do throws(AssertionError) {
            let assertion = try ServiceAccountAssertion(text.reveal())
            signer = try await service.signer(of: assertion, for: nil)
            payload = try assertion.checked(for: audiences, now: service.seconds)
        } catch {
            Logger.current.notice("Refused an assertion of a service account", metadata: ["reason": "\(error)"])
            throw error
        }
        let named =
            payload["scope"]?.string?.split(separator: " ").compactMap { AdminScope(rawValue: String($0)) } ?? []
        let token = try service.configuration.accessToken(
            for: signer.id,
            scopes: named.isEmpty ? signer.scopes : signer.scopes.intersection(named),
            expiresAt: service.seconds + Self.lifetime
        )
        Logger.current.info(
            "Granted an access token",
            metadata: ["project.id": "\(signer.project?.rawValue ?? "")", "key.id": "\(signer.id)"]
        )
        return Result(accessToken: token, expiresIn: Self.lifetime)
    }
}
