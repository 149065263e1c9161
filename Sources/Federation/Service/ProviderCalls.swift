package import Domain
package import Prometheus

/// The results of calls to identity providers, each request separately.
package final class ProviderCalls: Sendable {
    package struct Key: Hashable, Sendable {
        /// ``Domain/ProviderID/family``.
        package var provider: String
        package var outcome: Outcome

        package init(provider: String, outcome: Outcome) { (self.provider, self.outcome) = (provider, outcome) }
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case ok
        /// 4xx except 429: the provider responds, and refuses this request.
        case refused
        /// 429, 5xx, no response in time, or no valid HTTP.
        case failed
    }

    package let timings = Timings<Key>()
    /// The providers whose last request failed.
    package let failing = Latest()

    package init() {}

    func record(_ provider: ProviderID, _ outcome: Outcome, _ duration: Duration) {
        let family = provider.family
        timings.record(Key(provider: family, outcome: outcome), duration)
        failing.set(family, fails: outcome == .failed)
    }
}

extension ProviderID {
    /// The values of ``family`` for identity providers.
    package static let federatedFamilies: [String] =
        ProviderDefinition.builtIn.keys.map(\.rawValue).sorted() + ["oidc", "oauth", "saml", "other"]

    /// A name for the provider with few possible values: the ID of a built-in one or of one of our methods; `oidc`,
    /// `oauth` or `saml` for those that operators name; `other` for the rest.
    package var family: String {
        if !isFederated || ProviderDefinition.builtIn[self] != nil { return rawValue }
        if isOIDC { return "oidc" }
        if isOAuth2 { return "oauth" }
        return isSAML ? "saml" : "other"
    }
}
