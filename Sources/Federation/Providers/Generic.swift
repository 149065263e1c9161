import Domain
import Text

extension ProviderDefinition {
    /// Any OpenID Connect provider: discovery at the issuer contains the rest.
    static func genericOIDC(
        _ id: ProviderID,
        _ change: (inout ProviderDefinition) -> Void = { _ in }
    ) -> ProviderDefinition {
        var definition = ProviderDefinition(id, id.rawValue, .oidc)
        definition.discovery = .required
        definition.scopes = Scopes(["openid"])
        definition.scopes.whenSupported = ["email", "profile"]
        definition.refresh.scopes = ["offline_access"]
        definition.profile = [ProfileCall(optional: true)]
        definition.rawUserInfo = .merged
        definition.directSignIn = DirectSignIn(idToken: true)
        definition.federatedIDPrefix = id.rawValue + "/"
        change(&definition)
        return definition
    }

    /// Any plain OAuth 2.0 provider: the configuration contains the endpoints, the profile call, and the path of the
    /// subject.
    static func genericOAuth2(
        _ id: ProviderID,
        _ change: (inout ProviderDefinition) -> Void = { _ in }
    ) -> ProviderDefinition {
        var definition = ProviderDefinition(id, id.rawValue, .oauth2)
        definition.profile = [ProfileCall()]
        definition.claims.subject = ["id"]
        change(&definition)
        return definition
    }

    /// The built-in providers; a plain provider needs only a definition.
    static let builtIn: [ProviderID: ProviderDefinition] = Dictionary(
        uniqueKeysWithValues: [
            apple, dAccount, digitalAuth, discord, facebook, feedly, gitLab, github, google, line, linkedIn, microsoft,
            slack, twitter, x, yahoo, yahooJapan,
        ].map { ($0.id, $0) }
    )

    /// The definition before overrides; nil for an ID that cannot be configured.
    static func template(for id: ProviderID) -> ProviderDefinition? {
        guard isKnown(id) else { return nil }
        return builtIn[id] ?? (id.isOIDC ? genericOIDC(id) : genericOAuth2(id))
    }

    /// Whether 1 to 64 of `[A-Za-z0-9_.-]` follow the ID's first dot; each further dot between two others.
    static func hasName(_ id: ProviderID) -> Bool {
        let name = id.rawValue.drop { $0 != "." }.dropFirst()
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 64 && words.allSatisfy { !$0.isEmpty && $0.consists(of: .alphanumerics + "-_") }
    }
}

extension ProviderDefinition.ClaimMap {
    /// Only these claims have paths.
    static func only(_ paths: KeyValuePairs<WritableKeyPath<Self, [String]>, [String]>) -> Self {
        var map = Self()
        for member in members { map[keyPath: member.path] = [] }
        for (claim, path) in paths { map[keyPath: claim] = path }
        return map
    }

    /// Every member with its name in a configuration.
    static var members: [(name: String, path: WritableKeyPath<Self, [String]>)] {
        [
            ("subject", \.subject), ("email", \.email), ("emailVerified", \.emailVerified),
            ("emailAuthority", \.emailAuthority), ("emailIsRelay", \.emailIsRelay),
        ] + Profile.fields.map { ($0.name, \.[field: $0.name]) }
    }
}
