import HTTPTypes
import Linking
import Projects
import Storage

/// `projects/{p}/config`: a project's settings.
struct SettingsRoutes {
    let configuration: ConfigurationStore
    let deployment: Deployment

    var routes: [Route] {
        let path = "/v2/projects/{project}/config"
        return [
            Route(.get, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, get)),
            Route(.patch, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, patch)),
        ]
    }

    private func get(_ call: AdminCall) async throws -> Response {
        .json { $0.settings(of: call.project) }
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let mask = FieldMask(try call.call.query.value("updateMask"))
        let members = SettingsMember.all.filter { mask.contains($0.path) }
        let project = try await configuration.updateSettings(of: call.project.id) { settings in
            var changed: [String] = []
            for member in members {
                let before = settings
                try member.apply(body, to: &settings)
                if settings != before { changed.append(member.path) }
            }
            if mask.contains(SettingsMember.tokenIssuer), settings.tokenIssuer == .own,
                deployment.publicURL(of: call.project) == nil
            {
                throw WireError(
                    "INVALID_CONFIG",
                    "\(SettingsMember.tokenIssuer) own requires http.publicURL."
                )
            }
            return changed
        }
        return .json { $0.settings(of: project) }
    }
}

extension JSONWriter {
    /// The members of a project's config; as in Firebase, flags are omitted if false.
    fileprivate mutating func settings(of project: Project) {
        let settings = project.settings
        member("name", "projects/\(project.number)/config")
        object("signIn") { json in
            json.object("email") { json in
                json.member("enabled", ifTrue: settings.passwordSignIn)
                json.member("passwordRequired", ifTrue: !settings.allowsEmailLink)
            }
            json.hashConfig(settings.passwordCost)
            json.object("anonymous") { $0.member("enabled", ifTrue: settings.anonymousSignIn) }
            json.phone(settings.phone)
            json.member("allowDuplicateEmails", ifTrue: settings.allowDuplicateEmails)
        }
        clientPermissions(settings)
        if !settings.authorizedDomains.isEmpty { member("authorizedDomains", strings: settings.authorizedDomains) }
        object("emailPrivacyConfig") { json in
            json.member("enableImprovedEmailPrivacy", ifTrue: settings.emailEnumerationProtection)
        }
        object("passwordPolicyConfig") { $0.passwordPolicy(settings.passwordPolicy) }
        object("mfa") { $0.secondFactors(settings.secondFactors) }
        object("notification") { json in
            json.object("sendEmail") { json in
                for template in MailSettings.templates {
                    let override = settings.mail[template]
                    if override != MailSettings.Override() { json.object(template) { $0.override(override) } }
                }
            }
            json.member("defaultLocale", settings.mail.defaultLocale)
        }
        smsRegions(settings.phone.regions)
        blockingFunctions(settings.blockingFunctions)
        object("multiTenant") { $0.member("allowTenants", ifTrue: settings.allowsTenants) }
        object("identity") { json in
            json.delivery(settings.delivery)
            json.member("appName", settings.mail.appName)
            if settings.pages != PageSettings() { json.object("pages") { $0.pages(settings.pages) } }
            json.member("recentSignInSeconds", int64: settings.recentSignInSeconds)
            json.member("sessionCookieSignInSeconds", int64: settings.sessionCookieSignInSeconds)
            if !settings.continueURLs.isEmpty { json.member("continueURLs", strings: settings.continueURLs) }
            json.member("methodChanges", settings.methodChanges.rawValue)
            json.member("keepLastSignInMethod", settings.keepLastSignInMethod)
            json.member("emailTrust", settings.strictEmailTrust ? "strict" : "default")
            json.member("linking", settings.linking.rawValue)
            json.member("tokenIssuer", settings.tokenIssuer.rawValue)
            json.member("signingAlgorithm", settings.signWithES256 ? "ES256" : "RS256")
            json.member("rotateRefreshTokens", settings.rotateRefreshTokens)
            json.member("sessionIdleDays", number: Int64(settings.sessionIdleDays))
            json.member("deleteAccountsDeletedAtProvider", settings.deleteAccountsDeletedAtProvider)
            json.member("googleLoader", settings.googleLoader)
            json.member("signInPage", settings.signInPage)
            json.object("rateLimits") { $0.rateLimits(settings.rateLimits) }
        }
    }

    mutating func hashConfig(_ cost: PasswordCost) {
        object("hashConfig") { json in
            json.member("algorithm", "SCRYPT")
            json.member("rounds", number: Int64(cost.rounds))
            json.member("memoryCost", number: Int64(cost.memoryCost))
        }
    }

    mutating func clientPermissions(_ settings: ProjectSettings) {
        object("client") { json in
            json.object("permissions") { json in
                json.member("disabledUserSignup", ifTrue: settings.disabledUserSignup)
                json.member("disabledUserDeletion", ifTrue: settings.disabledUserDeletion)
            }
        }
    }

    mutating func passwordPolicy(_ policy: PasswordPolicy) {
        member("passwordPolicyEnforcementState", policy.enforcementState)
        member("forceUpgradeOnSignin", ifTrue: policy.forcesUpgradeAtSignIn)
        array("passwordPolicyVersions") { json in
            json.object { json in
                policy.writeStrength(&json)
                json.member("schemaVersion", number: 1)
            }
        }
    }

    mutating func secondFactors(_ settings: SecondFactorSettings) {
        member("state", settings.isEnabled ? "ENABLED" : "DISABLED")
        if settings.offersSMS { member("enabledProviders", strings: ["PHONE_SMS"]) }
        array("providerConfigs") { json in
            json.object { json in
                json.member("state", settings.offersTOTP ? "ENABLED" : "DISABLED")
                json.object("totpProviderConfig") {
                    $0.member("adjacentIntervals", number: Int64(settings.adjacentIntervals))
                }
            }
        }
    }

    /// A project's changes to an email template.
    fileprivate mutating func override(_ override: MailSettings.Override) {
        member("senderLocalPart", override.senderLocalPart)
        member("subject", override.subject)
        member("senderDisplayName", override.senderDisplayName)
        member("body", override.body)
        if override.body != nil { member("bodyFormat", override.isHTML ? "HTML" : "PLAIN_TEXT") }
        member("replyTo", override.replyTo)
    }
}
