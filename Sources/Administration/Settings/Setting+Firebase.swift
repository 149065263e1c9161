import Projects

/// What Firebase's resources have besides our settings, so that it is kept or refused by its name, and never lost.
extension Setting {
    // MARK: Kept

    /// Descriptions that change nothing here, which clients expect to read as they wrote them.
    static let described =
        describedOfBoth + [
            description("multiTenant.defaultTenantLocation")
        ] + signUpQuota

    static let describedOfTenant = describedOfBoth + [describedFlag("inheritance.emailSendingConfig")]

    private static let describedOfBoth = [
        description(
            "mobileLinksConfig.domain",
            of: ["DOMAIN_UNSPECIFIED", "FIREBASE_DYNAMIC_LINK_DOMAIN", "HOSTING_DOMAIN"]
        ), describedFlag("monitoring.requestLogging.enabled"),
    ]

    private static func description(_ path: String) -> Setting {
        Setting(
            path: path,
            value: .text(
                Field(path, get: { $0.descriptions[path] ?? "" }) { settings, text in
                    guard text.utf8.count <= 256 else {
                        throw AdministrationError.invalid("\(path) must have at most 256 bytes.")
                    }
                    settings.descriptions[path] = text.isEmpty ? nil : text
                }
            )
        )
    }

    private static func description(_ path: String, of choices: [String]) -> Setting {
        let field = Field(path, get: { $0.descriptions[path] ?? "" }) { settings, choice in
            settings.descriptions[path] = choice.isEmpty || choice == choices[0] ? nil : choice
        }
        return Setting(path: path, value: .choice(field, of: choices))
    }

    /// Kept as they were written, and in force for their time.
    private static let signUpQuota: [Setting] = {
        let path = "quota.signUpQuotaConfig"
        let quota = Field("\(path).quota", get: { $0.signUpQuota.count.map(String.init) ?? "" }) { settings, digits in
            settings.signUpQuota.count = Int64(digits).flatMap { $0 == 0 ? nil : $0 }
        }
        return [
            Setting(path: "\(path).quota", value: .digits(quota)),
            quotaText("\(path).startTime", \.startTime, "be a time such as 2030-01-01T00:00:00Z") {
                SignUpQuota.time($0) != nil
            },
            quotaText("\(path).quotaDuration", \.duration, "be seconds such as 3600s") {
                SignUpQuota.seconds($0) != nil
            },
        ]
    }()

    private static func quotaText(
        _ path: String,
        _ value: any WritableKeyPath<SignUpQuota, String?> & Sendable,
        _ words: String,
        _ allows: @escaping @Sendable (String) -> Bool
    ) -> Setting {
        let field = Field(path, get: { $0.signUpQuota[keyPath: value] ?? "" }) { settings, text in
            guard text.isEmpty || allows(text) else { throw AdministrationError.invalid("\(path) must \(words).") }
            settings.signUpQuota[keyPath: value] = text.isEmpty ? nil : text
        }
        return Setting(path: path, value: .text(field))
    }

    private static func describedFlag(_ path: String) -> Setting {
        let field = Field(path, get: { $0.descriptions[path] == "true" }) { $0.descriptions[path] = $1 ? "true" : nil }
        return Setting(path: path, value: .flag(field))
    }

    // MARK: Refused

    static let unsupported: [Setting] =
        recaptcha
        + [
            "blockingFunctions.triggers.beforeSendEmail.functionUri",
            "blockingFunctions.triggers.beforeSendSms.functionUri", "notification.sendEmail.callbackUri",
            "notification.sendEmail.dnsInfo.useCustomDomain", "notification.sendEmail.smtp.host",
            "notification.sendEmail.smtp.password", "notification.sendEmail.smtp.port",
            "notification.sendEmail.smtp.senderEmail", "notification.sendEmail.smtp.username",
            "notification.sendSms.useDeviceLocale",
        ].map { unsupported($0) }
        + [
            unsupported("notification.sendEmail.smtp.securityMode", "SECURITY_MODE_UNSPECIFIED"),
            unsupported("notification.sendEmail.method", "METHOD_UNSPECIFIED", "DEFAULT"),
        ]
        + ["subject", "body", "bodyFormat", "senderDisplayName", "senderLocalPart", "replyTo"].map {
            unsupported("notification.sendEmail.legacyResetPasswordTemplate.\($0)", "BODY_FORMAT_UNSPECIFIED")
        }

    static let unsupportedOfTenant =
        recaptcha + [unsupported("autodeleteAnonymousUsers")]

    /// Our verifiers of CAPTCHAs are others: `identity.captcha`.
    private static let recaptcha =
        ["emailPasswordEnforcementState", "phoneEnforcementState"].map {
            unsupported("recaptchaConfig.\($0)", "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED", "OFF")
        }
        + [
            "managedRules", "recaptchaKeys", "tollFraudManagedRules", "useAccountDefender", "useSmsBotScore",
            "useSmsTollFraudProtection",
        ].map { unsupported("recaptchaConfig.\($0)") }

    private static func unsupported(_ path: String, _ nothing: String...) -> Setting {
        Setting(path: path, value: .unsupported(nothing: nothing))
    }
}
