import Administration
import Projects
import Storage
import TestKit
import Testing

/// What becomes of each member of a config or tenant: ours and Firebase's, named by itself or by what contains it.
@Suite("Members of settings, one by one", .database)
struct SettingLeafTests {
    /// Another value than the default for every setting of a project.
    static let whole: JSON = {
        var identity: [String: JSON] = [
            "emailCodes": true, "leakedPasswords": "allow", "recentSignInSeconds": "60",
            "sessionCookieSignInSeconds": "60", "continueURLs": ["https://app.example.com/a"],
            "methodChanges": "recentSignIn", "keepLastSignInMethod": true, "emailTrust": "strict", "linking": "confirm",
            "tokenIssuer": "firebase", "callback": "own", "signingAlgorithm": "ES256",
            "rotateRefreshTokens": true, "sessionIdleDays": 9, "deleteAccountsDeletedAtProvider": true,
            "googleLoader": true, "signInPage": true, "appName": "App",
            "changePasswordURL": "https://app.example.com/password", "appURLs": ["https://app.example.com"],
            "captchaOperations": ["email"], "customTokensNeedSecondFactor": true, "blockingFunctionCalls": "all",
            "pages": [
                "accentColor": "#112233", "backgroundColor": "#112233", "darkAccentColor": "#112233",
                "darkBackgroundColor": "#112233",
            ],
            "sms": ["url": "https://sms.example.com", "body": "to=%TO%&text=%TEXT%"],
            "webhook": [
                "url": "https://hook.example.com", "types": ["account.created"],
                "secrets": ["whsec_WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpa"],
            ],
            "captcha": ["service": "TURNSTILE", "siteKey": "key", "secret": "secret"],
            "oauth": [
                "enabled": true, "scopes": ["orders": "Your orders"], "resources": ["https://api.example.com/"],
                "registration": true, "clientMetadataDocuments": true, "accessTokenSeconds": "61",
            ],
        ]
        var limits: [String: JSON] = ["enabled": true]
        // Narrower than the deployment's: others are refused.
        for kind in RateLimitKind.ofProjects { limits[kind.rawValue] = ["count": 1, "seconds": 86_000] }
        identity["rateLimits"] = .object(limits)
        identity["emailLinkSeconds"] = .object(
            Dictionary(uniqueKeysWithValues: MailTemplate.allCases.map { ($0.rawValue, "601") })
        )
        var templates: [String: JSON] = [:]
        for template in MailSettings.templates {
            templates[template] = [
                "subject": "Hi", "body": "<a href=%LINK%>", "bodyFormat": "HTML", "senderDisplayName": "App",
                "senderLocalPart": "app", "replyTo": "app@example.com",
                "localized": [
                    "de": ["subject": "Hallo", "senderDisplayName": "Die App"],
                    "pt_BR": [
                        "subject": "Oi", "body": "%LINK% %EXPIRES_IN%", "bodyFormat": "PLAIN_TEXT",
                        "replyTo": "br@example.com",
                    ],
                ],
            ]
        }
        return [
            "authorizedDomains": ["app.example.com"], "autodeleteAnonymousUsers": true,
            "signIn": [
                "email": ["enabled": true, "passwordRequired": true],
                "hashConfig": ["rounds": 4, "memoryCost": 12], "anonymous": ["enabled": true],
                "allowDuplicateEmails": true,
                "phoneNumber": ["enabled": true, "testPhoneNumbers": ["+4915550100": "123456"]],
            ],
            "client": ["permissions": ["disabledUserSignup": true, "disabledUserDeletion": true]],
            "emailPrivacyConfig": ["enableImprovedEmailPrivacy": true],
            "passwordPolicyConfig": [
                "passwordPolicyEnforcementState": "ENFORCE", "forceUpgradeOnSignin": true,
                "passwordPolicyVersions": [
                    [
                        "customStrengthOptions": [
                            "minPasswordLength": 8, "maxPasswordLength": 30, "containsLowercaseCharacter": true,
                            "containsUppercaseCharacter": false, "containsNumericCharacter": false,
                            "containsNonAlphanumericCharacter": false,
                        ], "schemaVersion": 1,
                    ]
                ],
            ],
            "mfa": [
                "state": "ENABLED", "enabledProviders": ["PHONE_SMS"],
                "providerConfigs": [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 3]]],
            ],
            "passkeyConfig": [
                "rpId": "example.com", "expectedOrigins": ["https://app.example.com"], "rpName": "App",
                "userVerification": "required", "secondFactor": true, "refuseClonedCredentials": true,
                "attestation": "direct", "managementUrl": "https://app.example.com/keys", "appleTeamId": "ABCDE12345",
            ],
            "notification": [
                "defaultLocale": "de", "sendEmail": .object(templates),
                "sendSms": ["localized": ["fr": "%CODE%, %APP_NAME%"], "originBoundCodes": true],
            ],
            "smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["DE", "JP"]]],
            "blockingFunctions": [
                "triggers": [
                    "beforeCreate": ["functionUri": "https://f.example.com/c", "audience": "f.example.com/c"],
                    "beforeSignIn": ["functionUri": "https://f.example.com/s", "audience": "https://f.a.run.app/"],
                ], "forwardInboundCredentials": ["idToken": true, "accessToken": true, "refreshToken": true],
            ],
            "multiTenant": ["allowTenants": true, "defaultTenantLocation": "eu"],
            "mobileLinksConfig": ["domain": "HOSTING_DOMAIN"], "monitoring": ["requestLogging": ["enabled": true]],
            "quota": ["signUpQuotaConfig": ["quota": "9", "startTime": "2030-01-01T00:00:00Z", "quotaDuration": "9s"]],
            "identity": .object(identity),
        ]
    }()

    /// Settings whose other values need more than a config, or are one project's alone.
    private static let exceptions = ["passkeyConfig.attestationRoots", "identity.publicURL"]

    private func patch(_ service: TestService, _ mask: String?, _ body: JSON?) async throws -> Reply {
        let query = mask.map { "?updateMask=\($0)" } ?? ""
        return try await service.admin("config\(query)", body, method: "PATCH", version: "v2")
    }

    private func settings(_ service: TestService) throws -> ProjectSettings {
        var settings = try #require(
            service.stores.configuration.snapshot.project(service.project.id)?.settings
        )
        settings.given = []
        return settings
    }

    @Test("what is read can be written: by no mask, by a mask of everything, and by each member's own")
    func readsAndWrites() async throws {
        try await TestService.run { service in
            // Of a new project, one in which everything is set, and one in which everything is set to nothing.
            let names = (Self.whole.object ?? [:]).keys.sorted().joined(separator: ",")
            for (mask, state) in [(nil, JSON.object([:])), (nil, Self.whole), (names, JSON.object([:]))]
                as [(String?, JSON)]
            {
                let reply = try await patch(service, mask, state)
                reply.expectOK()
                let (before, stored) = (try await service.admin("config", version: "v2"), try settings(service))
                for mask in [nil, names] {
                    let reply = try await patch(service, mask, before.json)
                    #expect(reply.json == before.json, "\(mask ?? "no mask"): \(reply)")
                    // Secrets are not read, and stay.
                    #expect(try settings(service) == stored)
                }
            }
        }
    }

    @Test("a named member is changed as the body says, and no other; one that it lacks is as if it were zero")
    func leaves() async throws {
        try await TestService.run { service in
            _ = try await patch(service, nil, Self.whole)
            let shown = try await service.admin("config", version: "v2").json
            for setting in Setting.ofProject {
                if case .unsupported = setting.value { continue }
                if Self.exceptions.contains(setting.path) { continue }
                let path = setting.path.split(separator: ".").map { String($0) }
                let set = try #require(Self.whole.value(at: path), "\(setting.path) has no example")
                #expect(shown.value(at: path) != nil, "\(setting.path) is shown")
                for length in Set([path.count, path.count - 1, path.count - 2]).filter({ $0 > 0 }).sorted() {
                    let mask = path.prefix(length).joined(separator: ".")
                    var results: [ProjectSettings] = []
                    for value in [nil, setting.zero, set] as [JSON?] {
                        guard value != .null else { continue }
                        let reply = try await patch(service, mask, Self.whole.setting(path, to: value))
                        #expect(reply.status == 200, "\(mask), \(value?.text ?? "absent"): \(reply)")
                        results.append(try settings(service))
                        let rest = reply.json.setting(path, to: nil).withoutEmpties
                        // Without a body it has no format.
                        if length == path.count, path.last != "body" {
                            #expect(rest == shown.setting(path, to: nil).withoutEmpties, "\(mask) changed another")
                        }
                    }
                    if results.count == 3 { #expect(results[0] == results[1], "\(mask): absent is zero") }
                    #expect(results.first != results.last || setting.isAlwaysThere, "\(mask) has an effect")
                }
            }
        }
    }

    /// The leaves of Firebase's Config and Tenant that can be written (discovery document of Identity Toolkit v2).
    private static let ofFirebase: [(String, [String])] = [
        (
            "config",
            [
                "authorizedDomains", "autodeleteAnonymousUsers",
                "blockingFunctions.forwardInboundCredentials.accessToken",
                "blockingFunctions.forwardInboundCredentials.idToken",
                "blockingFunctions.forwardInboundCredentials.refreshToken",
                "blockingFunctions.triggers.beforeCreate.functionUri",
                "blockingFunctions.triggers.beforeSignIn.functionUri",
                "blockingFunctions.triggers.beforeSendEmail.functionUri",
                "blockingFunctions.triggers.beforeSendSms.functionUri", "client.permissions.disabledUserDeletion",
                "client.permissions.disabledUserSignup", "emailPrivacyConfig.enableImprovedEmailPrivacy",
                "mfa.enabledProviders", "mfa.providerConfigs", "mfa.state", "mobileLinksConfig.domain",
                "monitoring.requestLogging.enabled", "multiTenant.allowTenants", "multiTenant.defaultTenantLocation",
                "notification.defaultLocale", "notification.sendEmail.callbackUri",
                "notification.sendEmail.dnsInfo.useCustomDomain", "notification.sendEmail.method",
                "notification.sendEmail.smtp.host", "notification.sendEmail.smtp.password",
                "notification.sendEmail.smtp.port", "notification.sendEmail.smtp.securityMode",
                "notification.sendEmail.smtp.senderEmail", "notification.sendEmail.smtp.username",
                "notification.sendSms.useDeviceLocale", "passwordPolicyConfig.forceUpgradeOnSignin",
                "passwordPolicyConfig.passwordPolicyEnforcementState", "passwordPolicyConfig.passwordPolicyVersions",
                "quota.signUpQuotaConfig.quota", "quota.signUpQuotaConfig.quotaDuration",
                "quota.signUpQuotaConfig.startTime", "signIn.allowDuplicateEmails", "signIn.anonymous.enabled",
                "signIn.email.enabled", "signIn.email.passwordRequired", "signIn.phoneNumber.enabled",
                "signIn.phoneNumber.testPhoneNumbers", "smsRegionConfig.allowByDefault.disallowedRegions",
                "smsRegionConfig.allowlistOnly.allowedRegions",
            ] + recaptcha
                + [
                    "changeEmailTemplate", "legacyResetPasswordTemplate", "resetPasswordTemplate",
                    "revertSecondFactorAdditionTemplate", "verifyEmailTemplate",
                ].flatMap { template in
                    ["body", "bodyFormat", "replyTo", "senderDisplayName", "senderLocalPart", "subject"].map {
                        "notification.sendEmail.\(template).\($0)"
                    }
                }
        ),
        (
            "tenants/{tenant}",
            [
                "allowPasswordSignup", "autodeleteAnonymousUsers", "client.permissions.disabledUserDeletion",
                "client.permissions.disabledUserSignup", "disableAuth", "displayName",
                "emailPrivacyConfig.enableImprovedEmailPrivacy", "enableAnonymousUser", "enableEmailLinkSignin",
                "inheritance.emailSendingConfig", "mfaConfig.enabledProviders", "mfaConfig.providerConfigs",
                "mfaConfig.state", "mobileLinksConfig.domain", "monitoring.requestLogging.enabled",
                "passwordPolicyConfig.forceUpgradeOnSignin", "passwordPolicyConfig.passwordPolicyEnforcementState",
                "passwordPolicyConfig.passwordPolicyVersions", "smsRegionConfig.allowByDefault.disallowedRegions",
                "smsRegionConfig.allowlistOnly.allowedRegions", "testPhoneNumbers",
            ] + recaptcha
        ),
    ]

    private static let recaptcha = [
        "emailPasswordEnforcementState", "managedRules", "phoneEnforcementState", "recaptchaKeys",
        "tollFraudManagedRules", "useAccountDefender", "useSmsBotScore", "useSmsTollFraudProtection",
    ].map { "recaptchaConfig.\($0)" }

    /// By the last name of a leaf; true for all others.
    private static let examples: [String: JSON] = [
        "authorizedDomains": ["b.example.com"], "functionUri": "https://f.example.com/", "state": "ENABLED",
        "enabledProviders": ["PHONE_SMS"], "domain": "HOSTING_DOMAIN", "defaultTenantLocation": "eu",
        "providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]], "defaultLocale": "ja",
        "callbackUri": "https://c.example.com/", "method": "CUSTOM_SMTP", "host": "h", "password": "p", "port": 25,
        "securityMode": "SSL", "senderEmail": "a@example.com", "username": "u",
        "passwordPolicyEnforcementState": "ENFORCE", "quota": "9", "quotaDuration": "9s",
        "startTime": "2030-01-01T00:00:00Z", "testPhoneNumbers": ["+4915550100": "123456"],
        "passwordPolicyVersions": whole.value(at: ["passwordPolicyConfig", "passwordPolicyVersions"]) ?? .null,
        "disallowedRegions": ["AC"], "allowedRegions": ["AD"], "emailPasswordEnforcementState": "AUDIT",
        "phoneEnforcementState": "ENFORCE", "managedRules": [["endScore": 1]], "recaptchaKeys": [["key": "k"]],
        "tollFraudManagedRules": [["startScore": 1]], "body": "Go %LINK%", "bodyFormat": "HTML",
        "replyTo": "r@example.com", "senderDisplayName": "App", "senderLocalPart": "app", "subject": "Hi",
        "displayName": "Southwind",
    ]

    @Test(
        "Firebase's members are kept and shown, or refused by their names; a misspelt one is refused",
        arguments: [0, 1]
    )
    func firebase(_ index: Int) async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let (resource, leaves) = Self.ofFirebase[index]
            let tenant = try await service.makeTenant("Northwind")
            let resourcePath = resource.replacing("{tenant}", with: tenant)
            func patch(_ mask: String?, _ body: JSON) async throws -> Reply {
                let query = mask.map { "?updateMask=\($0)" } ?? ""
                return try await service.admin("\(resourcePath)\(query)", body, method: "PATCH", version: "v2")
            }
            var kept = 0
            for leaf in leaves {
                let path = leaf.split(separator: ".").map { String($0) }
                let example = Self.examples[path.last ?? ""] ?? .bool(true)
                var body = JSON.object([:]).setting(path, to: example)
                // A format is that of a body.
                if path.last == "bodyFormat" { body = body.setting(path.dropLast() + ["body"], to: "Go %LINK%") }
                for mask in [leaf, nil] {
                    let reply = try await patch(mask, body)
                    guard reply.status == 200 else {
                        #expect(
                            reply.status == 400 && reply.error?.contains("is not supported") == true,
                            "\(leaf): \(reply)"
                        )
                        continue
                    }
                    kept += 1
                    if leaf.hasSuffix("bodyFormat"), mask != nil { continue }
                    #expect(
                        reply.json.value(at: path) == example,
                        "\(leaf) \(mask == nil ? "without a mask" : ""): \(reply)"
                    )
                }
                let before = try await service.admin(resourcePath, version: "v2").json
                for wrong in ["x", "Config", ".x", ",", ",,\(leaf)"] {
                    #expect(try await patch(leaf + wrong, body).status == 400, "\(leaf + wrong)")
                }
                // Names that only look like the other spelling, too.
                for wrong in ["x", "_", "__", "_X"] {
                    let misspelt = path.dropLast() + [(path.last ?? "") + wrong]
                    let reply = try await patch(nil, JSON.object([:]).setting(Array(misspelt), to: example))
                    #expect(reply.status == 400, "\(misspelt): \(reply)")
                }
                if example.object == nil {
                    let message = try await patch(nil, JSON.object([:]).setting(path, to: [:]))
                    #expect(message.status == 400 || leaf.hasPrefix("smsRegionConfig"), "\(leaf) {}: \(message)")
                }
                #expect(try await service.admin(resourcePath, version: "v2").json == before)
            }
            #expect(kept > leaves.count)
        }
    }

    @Test("each path of openapi.yaml changes what it names or is refused; parents too, and no misspelling passes")
    func described() async throws {
        let document = try OpenAPIDocument.ofRepository()
        try await TestService.run { service in
            _ = try await patch(service, nil, Self.whole)
            // A name is that of the resource of its own alone.
            for path in document.paths(ofComponent: "Config") where path != "passkeyConfig.name" {
                let names = path.split(separator: ".").map { String($0) }
                let current = try await service.admin("config", version: "v2").json
                let reply = try await patch(service, path, current)
                // What is set as a whole is not named in parts.
                let isPart =
                    ["sms", "webhook", "captcha"].contains { path.hasPrefix("identity.\($0).") }
                    || path.hasPrefix("smsRegionConfig.allowByDefault")
                #expect((reply.status == 400) == isPart, "\(path): \(reply)")
                if !isPart { #expect(reply.json.value(at: names) == current.value(at: names), "\(path)") }
                for wrong in ["\(path)x", String(path.dropLast()), "x\(path)"]
                where !document.paths(ofComponent: "Config").contains(wrong) {
                    #expect(try await patch(service, wrong, current).status == 400, "\(wrong)")
                }
            }
        }
    }
}

