package import Domain
package import Projects
import StrictJSON

extension FederationService {
    /// Verifies a provider's notification.
    ///
    /// - Throws: ``FederationError/notificationsNotSupported`` if the provider sends none that are supported;
    ///   the problem with a forged, stale or foreign one.
    package func receive(
        _ notification: ProviderNotification,
        with configuration: ProviderConfiguration
    ) async throws(FederationError) -> ReceivedNotification {
        // A provider that is disabled for sign-in still sends notifications about its users.
        let provider = try await resolve(configuration.switchedOn)
        switch provider.definition.notifications {
        case .apple: return try await appleEvents(in: notification, of: provider, configuration)
        case .googleRISC: return try await googleEvents(in: notification, of: provider, configuration)
        case .facebook: return try facebookEvents(in: notification, configuration)
        case .github: return try githubEvents(in: notification, configuration)
        case .discord: return try discordEvents(in: notification, of: provider)
        case nil: throw .notificationsNotSupported
        }
    }

    /// Whether a provider expects 401 for a refused notification; the same for every project.
    package static func wantsUnauthorized(_ provider: ProviderID) -> Bool {
        ProviderDefinition.builtIn[provider]?.notifications == .discord
    }

    /// Verifies a JWT with events (RFC 8417): signature, issuer, audience, time; never an ID token (T-C10).
    ///
    /// - Parameter expires: whether `exp` must be present and in the future; it has no meaning in security event
    ///   tokens.
    func verifySecurityEvent(
        _ text: String,
        of provider: ResolvedProvider,
        issuers: [String],
        configuration: ProviderConfiguration,
        expires: Bool
    ) async throws(FederationError) -> JSONObject {
        let token = try CompactJWT(text, isSecurityEvent: true)
        guard let algorithm = SignatureAlgorithm(name: token.algorithm), provider.algorithms.contains(algorithm)
        else { throw .signatureInvalid(.algorithm) }
        guard token.claims["events"] != nil, token.claims["nonce"] == nil else {
            throw .invalidNotification(.malformed)
        }
        guard SafeText.isOne(token.claims["iss"]?.string ?? "", of: issuers) else {
            throw .invalidNotification(.issuer)
        }
        let candidates = try await keys(of: provider, for: token, algorithm)
        guard candidates.contains(where: { $0.verifies(token.signature, over: token.signedBytes, by: algorithm) })
        else { throw .signatureInvalid(.signature) }
        let audiences = [configuration.clientID] + configuration.audiences
        guard let audience = token.claims["aud"]?.string, SafeText.isOne(audience, of: audiences) else {
            throw .invalidNotification(.audience)
        }
        guard let issued = token.claims["iat"]?.numericDate, issued <= seconds + IDTokenExpectation.skew else {
            throw .invalidNotification(.time)
        }
        if expires {
            guard let end = token.claims["exp"]?.numericDate, seconds < end + IDTokenExpectation.skew else {
                throw .invalidNotification(.time)
            }
        }
        return token.claims
    }

    /// An ID or a subject that can be stored.
    static func identifier(_ value: JSONValue?) throws(FederationError) -> String {
        guard let text = value?.scalarText, (1...255).contains(text.utf8.count), !text.utf8.contains(0) else {
            throw .invalidNotification(.malformed)
        }
        return text
    }
}

extension FederationService {
    /// Whether grants can be revoked at this provider.
    package func revokesGrants(of configuration: ProviderConfiguration) -> Bool {
        guard let definition = try? definitions.definition(for: configuration) else { return false }
        return definition.revocation != nil
    }
}

extension ProviderConfiguration {
    /// The configuration as if it were enabled.
    package var switchedOn: ProviderConfiguration {
        var configuration = self
        configuration.enabled = true
        return configuration
    }
}
