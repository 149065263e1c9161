import Foundation
package import OAuth
import Projects
package import Secrets
import Sessions
import Storage
import Text

extension AccountsService { package var authorizeDevice: AuthorizeDevice { AuthorizeDevice(service: self) } }

/// A device without a browser asks; its user types a code at another one (RFC 8628).
package struct AuthorizeDevice: Sendable {
    let service: AccountsService

    /// In seconds.
    package static let lifetime: Int64 = 600
    /// Between two questions of a device, in seconds.
    package static let interval: Int64 = 5

    package struct Asked: Sendable {
        package var deviceCode: Secret
        /// `BCDF-GHJK`.
        package var userCode: String
        /// The page at which it is typed.
        package var page: String
    }

    /// - Parameter resources: as in an authorization request.
    /// - Throws: ``OAuthError``, ``Storage/RateLimitReached``.
    package func callAsFunction(
        scope: String?,
        resources: [String],
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> Asked {
        let settings = caller.project.settings.oauth
        let grant = ApplicationGrant(
            scopes: client.scopes(of: scope, settings),
            resources: try settings.resources(resources),
            redirectURI: ""
        )
        let code = Secret(service.random.handle())
        let userCode = service.random.text(8, of: Self.alphabet)
        try await service.stores.deviceCodes.insert(
            DeviceCodeStore.Asked(
                codeHash: Self.hash(of: code),
                client: client.id,
                grant: grant,
                expiresAt: service.now().addingTimeInterval(Double(Self.lifetime))
            ),
            userCode: userCode,
            within: service.flowLimits(caller),
            in: caller.project.id,
            now: service.now()
        )
        return Asked(
            deviceCode: code,
            userCode: Self.shown(userCode),
            page: try service.applicationIssuer(of: caller.project) + ProviderMetadata.Endpoint.device.rawValue
        )
    }

    /// Without vowels and digits, so that no code is a word or mistaken for another (§6.1).
    private static let alphabet = "BCDFGHJKLMNPQRSTVWXZ"

    static func shown(_ userCode: String) -> String { "\(userCode.prefix(4))-\(userCode.dropFirst(4))" }

    /// As users type it: in any case, with any separators; nil if it cannot be one.
    static func canonical(_ text: String?) -> String? {
        let letters = TypedCode.plain(text ?? "").uppercased()
        return letters.count == 8 && letters.allSatisfy(alphabet.contains) ? letters : nil
    }

    /// The session that a code begins, once.
    static func session(of hash: [UInt8]) -> SessionID {
        SessionID(bytes: SecureHash.sha256(Array("session.".utf8) + hash))
    }

    static func hash(of code: Secret) -> [UInt8] { SecureHash.sha256("device." + code.reveal()) }
}
