import Domain
import StrictJSON

/// Converts a provider's response to an identity, using the definition's claim paths.
struct IdentityMapping {
    let definition: ProviderDefinition
    /// The verified ID token's as sent, because ``rawUserInfo`` passes nulls on; empty for plain OAuth 2.0.
    var claims = JSONObject()
    var profile = ProviderProfile()
    var scopes: [String] = []
    /// What Apple sends with its tokens.
    var user: String?

    /// Claims first, then the profile, then named responses.
    fileprivate var source: JSONValue {
        var source = claims
        source.add(profile.document)
        source.add(profile.named)
        return .object(source)
    }

    /// - Parameter subject: the verified ID token's, if another of its claims can replace it; nil to read it from
    ///   the profile.
    func identity(subject: String?) throws(FederationError) -> FederatedIdentity {
        let source = source
        let map = definition.claims
        let found =
            subject == nil
            ? map.subject.lazy.compactMap { source[path: $0]?.scalarText }.first : definition.subject(in: claims)
        guard let found, (1...255).contains(found.utf8.count), !found.utf8.contains(0) else {
            throw .invalidAnswer(.missingSubject)
        }
        var identity = FederatedIdentity(
            provider: definition.id,
            subject: found,
            issuer: definition.canonicalIssuer(for: claims)
        )
        readEmail(into: &identity)
        identity.profile = names(in: source)
        if definition.quirks.contains(.appleUser) {
            if let user { AppleUser.apply(user, to: &identity) }
            identity.realUserStatus = claims["real_user_status"]?.integer.flatMap {
                (0...2).contains($0) ? Int($0) : nil
            }
        }
        if definition.quirks.contains(.microsoftTenant), !MicrosoftAccount.isSame(profile.document, as: claims) {
            throw .subjectMismatch
        }
        if definition.quirks.contains(.discordAvatar) {
            identity.profile.photoURL = DiscordAvatar.url(profile.document)
        }
        return identity
    }

    fileprivate func names(in source: JSONValue) -> Profile {
        var profile = Profile()
        for field in Profile.fields {
            let paths = definition.claims[field: field.name]
            profile[field] = field.isURL ? text(paths, source, limit: 2_048) : text(paths, source)
        }
        return profile
    }

    /// Notes what the credential lacks: a name that is sent once, an email that could not be read.
    func markGaps(of credential: inout FederatedCredential) {
        if credential.identity.email == nil { credential.emailUnavailable = profile.emailFailure }
        guard definition.quirks.contains(.appleUser) else { return }
        credential.nameComesOnce = credential.identity.profile.displayName != nil
        credential.lacksNameSaidOnce = !credential.nameComesOnce
    }

    /// An email counts with the flags in the same document, or with the same email in another one: a flag never applies
    /// to another email.
    ///
    /// A negative flag takes precedence over positive ones anywhere, unless it is about another email.
    private func readEmail(into identity: inout FederatedIdentity) {
        if definition.quirks.contains(.githubEmails) {
            identity.email = GitHubEmails.primary(profile.named[GitHubEmails.call]).flatMap(EmailAddress.init)
            identity.emailVerifiedClaim = identity.email != nil
            return
        }
        let map = definition.claims
        let isMicrosoft = definition.quirks.contains(.microsoftTenant)
        let documents = [claims, profile.document, profile.named].map { JSONValue.object($0) }
        func email(_ document: JSONValue) -> EmailAddress? {
            map.email.lazy.compactMap { document[path: $0]?.string }
                .filter { !isMicrosoft || MicrosoftAccount.isAddress($0) }.compactMap(EmailAddress.init).first
        }
        let emails = documents.map(email)
        identity.email = emails.lazy.compactMap(\.self).first
        guard let found = identity.email else { return }
        if isMicrosoft, MicrosoftAccount.isPersonal(claims), emails[0]?.canonical == found.canonical {
            identity.emailVerifiedClaim = true
        }
        for (document, email) in zip(documents, emails) where email == nil || email?.canonical == found.canonical {
            if (map.emailVerified + ["email_verified"]).contains(where: { isDenied(document[path: $0]) }) {
                identity.emailUnverifiedClaim = true
            }
        }
        for (document, email) in zip(documents, emails) where email?.canonical == found.canonical {
            if map.emailVerified.contains(where: { isTrue(document[path: $0]) }) { identity.emailVerifiedClaim = true }
            if map.emailAuthority.contains(where: { isStated(document[path: $0]) }) {
                identity.emailAuthorityClaim = true
            }
            if map.emailIsRelay.contains(where: { isTrue(document[path: $0]) }) { identity.emailIsRelay = true }
        }
        if identity.emailUnverifiedClaim == true { identity.emailVerifiedClaim = false }
    }

