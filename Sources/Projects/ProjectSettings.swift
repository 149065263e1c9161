package import Domain
package import struct Foundation.Date

/// A project's settings: the members of `projects/{p}/config`.
///
/// Stored as JSON in one row; a member that the row lacks has its default, so a new release can read old rows.
package struct ProjectSettings: Sendable, Hashable, Codable {
    /// Domains that continue URLs and redirects may name; initially `localhost`.
    package var authorizedDomains: [String] = ["localhost"]
    /// URLs at or below which continue URLs and redirects must be; empty for any page of ``authorizedDomains``, as in
    /// Firebase.
    package var continueURLs: [String] = []
    /// `signIn.email.enabled`.
    package var passwordSignIn = true
    /// `signIn.email.passwordRequired` is false: email links can sign in too.
    package var allowsEmailLink = false
    /// False in tenants, where passwords and email links are enabled separately.
    package var emailLinkNeedsPassword = true
    /// Emails that sign in or verify an email contain a code of six digits beside the link.
    package var emailCodes = false
    package var anonymousSignIn = false
    /// Deletes anonymous accounts thirty days after their creation.
    package var deletesOldGuests = false
    /// False: one account per email.
    package var allowDuplicateEmails = false
    package var disabledUserSignup = false
    package var disabledUserDeletion = false
    /// Email enumeration protection, `emailPrivacyConfig.enableImprovedEmailPrivacy`.
    package var emailEnumerationProtection = true
    /// Seconds for which a sign-in is recent enough for sensitive operations; 0 turns the check off.
    package var recentSignInSeconds: Int64 = 300
    /// The same for session cookies, which a back end creates; 0 leaves the check to the back end, as in Firebase.
    package var sessionCookieSignInSeconds: Int64 = 0
    /// Which accounts need a recent sign-in to link and unlink sign-in methods.
    package var methodChanges = MethodChangePolicy.secondFactor
    /// Prevents users from removing their last sign-in method.
    package var keepLastSignInMethod = true
    /// Custom tokens are only a first factor; otherwise the back end that signs them vouches for the user.
    package var customTokensNeedSecondFactor = false
    /// `strict` uses the stricter defaults of ``EmailTrustDefaults``.
    package var strictEmailTrust = false
    /// What to do when a new identity's email already has an account.
    package var linking = LinkingMode.auto
    /// Signs ID tokens with ES256 instead of RS256.
    package var signWithES256 = false
    /// Until when tokens of the other algorithm may be valid, in seconds since 1970; nil if the project never had another.
    package var signedOtherwiseUntil: Int64?
    package var tokenIssuer = TokenIssuer.firebase
    /// Where browsers and providers reach the project, instead of the service's URL: `https://login.example.com`.
    package var publicURL: PublicURL?
    /// Whether providers redirect to an address of the project's at the service's URL, instead of one that projects share.
    package var ownCallback = false
    /// Returns a new refresh token for each one that is used, and treats the use of an old one as theft.
    package var rotateRefreshTokens = false
    /// Days without a refresh after which a session ends; 0 for never.
    package var sessionIdleDays = 0
    /// Deletes an account if the provider reports that the user's account there, its only sign-in method, was deleted.
    package var deleteAccountsDeletedAtProvider = false
    package var passwordPolicy = PasswordPolicy()
    /// Whether users may not choose passwords that were leaked; needs a list in the configuration of the node.
    package var refusesLeakedPasswords = false
    package var secondFactors = SecondFactorSettings()
    package var passkeys = PasskeySettings()
    /// `signIn.hashConfig`: for new hashes, and for old ones at the next sign-in.
    package var passwordCost = PasswordCost()
    /// The content of emails.
    package var mail = MailSettings()
    package var pages = PageSettings()
    package var phone = PhoneSettings()
    /// Stored separately from the other members, sealed.
    package var delivery = DeliverySettings()
    package var rateLimits = RateLimitSettings()
    /// `quota.signUpQuotaConfig`.
    package var signUpQuota = SignUpQuota()
    package var blockingFunctions = BlockingFunctions()
    /// Calls them for anonymous users and custom tokens too, which Firebase does not.
    package var asksFunctionsAboutAll = false
    /// What needs a CAPTCHA, which ``DeliverySettings/captcha`` verifies.
    package var captchaOperations: [CaptchaOperation] = []
    /// Apps that results of sign-ins may be sent to, in addition to ``authorizedDomains``.
    package var apps: [AppRegistration] = []
    /// Whether other applications can sign in with the project's accounts.
    package var oauth = OAuthSettings()
    /// Whether the iframe of web SDKs loads Google's loader (`apis.google.com`), which they require by default.
    package var googleLoader = true

    /// URLs of the project's apps, whose hosts pass `/__/` on to the service; each proved by a file at its host.
    package var appURLs: [PublicURL] = []
    /// Where `/.well-known/change-password` leads; nil for the service's page for forgotten passwords.
    package var changePasswordURL: String?
    /// Whether the project uses the hosted sign-in page.
    package var signInPage = false
    /// `multiTenant.allowTenants`: whether tenants can be created.
    package var allowsTenants = false
    /// Firebase's members that describe something and change nothing here, by their paths.
    package var descriptions: [String: String] = [:]
    /// The paths of members that an admin gave a value, which are shown even if it is the default; sorted.
    package var given: [String] = []

    package init() {}

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = ProjectSettings()
        func value<T: Decodable>(_ key: CodingKeys, _ path: KeyPath<ProjectSettings, T>) throws -> T {
            try values.decodeIfPresent(T.self, forKey: key) ?? defaults[keyPath: path]
        }
        authorizedDomains = try value(.authorizedDomains, \.authorizedDomains)
        continueURLs = try value(.continueURLs, \.continueURLs)
        passwordSignIn = try value(.passwordSignIn, \.passwordSignIn)
        allowsEmailLink = try value(.allowsEmailLink, \.allowsEmailLink)
        emailLinkNeedsPassword = try value(.emailLinkNeedsPassword, \.emailLinkNeedsPassword)
        emailCodes = try value(.emailCodes, \.emailCodes)
        anonymousSignIn = try value(.anonymousSignIn, \.anonymousSignIn)
        deletesOldGuests = try value(.deletesOldGuests, \.deletesOldGuests)
        allowDuplicateEmails = try value(.allowDuplicateEmails, \.allowDuplicateEmails)
        disabledUserSignup = try value(.disabledUserSignup, \.disabledUserSignup)
        disabledUserDeletion = try value(.disabledUserDeletion, \.disabledUserDeletion)
        emailEnumerationProtection = try value(.emailEnumerationProtection, \.emailEnumerationProtection)
        recentSignInSeconds = try value(.recentSignInSeconds, \.recentSignInSeconds)
        sessionCookieSignInSeconds = try value(.sessionCookieSignInSeconds, \.sessionCookieSignInSeconds)
        methodChanges = try value(.methodChanges, \.methodChanges)
        keepLastSignInMethod = try value(.keepLastSignInMethod, \.keepLastSignInMethod)
        customTokensNeedSecondFactor = try value(.customTokensNeedSecondFactor, \.customTokensNeedSecondFactor)
        strictEmailTrust = try value(.strictEmailTrust, \.strictEmailTrust)
        linking = try value(.linking, \.linking)
        signWithES256 = try value(.signWithES256, \.signWithES256)
        signedOtherwiseUntil = try value(.signedOtherwiseUntil, \.signedOtherwiseUntil)
        tokenIssuer = try value(.tokenIssuer, \.tokenIssuer)
        publicURL = try value(.publicURL, \.publicURL)
        ownCallback = try value(.ownCallback, \.ownCallback)
        rotateRefreshTokens = try value(.rotateRefreshTokens, \.rotateRefreshTokens)
        sessionIdleDays = try value(.sessionIdleDays, \.sessionIdleDays)
        deleteAccountsDeletedAtProvider = try value(
            .deleteAccountsDeletedAtProvider,
            \.deleteAccountsDeletedAtProvider
        )
        passwordPolicy = try value(.passwordPolicy, \.passwordPolicy)
        refusesLeakedPasswords = try value(.refusesLeakedPasswords, \.refusesLeakedPasswords)
        secondFactors = try value(.secondFactors, \.secondFactors)
        passkeys = try value(.passkeys, \.passkeys)
        passwordCost = try value(.passwordCost, \.passwordCost)
        mail = try value(.mail, \.mail)
        pages = try value(.pages, \.pages)
        phone = try value(.phone, \.phone)
        delivery = try value(.delivery, \.delivery)
        rateLimits = try value(.rateLimits, \.rateLimits)
        signUpQuota = try value(.signUpQuota, \.signUpQuota)
        blockingFunctions = try value(.blockingFunctions, \.blockingFunctions)
        asksFunctionsAboutAll = try value(.asksFunctionsAboutAll, \.asksFunctionsAboutAll)
        captchaOperations = try value(.captchaOperations, \.captchaOperations)
        apps = try value(.apps, \.apps)
        oauth = try value(.oauth, \.oauth)
        googleLoader = try value(.googleLoader, \.googleLoader)
        appURLs = try value(.appURLs, \.appURLs)
        changePasswordURL = try value(.changePasswordURL, \.changePasswordURL)
        signInPage = try value(.signInPage, \.signInPage)
        allowsTenants = try value(.allowsTenants, \.allowsTenants)
        descriptions = try value(.descriptions, \.descriptions)
        given = try value(.given, \.given)
    }

    /// The last-use time before which sessions have ended because of inactivity; nil if they do not end.
    ///
    /// One minute earlier, because uses are recorded at most once a minute.
    package func sessionsIdle(at now: Date) -> Date? {
        sessionIdleDays == 0 ? nil : now.addingTimeInterval(-Double(sessionIdleDays) * 86_400 - 60)
    }

    /// Changes the algorithm of new tokens; those of before stay valid, and their keys published.
    package mutating func sign(withES256: Bool, from seconds: Int64) {
        guard withES256 != signWithES256 else { return }
        signWithES256 = withES256
        // An hour more than its tokens live, as signing keys stay; those of applications as long as they may have been told to.
        signedOtherwiseUntil = seconds + 3600 + (oauth.isEnabled ? OAuthSettings.accessTokenLifetimes.upperBound : 3600)
    }

    /// Whether tokens of an algorithm may be valid at a time, in seconds since 1970.
    package func signs(withES256: Bool, at seconds: Int64) -> Bool {
        signWithES256 == withES256 || signedOtherwiseUntil.map { seconds < $0 } ?? false
    }

    /// Whether email links can sign in.
    package var emailLinkSignIn: Bool { allowsEmailLink && (passwordSignIn || !emailLinkNeedsPassword) }

    /// The settings of projects that `identity dev` creates: everything is enabled and unrestricted.
    package static let development: ProjectSettings = {
        var settings = ProjectSettings()
        settings.authorizedDomains = ["localhost", "127.0.0.1"]
        settings.anonymousSignIn = true
        settings.allowsEmailLink = true
        settings.phone.isEnabled = true
        settings.emailEnumerationProtection = false
        settings.keepLastSignInMethod = false
        settings.secondFactors.isEnabled = true
        settings.secondFactors.offersTOTP = true
        settings.passkeys.relyingPartyID = "localhost"
        settings.passkeys.origins = ["http://localhost"]
        settings.oauth.isEnabled = true
        settings.oauth.allowsRegistration = true
        settings.oauth.allowsDocuments = true
        settings.rateLimits = .generous
        settings.allowsTenants = true
        return settings
    }()
}
