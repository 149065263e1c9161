package import Linking
package import Prometheus

/// How the calls on identity providers went, each request and its answer by itself.
package final class ProviderCalls: Sendable {
    package struct Key: Hashable, Sendable {
        /// ``Linking/ProviderID/family``.
        package var provider: String
        package var outcome: Outcome
    }

    package enum Outcome: String, Sendable, CaseIterable {
        case ok
        /// 4xx but 429: the provider answers, and refuses this request.
        case refused
        /// 429, 5xx, no answer in time, none that is HTTP.
        case failed
    }

    package let timings = Timings<Key>()
    /// Whom the last request found failing.
    package let failing = Latest()

    package init() {}

    func record(_ provider: ProviderID, _ outcome: Outcome, _ duration: Duration) {
        let family = provider.family
        timings.record(Key(provider: family, outcome: outcome), duration)
        failing.set(family, fails: outcome == .failed)
    }
}

extension ProviderID {
    /// What stands for the provider where few values are wanted: the id of a built-in one or of a method of ours; `oidc`,
    /// `oauth` or `saml` for those that operators name; `other` for all else.
    package var family: String {
        if !isFederated || ProviderDefinition.builtIn[self] != nil { return rawValue }
        if isOIDC { return "oidc" }
        if isOAuth2 { return "oauth" }
        return isSAML ? "saml" : "other"
    }
}
