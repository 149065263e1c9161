package import Linking
package import struct Foundation.Date

/// What a project decides: the members of `projects/{p}/config` that exist so far.
///
/// Stored as JSON in one row; a member that the row lacks has its default, so that a new release reads old rows.
package struct ProjectSettings: Sendable, Hashable, Codable {
    /// Domains that continue URLs and redirects may name; `localhost` to begin with.
    package var authorizedDomains: [String] = ["localhost"]
    /// URLs of which one must be where a continue URL or a redirect leads, or above it; empty for any page of
    /// ``authorizedDomains``, as Firebase has it.
    package var continueURLs: [String] = []
    /// `signIn.email.enabled`.
    package var passwordSignIn = true
    /// `signIn.email.passwordRequired` is false: the link of a mail signs in too.
    package var allowsEmailLink = false
    /// False in tenants, where passwords and links are switched on each by itself.
    package var emailLinkNeedsPassword = true
    package var anonymousSignIn = false
    /// False: one account per email.
    package var allowDuplicateEmails = false
    package var disabledUserSignup = false
    package var disabledUserDeletion = false
    /// Email enumeration protection, `emailPrivacyConfig.enableImprovedEmailPrivacy`.
    package var emailEnumerationProtection = true
    /// Seconds since the sign-in within which sensitive operations are allowed; 0 switches the check off.
    package var recentSignInSeconds: Int64 = 300
    /// The same for session cookies, which a back end makes; 0 leaves it to the back end, as Firebase does.
    package var sessionCookieSignInSeconds: Int64 = 0
    /// Which accounts link and unlink sign-in methods after a recent sign-in only.
    package var methodChanges = MethodChangePolicy.secondFactor
    /// Refuses end users the removal of their last sign-in method.
    package var keepLastSignInMethod = true
    /// `strict` takes the narrower defaults of ``EmailTrustDefaults``.
    package var strictEmailTrust = false
    /// What becomes of a new identity whose address belongs to an account.
    package var linking = LinkingMode.auto
    /// Signs ID tokens with ES256 instead of RS256.
    package var signWithES256 = false
    package var tokenIssuer = TokenIssuer.firebase
    /// Gives a new refresh token for each one that is used, and takes the use of an old one for theft.
    package var rotateRefreshTokens = false
    /// Days after which a session that nobody refreshed has ended; 0 for never.
    package var sessionIdleDays = 0
    /// Deletes an account when the provider says that the person's account there, its only way in, is gone.
    package var deleteAccountsDeletedAtProvider = false
    package var passwordPolicy = PasswordPolicy()
    package var secondFactors = SecondFactorSettings()
    /// `signIn.hashConfig`: for new hashes, and for old ones at the next sign-in.
    package var passwordCost = PasswordCost()
    /// How mails look.
    package var mail = MailSettings()
    package var pages = PageSettings()
    package var phone = PhoneSettings()
    /// Stored apart from the other members, sealed.
    package var delivery = DeliverySettings()
    package var rateLimits = RateLimitSettings()
    package var blockingFunctions = BlockingFunctions()
    /// Where results of sign-ins may be sent, besides ``authorizedDomains``.
    package var apps: [AppRegistration] = []
    /// Whether the iframe of web SDKs gets Google's loader (`apis.google.com`), which they insist on by themselves.
    package var googleLoader = true

    /// Whether the project has a sign-in page of ours.
    package var signInPage = false
    /// `multiTenant.allowTenants`: whether tenants can be made.
    package var allowsTenants = false

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
        anonymousSignIn = try value(.anonymousSignIn, \.anonymousSignIn)
        allowDuplicateEmails = try value(.allowDuplicateEmails, \.allowDuplicateEmails)
        disabledUserSignup = try value(.disabledUserSignup, \.disabledUserSignup)
        disabledUserDeletion = try value(.disabledUserDeletion, \.disabledUserDeletion)
        emailEnumerationProtection = try value(.emailEnumerationProtection, \.emailEnumerationProtection)
        recentSignInSeconds = try value(.recentSignInSeconds, \.recentSignInSeconds)
        sessionCookieSignInSeconds = try value(.sessionCookieSignInSeconds, \.sessionCookieSignInSeconds)
        methodChanges = try value(.methodChanges, \.methodChanges)
        keepLastSignInMethod = try value(.keepLastSignInMethod, \.keepLastSignInMethod)
        strictEmailTrust = try value(.strictEmailTrust, \.strictEmailTrust)
        linking = try value(.linking, \.linking)
        signWithES256 = try value(.signWithES256, \.signWithES256)
        tokenIssuer = try value(.tokenIssuer, \.tokenIssuer)
        rotateRefreshTokens = try value(.rotateRefreshTokens, \.rotateRefreshTokens)
        sessionIdleDays = try value(.sessionIdleDays, \.sessionIdleDays)
        deleteAccountsDeletedAtProvider = try value(
            .deleteAccountsDeletedAtProvider,
            \.deleteAccountsDeletedAtProvider
        )
        passwordPolicy = try value(.passwordPolicy, \.passwordPolicy)
        secondFactors = try value(.secondFactors, \.secondFactors)
        passwordCost = try value(.passwordCost, \.passwordCost)
        mail = try value(.mail, \.mail)
        pages = try value(.pages, \.pages)
        phone = try value(.phone, \.phone)
        delivery = try value(.delivery, \.delivery)
        rateLimits = try value(.rateLimits, \.rateLimits)
        blockingFunctions = try value(.blockingFunctions, \.blockingFunctions)
        apps = try value(.apps, \.apps)
        googleLoader = try value(.googleLoader, \.googleLoader)
        signInPage = try value(.signInPage, \.signInPage)
        allowsTenants = try value(.allowsTenants, \.allowsTenants)
    }

    /// When a session was last used that ends by now for want of use; nil where none does.
    ///
    /// A minute earlier than that: uses are noted no more often.
    package func sessionsIdle(at now: Date) -> Date? {
        sessionIdleDays == 0 ? nil : now.addingTimeInterval(-Double(sessionIdleDays) * 86_400 - 60)
    }

    /// Whether the link of a mail signs in.
    package var emailLinkSignIn: Bool { allowsEmailLink && (passwordSignIn || !emailLinkNeedsPassword) }

    /// The settings of a project that `identity dev` makes: everything is on and nothing is in the way.
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
        settings.rateLimits = .generous
        settings.allowsTenants = true
        return settings
    }()
}
