import Linking

extension ProviderDefinition {
    /// Any OpenID Connect provider: discovery at the issuer contains the rest.
    static func genericOIDC(_ id: ProviderID) -> ProviderDefinition {
        var definition = ProviderDefinition(id: id, displayName: id.rawValue, protocolKind: .oidc)
        definition.discovery = .required
        definition.scopes = Scopes(["openid"])
        definition.scopes.whenSupported = ["email", "profile"]
        definition.refresh.scopes = ["offline_access"]
        definition.profile = [ProfileCall(optional: true)]
        definition.rawUserInfo = .merged
        definition.directSignIn = DirectSignIn(idToken: true)
        definition.federatedIDPrefix = id.rawValue + "/"
        return definition
    }

    /// Any plain OAuth 2.0 provider: the configuration contains the endpoints, the profile call, and the path of the
    /// subject.
    static func genericOAuth2(_ id: ProviderID) -> ProviderDefinition {
        var definition = ProviderDefinition(id: id, displayName: id.rawValue, protocolKind: .oauth2)
        definition.profile = [ProfileCall()]
        definition.claims.subject = ["id"]
        return definition
    }

    /// The built-in providers; a plain provider needs only a definition.
    static let builtIn: [ProviderID: ProviderDefinition] = Dictionary(
        uniqueKeysWithValues: [
            apple, discord, facebook, feedly, gitLab, github, google, line, linkedIn, microsoft, slack, twitter, x,
            yahoo, yahooJapan,
        ].map { ($0.id, $0) }
    )

    /// The definition before overrides; nil for an ID that cannot be configured.
    static func template(for id: ProviderID) -> ProviderDefinition? {
        if let definition = builtIn[id] { return definition }
        guard hasName(id) else { return nil }
        if id.isOIDC { return genericOIDC(id) }
        if id.isOAuth2 { return genericOAuth2(id) }
        return nil
    }

    /// Whether 1 to 64 of `[A-Za-z0-9_-]` follow the ID's first dot.
    static func hasName(_ id: ProviderID) -> Bool {
        let name = id.rawValue.drop { $0 != "." }.dropFirst()
        return (1...64).contains(name.utf8.count) && name.utf8.allSatisfy(isNameByte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
    }

    /// The defaults from which every definition starts.
    init(id: ProviderID, displayName: String, protocolKind: ProtocolKind) {
        self.init(
            id: id,
            displayName: displayName,
            protocolKind: protocolKind,
            endpoints: Endpoints(),
            fallbackEndpoints: Endpoints(),
            issuers: [],
            discovery: .never,
            discoveryURL: nil,
            endpointHosts: [],
            jwks: nil,
            variables: [:],
            scopes: Scopes(),
            responseTypes: [.code],
            responseMode: .automatic,
            pkce: .optional,
            sendNonce: protocolKind == .oidc,
            clientAuthentication: .automatic,
            extraAuthorizationParameters: [:],
            customParameters: .anyExceptReserved,
            variableParameters: [:],
            redirect: .exact,
            redirectURIs: [],
            token: TokenEndpoint(),
            idToken: protocolKind == .oidc ? IDTokenRules() : IDTokenRules(algorithms: []),
            refresh: RefreshRules(),
            keepTokens: false,
            profile: [],
            claims: ClaimMap(),
            rawUserInfo: protocolKind == .oidc ? .claims : .profile,
            emailTrust: nil,
            directSignIn: DirectSignIn(),
            revocation: nil,
            notifications: nil,
            federatedIDPrefix: "",
            quirks: []
        )
    }
}

extension ProviderDefinition.ClaimMap {
    /// No claim has a path.
    static let none: Self = {
        var map = Self()
        for member in Self.members { map[keyPath: member.path] = [] }
        return map
    }()

    /// Every member with its name in a configuration.
    static var members: [(name: String, path: WritableKeyPath<Self, [String]>)] {
        [
            ("subject", \.subject), ("email", \.email), ("emailVerified", \.emailVerified),
            ("emailAuthority", \.emailAuthority), ("emailIsRelay", \.emailIsRelay), ("displayName", \.displayName),
            ("firstName", \.firstName),
            ("lastName", \.lastName), ("nickName", \.nickName), ("screenName", \.screenName),
            ("photoURL", \.photoURL), ("language", \.language), ("timeZone", \.timeZone),
            ("dateOfBirth", \.dateOfBirth),
        ]
    }
}
