import Foundation
package import Projects
package import Secrets

/// The content of an access token of a service account or workload; the token is this, sealed under the key ring.
struct AccessToken: Codable {
    /// The ID of the account's key, or of the workload.
    var key: String
    var scopes: [String]
    /// Seconds since 1970.
    var expiresAt: Int64

    private static let prefix = "ida_"
    private static let place = "access token"

    init(key: String, scopes: Set<AdminScope>, expiresAt: Int64) {
        self.key = key
        self.scopes = scopes.map(\.rawValue).sorted()
        self.expiresAt = expiresAt
    }

    /// Nil for anything that was not created here.
    init?(_ text: String, _ keyRing: KeyRing) {
        guard text.hasPrefix(Self.prefix), text.utf8.count < 1024,
            let sealed = Base64URL.decode(text.dropFirst(Self.prefix.count)),
            let bytes = try? keyRing.open(sealed, for: Self.place),
            let token = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = token
    }

    func text(_ keyRing: KeyRing) throws -> String {
        Self.prefix + Base64URL.encode(try keyRing.seal(Array(try JSONEncoder().encode(self)), for: Self.place))
    }
}

extension AdminCredential {
    /// Keeps only what both tokens permit, until the first of them expires.
    mutating func narrow(to token: AccessToken) {
        scopes.formIntersection(token.scopes.compactMap(AdminScope.init(rawValue:)))
        expiresAt = min(expiresAt ?? token.expiresAt, token.expiresAt)
    }
}

extension ConfigurationStore {
    /// A bearer token for the admin API that represents a service account's key or a workload.
    ///
    /// - Parameters:
    ///   - credential: its ID.
    ///   - expiresAt: seconds since 1970.
    package func accessToken(
        for credential: String,
        scopes: Set<AdminScope>,
        expiresAt: Int64
    ) throws -> Secret {
        Secret(try AccessToken(key: credential, scopes: scopes, expiresAt: expiresAt).text(keyRing))
    }
}
