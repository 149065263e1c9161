/// A tenant's own settings; everything else is the project's.
///
/// Stored as JSON in one row; a member that the row lacks has its default, so a new release can read old rows.
package struct TenantSettings: Sendable, Hashable, Codable {
    /// Every sign-in method is off at first.
    package var passwordSignIn = false
    package var emailLinkSignIn = false
    package var emailCodes = false
    package var anonymousSignIn = false
    package var disabledUserSignup = false
    package var disabledUserDeletion = false
    package var emailEnumerationProtection = true
    package var passwordPolicy = PasswordPolicy()
    package var secondFactors = SecondFactorSettings()
    package var passkeys = PasskeySettings()
    package var testPhoneNumbers: [String: String] = [:]
    package var smsRegions = SMSRegions()
    package var captchaOperations: [CaptchaOperation] = []
    package var descriptions: [String: String] = [:]
    package var given: [String] = []

    package init() {}

    /// The settings of a new tenant: those that protect accounts are copied from the project.
    package init(of project: ProjectSettings) {
        emailEnumerationProtection = project.emailEnumerationProtection
        passwordPolicy = project.passwordPolicy
        smsRegions = project.phone.regions
        captchaOperations = project.captchaOperations
    }

    /// The tenant's own part of the settings in it, the inverse of ``ProjectSettings/inTenant(_:)``.
    package init(in tenant: ProjectSettings) {
        passwordSignIn = tenant.passwordSignIn
        emailLinkSignIn = tenant.emailLinkSignIn
        emailCodes = tenant.emailCodes
        anonymousSignIn = tenant.anonymousSignIn
        disabledUserSignup = tenant.disabledUserSignup
        disabledUserDeletion = tenant.disabledUserDeletion
        emailEnumerationProtection = tenant.emailEnumerationProtection
        passwordPolicy = tenant.passwordPolicy
        secondFactors = tenant.secondFactors
        passkeys = tenant.passkeys
        testPhoneNumbers = tenant.phone.testNumbers
        smsRegions = tenant.phone.regions
        captchaOperations = tenant.captchaOperations
        descriptions = tenant.descriptions
        given = tenant.given
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let defaults = TenantSettings()
        func value<T: Decodable>(_ key: CodingKeys, _ path: KeyPath<TenantSettings, T>) throws -> T {
            try values.decodeIfPresent(T.self, forKey: key) ?? defaults[keyPath: path]
        }
        passwordSignIn = try value(.passwordSignIn, \.passwordSignIn)
        emailLinkSignIn = try value(.emailLinkSignIn, \.emailLinkSignIn)
        emailCodes = try value(.emailCodes, \.emailCodes)
        anonymousSignIn = try value(.anonymousSignIn, \.anonymousSignIn)
        disabledUserSignup = try value(.disabledUserSignup, \.disabledUserSignup)
        disabledUserDeletion = try value(.disabledUserDeletion, \.disabledUserDeletion)
        emailEnumerationProtection = try value(.emailEnumerationProtection, \.emailEnumerationProtection)
        passwordPolicy = try value(.passwordPolicy, \.passwordPolicy)
        secondFactors = try value(.secondFactors, \.secondFactors)
        passkeys = try value(.passkeys, \.passkeys)
        testPhoneNumbers = try value(.testPhoneNumbers, \.testPhoneNumbers)
        smsRegions = try value(.smsRegions, \.smsRegions)
        captchaOperations = try value(.captchaOperations, \.captchaOperations)
        descriptions = try value(.descriptions, \.descriptions)
        given = try value(.given, \.given)
    }
}

extension ProjectSettings {
    /// A project's settings in one of its tenants.
    package func inTenant(_ own: TenantSettings) -> ProjectSettings {
        var settings = self
        settings.passwordSignIn = own.passwordSignIn
        settings.allowsEmailLink = own.emailLinkSignIn
        settings.emailLinkNeedsPassword = false
        settings.emailCodes = own.emailCodes
        settings.anonymousSignIn = own.anonymousSignIn
        settings.disabledUserSignup = own.disabledUserSignup
        settings.disabledUserDeletion = own.disabledUserDeletion
        settings.emailEnumerationProtection = own.emailEnumerationProtection
        settings.passwordPolicy = own.passwordPolicy
        settings.secondFactors = own.secondFactors
        settings.passkeys = own.passkeys
        settings.phone.testNumbers = own.testPhoneNumbers
        settings.phone.regions = own.smsRegions
        settings.captchaOperations = own.captchaOperations
        settings.descriptions = own.descriptions
        settings.given = own.given
        return settings
    }
}
