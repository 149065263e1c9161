import Domain
import Projects

extension Setting {
    /// The path of ``ProjectSettings/tokenIssuer``.
    static let tokenIssuer = "identity.tokenIssuer"

    /// The path of ``ProjectSettings/publicURL``.
    static let publicURL = "identity.publicURL"

    /// The path of ``ProjectSettings/ownCallback``.
    static let callback = "identity.callback"

    /// The path of ``ProjectSettings/appURLs``.
    static let appURLs = "identity.appURLs"

    /// The path of ``RateLimitSettings/isEnabled``.
    static let rateLimitsEnabled = "identity.rateLimits.enabled"

    static let general: [Setting] = [
        authorizedDomains,
        flag("signIn.email.enabled", \.passwordSignIn),
        flag("signIn.email.passwordRequired", \.needsPassword),
        number("signIn.hashConfig.rounds", \.passwordCost.rounds, in: PasswordCost.allowedRounds),
        number("signIn.hashConfig.memoryCost", \.passwordCost.memoryCost, in: PasswordCost.allowedMemoryCosts),
        flag("identity.emailCodes", \.emailCodes),
        flag("signIn.anonymous.enabled", \.anonymousSignIn),
        flag("autodeleteAnonymousUsers", \.deletesOldGuests),
        flag("signIn.allowDuplicateEmails", \.allowDuplicateEmails),
        flag("client.permissions.disabledUserSignup", \.disabledUserSignup),
        flag("client.permissions.disabledUserDeletion", \.disabledUserDeletion),
        flag("emailPrivacyConfig.enableImprovedEmailPrivacy", \.emailEnumerationProtection),
        choice(
            "passwordPolicyConfig.passwordPolicyEnforcementState",
            \.passwordPolicy.isEnforced,
            off: "OFF",
            on: "ENFORCE"
        ),
        flag("passwordPolicyConfig.forceUpgradeOnSignin", \.passwordPolicy.forcesUpgradeAtSignIn),
        passwordPolicies("passwordPolicyConfig.passwordPolicyVersions"),
        choice("identity.leakedPasswords", \.refusesLeakedPasswords, off: "allow", on: "refuse"),
        seconds("identity.recentSignInSeconds", \.recentSignInSeconds, in: 0...31_536_000),
        seconds("identity.sessionCookieSignInSeconds", \.sessionCookieSignInSeconds, in: 0...31_536_000),
        texts(
            "identity.continueURLs",
            \.continueURLs,
            atMost: 100,
            TextRule("list https URLs, or http URLs of this machine, without a query") {
                ContinueURI($0)?.isRegistrable ?? false
            }
        ),
        choice("identity.methodChanges", \.methodChanges),
        flag("identity.keepLastSignInMethod", \.keepLastSignInMethod),
        flag("identity.customTokensNeedSecondFactor", \.customTokensNeedSecondFactor),
        choice("identity.emailTrust", \.strictEmailTrust, off: "default", on: "strict"),
        choice("identity.linking", \.linking),
        choice(tokenIssuer, \.tokenIssuer),
        text(
            publicURL,
            \.publicURLText,
            TextRule("be an https URL, or an http URL of this machine, without a path") {
                PublicURL(origin: $0) != nil
            }
        ),
        choice(callback, \.ownCallback, off: "shared", on: "own"),
        texts(
            appURLs,
            \.appURLTexts,
            atMost: 20,
            TextRule("list https URLs, or http URLs of this machine, without a path") { PublicURL(origin: $0) != nil }
        ),
        text(
            "identity.changePasswordURL",
            \.changePasswordURL,
            TextRule("be an https URL, or an http URL of this machine, without a fragment") { text in
                ContinueURI(text).map { $0.scheme == "https" || $0.isLoopback } ?? false
            }
        ),
        choice("identity.signingAlgorithm", \.signWithES256, off: "RS256", on: "ES256"),
        flag("identity.rotateRefreshTokens", \.rotateRefreshTokens),
        number("identity.sessionIdleDays", \.sessionIdleDays, in: 0...3650),
        flag("identity.deleteAccountsDeletedAtProvider", \.deleteAccountsDeletedAtProvider),
        flag("identity.googleLoader", \.googleLoader),
        flag("identity.signInPage", \.signInPage),
        choice("identity.blockingFunctionCalls", \.asksFunctionsAboutAll, off: "firebase", on: "all"),
    ]

