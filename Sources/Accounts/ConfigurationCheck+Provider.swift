import Federation
import Linking
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
                ? "codes are redeemed without a secret: set clientSecret, or clientAuth to none for a public client"
                : "codes cannot be redeemed, only apps with tokens of their own sign in: set clientSecret"
        )
        report.add(
            .revocationImpossible,
            id,
            if: !hasSecret && definition.revocation?.duty == true,
            "grants cannot be revoked when accounts are deleted, as \(definition.displayName) demands: set clientSecret"
        )
        report.add(
            .noticesUnreachable,
            id,
            if: id == .apple && publicURL?.hasPrefix("https:") == false,
            "Apple tells only https addresses of deleted accounts and withdrawn consent: set http.publicURL to one"
        )
        report.add(
            .codeUnbound,
            id,
            // OAuth 1.0a binds its verifier to the request token's secret.
            if: definition.protocolKind != .oauth1 && definition.pkce == .none && !definition.sendNonce,
            "\(definition.displayName) knows neither PKCE nor nonce, so that a stolen code is as good as an own one: "
                + "do without it where much depends on a sign-in"
        )
        report.add(
            .emailAlwaysTrusted,
            id,
            if: definition.emailTrust == .always,
            "whoever gives it an address gets the account of that address: set definition.emailTrust to claim"
        )
    }

    func definition(of configuration: ProviderConfiguration) throws(InvalidDefinition) -> ProviderDefinition {
        try ProviderDefinition.make(for: configuration, allowsLoopback: allowsLoopback)
    }
}
