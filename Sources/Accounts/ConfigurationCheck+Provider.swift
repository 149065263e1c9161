import Domain
import Federation
import Foundation
import Projects
import Secrets

extension ConfigurationCheck {
    func check(_ configuration: ProviderConfiguration, _ report: inout Report) {
        let id = configuration.provider
        let definition: ProviderDefinition
        do throws(InvalidDefinition) {
            definition = try self.definition(of: configuration)
        } catch {
            return report.add(.providerInvalid, id, if: true, "sign-ins fail: \(error)")
        }
        let hasSecret = configuration.clientSecret?.isEmpty == false
        report.add(
            .clientSecretMissing,
            id,
            if: !hasSecret && definition.clientAuthentication != .none,
            definition.clientAuthentication == .automatic
                ? "authorization codes are exchanged without a secret: set clientSecret, or clientAuth to none for a public client"
                : "authorization codes cannot be exchanged; only apps that send the provider's tokens can sign in: set clientSecret"
        )
        let now = report.now
        if let secret = AppleClientSecret.ready(in: configuration), secret.expiresAt < now + Self.noticeSeconds {
            let end = Date(timeIntervalSince1970: Double(secret.expiresAt))
            report.add(
                .clientSecretExpires,
                id,
                if: true,
                "clientSecret is a JWT that \(secret.expiresAt > now ? "expires" : "expired") at \(end.ISO8601Format()): "
                    + "set a new one, or the private key, which needs no renewal"
            )
        }
        report.add(
            .revocationImpossible,
            id,
            if: !hasSecret && definition.revocation?.duty == true,
            "grants cannot be revoked when accounts are deleted, as \(definition.displayName) requires: set clientSecret"
        )
        report.add(
            .noticesUnreachable,
            id,
            if: id == .apple && !isDevelopment && report.publicURL?.isSecure == false,
            "Apple sends notifications of deleted accounts and revoked consent only to https: set http.publicURL to an https URL"
        )
        report.add(
            .codeUnbound,
            id,
            // OAuth 1.0a binds its verifier to the request token's secret.
            if: definition.protocolKind != .oauth1 && definition.pkce == .none && !definition.sendNonce,
            "\(definition.displayName) supports neither PKCE nor nonce, so a stolen authorization code can be used: "
                + "avoid it for accounts that need strong protection"
        )
        report.add(
            .emailAlwaysTrusted,
            id,
            if: definition.emailTrust == .always,
            "a user who enters someone's email there gets their account here: set definition.emailTrust to claim"
        )
    }

    /// How long before its end a secret is reported: 30 days.
    private static let noticeSeconds: Int64 = 30 * 86_400

    func definition(of configuration: ProviderConfiguration) throws(InvalidDefinition) -> ProviderDefinition {
        try ProviderDefinition.make(for: configuration, allowsLoopback: allowsLoopback)
    }
}