    /// The cost of password hashes, which tenants share with the project.
    package static let passwordCost = general.filter { $0.path.hasPrefix("signIn.hashConfig.") }

    /// Whether they are enabled, and `count` and `seconds` of each.
    static let rateLimits: [Setting] =
        [flag(rateLimitsEnabled, \.rateLimits.isEnabled)]
        + RateLimitKind.ofProjects.flatMap { kind in
            let path = "identity.rateLimits.\(kind.rawValue)"
            return [
                number("\(path).count", \.rateLimits[kind].count, in: RateLimitBudget.counts),
                number("\(path).seconds", \.rateLimits[kind].seconds, in: RateLimitBudget.durations),
            ]
        }

    /// Firebase's `blockingFunctions`.
    static let blockingFunctions: [Setting] =
        BlockingFunctions.Event.allCases.map { event in
            text(
                "blockingFunctions.triggers.\(event.rawValue).functionUri",
                \.blockingFunctions[event],
                TextRule("be an https URL, or a URL of this machine", DeliverySettings.isAcceptable(url:))
            )
        }
        + BlockingFunctions.Event.allCases.map { event in
            text(
                "blockingFunctions.triggers.\(event.rawValue).audience",
                \.blockingFunctions[audienceOf: event],
                // Never the ID of a project or client, whose verifiers of tokens have the same keys (threats.md, T-C10).
                TextRule("be an https URL, or a host with a path") { text in
                    text.wholeMatch(of: /(https:\/\/)?[A-Za-z0-9\-]+(\.[A-Za-z0-9\-]+)+\/[!-~]*/) != nil
                        && text.utf8.count <= 512
                }
            )
        } + [
            flag("blockingFunctions.forwardInboundCredentials.idToken", \.blockingFunctions.forwardsIDToken),
            flag("blockingFunctions.forwardInboundCredentials.accessToken", \.blockingFunctions.forwardsAccessToken),
            flag("blockingFunctions.forwardInboundCredentials.refreshToken", \.blockingFunctions.forwardsRefreshToken),
        ]

    private static var authorizedDomains: Setting {
        let path = "authorizedDomains"
        let field = Field(path, get: { $0.authorizedDomains }) { settings, texts in
            // What an earlier release accepted stays until it is taken out.
            let known = Set(settings.authorizedDomains)
            let fault =
                texts.count > 1_000
                ? "list at most 1,000 domains"
                : texts.lazy.filter { !known.contains($0.lowercased()) }.compactMap(AuthorizedDomain.fault).first
            if let fault { throw AdministrationError.invalid("\(path) must \(fault).") }
            settings.authorizedDomains = texts.map { $0.lowercased() }
        }
        return Setting(path: path, value: .texts(field))
    }

    /// Lengths and character classes; absent values become the default.
    private static func passwordPolicies(_ path: String) -> Setting {
        let field = Field(path, get: { [$0.passwordPolicy] }) { settings, versions in
            let policy = versions.first ?? PasswordPolicy()
            let (lengths, longestMinimum) = (PasswordPolicy.lengths, PasswordPolicy.longestMinimum)
            guard versions.count <= 1, (lengths.lowerBound...longestMinimum).contains(policy.minimumLength),
                (policy.minimumLength...lengths.upperBound).contains(policy.maximumLength)
            else {
                throw AdministrationError.invalid(
                    "\(path) must be one version, of a minPasswordLength from \(lengths.lowerBound) to \(longestMinimum) "
                        + "and a maxPasswordLength from there to \(lengths.upperBound)."
                )
            }
            settings.passwordPolicy.setStrength(policy)
        }
        return Setting(path: path, value: .passwordPolicies(field))
    }
}

extension ProjectSettings {
    fileprivate var publicURLText: String? {
        get { publicURL?.text }
        set { publicURL = newValue.flatMap { PublicURL(origin: $0) } }
    }

    fileprivate var appURLTexts: [String] {
        get { appURLs.map(\.text) }
        set { appURLs = newValue.compactMap { PublicURL(origin: $0) } }
    }

    fileprivate var needsPassword: Bool {
        get { !allowsEmailLink }
        set { allowsEmailLink = !newValue }
    }
}

extension PasswordPolicy {
    fileprivate mutating func setStrength(_ other: PasswordPolicy) {
        var policy = other
        (policy.isEnforced, policy.forcesUpgradeAtSignIn) = (isEnforced, forcesUpgradeAtSignIn)
        self = policy
    }
}
