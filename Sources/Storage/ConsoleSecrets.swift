import Foundation
package import Passwords
import Secrets

/// An admin's credentials for the console: a password and an authenticator app's secret.
package struct ConsoleSecrets: Sendable, Hashable {
    package var password: PasswordHash
    /// The signer key of this one password, 64 bytes; not a project's.
    package var signerKey: [UInt8]
    /// The authenticator app's secret.
    package var app: [UInt8]

    package init(password: PasswordHash, signerKey: [UInt8], app: [UInt8]) {
        (self.password, self.signerKey, self.app) = (password, signerKey, app)
    }

    /// The content of the column `console_secrets` before sealing.
    private struct Content: Codable {
        var hash: Data
        var salt: Data
        var parameters: ScryptParameters
        var signerKey: Data
        var app: Data
    }

    static func place(_ admin: String) -> String { "admin_credentials/\(admin)/console_secrets" }

    func sealed(for admin: String, _ keyRing: KeyRing) throws -> [UInt8] {
        let content = Content(
            hash: Data(password.hash),
            salt: Data(password.salt),
            parameters: password.parameters ?? .standard,
            signerKey: Data(signerKey),
            app: Data(app)
        )
        return try keyRing.seal([UInt8](JSONEncoder().encode(content)), for: Self.place(admin))
    }

    init(sealed: [UInt8], for admin: String, _ keyRing: KeyRing) throws {
        let bytes = try keyRing.open(sealed, for: Self.place(admin))
        let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
        self.init(
            password: PasswordHash(
                salt: [UInt8](content.salt),
                hash: [UInt8](content.hash),
                parameters: content.parameters
            ),
            signerKey: [UInt8](content.signerKey),
            app: [UInt8](content.app)
        )
    }
}
