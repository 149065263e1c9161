import Foundation
package import Passwords
import Secrets

/// What a person proves at the console: a password, and that they have their authenticator app.
package struct ConsoleSecrets: Sendable, Hashable {
    package var password: PasswordHash
    /// Of this one password, 64 bytes: it is no project's.
    package var signerKey: [UInt8]
    /// The secret that the app shares.
    package var app: [UInt8]

    package init(password: PasswordHash, signerKey: [UInt8], app: [UInt8]) {
        (self.password, self.signerKey, self.app) = (password, signerKey, app)
    }

    /// The column `console_secrets`, before it is sealed.
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
