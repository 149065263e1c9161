import Domain
import Foundation
import Projects
import Secrets
import Testing

@Suite struct ProjectSettingsTests {
    private func decode(_ json: String) throws -> ProjectSettings {
        try JSONDecoder().decode(ProjectSettings.self, from: Data(json.utf8))
    }

    @Test func aRowWithoutMembersHasTheDefaults() throws {
        #expect(try decode("{}") == ProjectSettings())
        #expect(try decode(#"{"aMemberOfALaterRelease": {"x": [1]}}"#) == ProjectSettings())
    }

    @Test func eachMemberMayBeMissing() throws {
        let changed = Self.everythingChanged
        let row = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(changed)) as? [String: Any]
        )
        #expect(row.count == Mirror(reflecting: changed).children.count)
        for name in row.keys {
            var partial = row
            partial[name] = nil
            let data = try JSONSerialization.data(withJSONObject: partial)
            let decoded = try JSONDecoder().decode(ProjectSettings.self, from: data)
            let back = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(decoded)) as? NSDictionary
            )
            let defaults = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(ProjectSettings())) as? [String: Any]
            )
            partial[name] = defaults[name]
            #expect(back == partial as NSDictionary, "without \(name)")
        }
    }

    @Test func everythingSurvivesStorage() throws {
        let settings = Self.everythingChanged
        #expect(try JSONDecoder().decode(ProjectSettings.self, from: JSONEncoder().encode(settings)) == settings)
        #expect(try decode(#"{"recentSignInSeconds": 0}"#).recentSignInSeconds == 0)
    }

    @Test func aMemberOfAnotherTypeIsRefused() {
        #expect(throws: DecodingError.self) { try decode(#"{"keepLastSignInMethod": "no"}"#) }
        #expect(throws: DecodingError.self) { try decode("[]") }
    }

    @Test func defaultsAreTheSafeOnes() {
        let settings = ProjectSettings()
        #expect(settings.keepLastSignInMethod && settings.emailEnumerationProtection)
        #expect(!settings.allowDuplicateEmails && !settings.anonymousSignIn)
        #expect(settings.recentSignInSeconds == 300)
        #expect(settings.authorizedDomains == ["localhost"])
        #expect(settings.rateLimits.isEnabled)
    }

    /// Every member has another value than its default.
    private static let everythingChanged: ProjectSettings = {
        var settings = ProjectSettings()
        settings.authorizedDomains = ["example.com"]
        settings.continueURLs = ["https://example.com/app"]
        settings.sessionCookieSignInSeconds = 300
        settings.passwordSignIn.toggle()
        settings.emailCodes.toggle()
        settings.anonymousSignIn.toggle()
        settings.deletesOldGuests.toggle()
        settings.allowDuplicateEmails.toggle()
        settings.disabledUserSignup.toggle()
        settings.disabledUserDeletion.toggle()
        settings.emailEnumerationProtection.toggle()
        settings.recentSignInSeconds = 60
        settings.methodChanges = .recentSignIn
        settings.keepLastSignInMethod.toggle()
        settings.strictEmailTrust.toggle()
        settings.signWithES256.toggle()
        settings.signedOtherwiseUntil = 1
        settings.tokenIssuer = .own
        settings.publicURL = PublicURL("https://login.example.com")
        (settings.signUpQuota.count, settings.signUpQuota.duration) = (9, "9s")
        settings.appURLs = [PublicURL("https://app.example.com")]
        settings.changePasswordURL = "https://app.example.com/password"
        settings.linking = .never
        settings.phone.isEnabled.toggle()
        settings.phone.testNumbers = ["+4915550100": "123456"]
        settings.phone.regions = SMSRegions(isAllowlist: true, listed: ["DE"])
        settings.delivery.sms = SMSProvider(url: "https://sms.example", body: "%TO% %TEXT%")
        settings.delivery.webhook = WebhookEndpoint(
            url: "https://hook.example",
            types: [.smsSend],
            secrets: [Secret("x")]
        )
        settings.captchaOperations = [.signUp]
        settings.passkeys.isSecondFactor = true
        settings.oauth.isEnabled = true
        settings.oauth.scopes = ["tea.brew": "Brew tea"]
        settings.oauth.resources = ["https://api.example.com/tea"]
        settings.oauth.allowsRegistration = true
        settings.oauth.allowsDocuments = true
        settings.oauth.accessTokenSeconds = 600
        settings.delivery.captcha = CaptchaVerifier(service: .hCaptcha, siteKey: "site", secret: Secret("x"))
        settings.rateLimits.isEnabled.toggle()
        settings.blockingFunctions.forwardsIDToken.toggle()
        settings.blockingFunctions[.beforeSignIn] = "https://functions.example/"
        settings.rateLimits[.mailsPerRecipient].count += 1
        settings.passwordCost.memoryCost = 12
        settings.allowsTenants.toggle()
        settings.emailLinkNeedsPassword.toggle()
        settings.refusesLeakedPasswords = true
        return settings
    }()
}