    /// A flag that is present and not true in any spelling; absent or null states nothing.
    private func isDenied(_ value: JSONValue?) -> Bool {
        guard let value else { return false }
        if let text = value.string { return !["true", "1"].contains(text.lowercased()) }
        return value != .bool(true) && value != .number("1")
    }

    /// A flag that is true, or a text such as Google's hosted domain.
    private func isStated(_ value: JSONValue?) -> Bool {
        if let text = value?.string { return !text.isEmpty && !["false", "0"].contains(text.lowercased()) }
        return isTrue(value)
    }

    /// `rawUserInfo`.
    var rawUserInfo: String {
        let object: JSONObject
        switch definition.rawUserInfo {
        case .claims: object = claims
        case .profile: object = profile.document
        case .merged:
            var merged = claims
            merged.add(profile.document)
            object = merged
        }
        let shown =
            definition.quirks.contains(.googleLegacyProfileNames)
            ? GoogleProfile.legacy(object, scopes: scopes) : object
        return JSONValue.object(shown).jsonText
    }

    /// The claims of a generic OpenID provider's ID token that neither OIDC Core §2 and §5.1 nor our own tokens define,
    /// as the text of a JSON object; nil if there are none, or more than a token should contain.
    var signInAttributes: String? {
        guard definition.id.rawValue.hasPrefix("oidc.") else { return nil }
        let others = claims.members.filter { !Self.standardClaims.contains($0.name) }
        guard !others.isEmpty else { return nil }
        let text = JSONValue.object(JSONObject(others)).jsonText
        return text.utf8.count <= 2_048 && !text.contains(#"\u0000"#) ? text : nil
    }

    private static let standardClaims: Set<String> = [
        "iss", "sub", "aud", "exp", "iat", "nbf", "jti", "auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash",
        "s_hash", "sid", "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username",
        "profile",
        "picture", "website", "email", "email_verified", "gender", "birthdate", "zoneinfo", "locale", "phone_number",
        "phone_number_verified", "address", "updated_at", "firebase", "user_id",
    ]

    private func isTrue(_ value: JSONValue?) -> Bool {
        if value == .bool(true) { return true }
        return definition.idToken.lenientBooleans
            && [.string("true"), .string("1"), .number("1")].contains { $0 == value }
    }

    /// The first text that can be stored: not empty, no NUL, at most `limit` UTF-16 code units.
    private func text(_ paths: [String], _ source: JSONValue, limit: Int = 256) -> String? {
        for path in paths {
            guard let text = source[path: path]?.string, !text.isEmpty, !text.utf8.contains(0) else { continue }
            if text.utf16.count <= limit { return text }
        }
        return nil
    }
}

extension IdentityMapping {
    /// The mapping of claims that nobody signed, in OpenID's names or the provider's own.
    ///
    /// The claims get the provider's names too, so that its paths find them and `rawUserInfo` has them: GitHub's `id`
    /// and `login`.
    init(unverified claims: JSONObject, by definition: ProviderDefinition) {
        self.definition = definition
        self.claims = claims
        for (names, paths) in Self.usualNames {
            guard let value = names.lazy.compactMap({ claims[$0] }).first(where: { $0 != .null }) else { continue }
            guard let path = definition.claims[keyPath: paths].first, JSONValue.object(claims)[path: path] == nil else {
                continue
            }
            self.claims.set(value, at: path)
        }
        profile.document = self.claims
    }

    /// The names by the definition's paths.
    var unverifiedProfile: Profile { names(in: source) }

    /// The members that fake credentials may have, in OpenID's names and those of the Firebase emulator.
    private static var usualNames: [(names: [String], paths: KeyPath<ProviderDefinition.ClaimMap, [String]>)] {
        [
            (["sub"], \.subject), (["email"], \.email), (["name", "display_name"], \.displayName),
            (["given_name"], \.firstName), (["family_name"], \.lastName), (["screen_name", "login"], \.screenName),
            (["picture", "photo_url"], \.photoURL), (["locale"], \.language),
        ]
    }
}