extension Setting {
    /// Null for one that has no zero value that can be sent: a choice, and a number that cannot be 0.
    fileprivate var zero: JSON {
        switch value {
        case .choice: .null
        case .number(_, let range), .seconds(_, let range): range.contains(0) ? 0 : .null
        case .flag: false
        case .text: ""
        case .digits: "0"
        case .choices, .texts, .passwordPolicies, .authenticatorApps: []
        case .map, .mailTexts, .regions, .sms, .webhook, .captcha, .unsupported: [:]
        }
    }

    /// Whether its example is also what it is without a value.
    fileprivate var isAlwaysThere: Bool {
        ["identity.leakedPasswords", "identity.tokenIssuer", "mfa.enabledProviders"].contains(path)
    }
}

extension JSON {
    fileprivate func value(at path: [String]) -> JSON? { path.reduce(self as JSON?) { $0?[$1] } }

    /// With the value at a path set, or removed.
    fileprivate func setting(_ path: [String], to value: JSON?) -> JSON {
        guard let name = path.first else { return value ?? self }
        var members = object ?? [:]
        members[name] = path.count > 1 ? (members[name] ?? [:]).setting(Array(path.dropFirst()), to: value) : value
        return .object(members)
    }

    fileprivate var withoutEmpties: JSON {
        guard let object else { return self }
        return .object(
            object.mapValues(\.withoutEmpties).filter { $0.value != [:] && $0.value != [] && $0.value != false }
        )
    }
}
