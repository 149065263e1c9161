import Domain
package import Projects
import Secrets
import StrictJSON

/// A client secret for Apple that was signed elsewhere, as Firebase's console and Terraform set it.
///
/// Without the private key, nobody here can renew it or sign one for another client ("Creating a client secret").
package struct AppleClientSecret: Sendable {
    /// In seconds since 1970.
    package let expiresAt: Int64
    /// The one client that it is for.
    let subject: String
    private let token: CompactJWT

    /// Apple accepts no later expiry.
    private static let longest: Int64 = 15_777_000

    /// - Parameter text: the client secret; nil if it is no JWT, such as a private key.
    /// - Throws: ``InvalidDefinition`` if it says no client or no end.
    init?(_ text: Secret) throws(InvalidDefinition) {
        guard let token = try? CompactJWT(text.reveal()) else { return nil }
        guard let subject = token.claims["sub"]?.string else { throw Self.invalid("has no sub") }
        guard let expiresAt = token.claims["exp"]?.numericDate else { throw Self.invalid("has no exp") }
        (self.token, self.subject, self.expiresAt) = (token, subject, expiresAt)
    }

    /// Refuses what Apple would refuse, whatever the time.
    ///
    /// - Parameter definition: may name the team and the key; they are then the JWT's.
    func check(clientID: String, _ definition: ProviderDefinition) throws(InvalidDefinition) {
        guard token.algorithm == "ES256" else { throw Self.invalid("is not signed with ES256") }
        guard subject == clientID else { throw Self.invalid("has another sub than clientId") }
        let audience = definition.issuers.first ?? ""
        guard token.claims["aud"]?.string == audience else { throw Self.invalid("has another aud than \(audience)") }
        for (name, value) in [("teamId", token.claims["iss"]?.string), ("keyId", token.keyID)] {
            let named = definition.variables[name] ?? ""
            guard named.isEmpty || named == value else {
                throw InvalidDefinition(
                    member: "definition.variables.\(name)",
                    problem: "differs from the JWT in clientSecret, which needs none"
                )
            }
        }
    }

    /// - Parameter now: seconds since 1970.
    func checkTime(now: Int64) throws(InvalidDefinition) {
        guard expiresAt > now else { throw Self.invalid("has expired: set a new one") }
        guard expiresAt - now <= Self.longest else { throw Self.invalid("is valid for more than six months") }
    }

    /// The secret of a configuration; nil without one, and with a private key.
    package static func ready(in configuration: ProviderConfiguration) -> AppleClientSecret? {
        guard configuration.provider == .apple else { return nil }
        return try? configuration.clientSecret.flatMap { try AppleClientSecret($0) }
    }

    /// The secret for a request of a client.
    ///
    /// - Returns: nil if it must be signed with the private key.
    static func value(for client: ProviderClient, now: Int64) throws(InvalidDefinition) -> String? {
        guard let text = client.secret, let secret = try AppleClientSecret(text) else { return nil }
        guard secret.subject == client.id else {
            throw Self.invalid("is for \(secret.subject) only: requests of \(client.id) need the private key")
        }
        guard secret.expiresAt > now else { throw Self.invalid("has expired: set a new one") }
        return text.reveal()
    }

    private static func invalid(_ problem: String) -> InvalidDefinition {
        InvalidDefinition(member: "clientSecret", problem: "is a JWT that " + problem)
    }
}
