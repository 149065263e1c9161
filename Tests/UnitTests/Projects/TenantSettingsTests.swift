import Foundation
import Projects
import Secrets
import Testing

@Suite struct TenantSettingsTests {
    /// Every member has another value than its default.
    private static let everythingChanged: TenantSettings = {
        var settings = TenantSettings()
        settings.passwordSignIn.toggle()
        settings.emailLinkSignIn.toggle()
        settings.emailCodes.toggle()
        settings.anonymousSignIn.toggle()
        settings.disabledUserSignup.toggle()
        settings.disabledUserDeletion.toggle()
        settings.emailEnumerationProtection.toggle()
        settings.passwordPolicy.isEnforced.toggle()
        settings.secondFactors.offersTOTP.toggle()
        settings.passkeys.refusesClones.toggle()
        settings.testPhoneNumbers = ["+4915550100": "123456"]
        settings.captchaOperations = [.sms]
        settings.descriptions = ["mobileLinksConfig.domain": "HOSTING_DOMAIN"]
        settings.given = ["mfaConfig.state"]
        settings.smsRegions = SMSRegions(isAllowlist: true, listed: ["DE"])
        return settings
    }()

    private func members(_ settings: TenantSettings) -> [String: String] {
        Dictionary(uniqueKeysWithValues: Mirror(reflecting: settings).children.map { ($0.label ?? "", "\($0.value)") })
    }

    @Test func allOfThemAreReadAsTheyWereWritten() throws {
        let defaults = members(TenantSettings())
        for (name, value) in members(Self.everythingChanged) { #expect(defaults[name] != value, "\(name)") }
        let text = try JSONEncoder().encode(Self.everythingChanged)
        #expect(try JSONDecoder().decode(TenantSettings.self, from: text) == Self.everythingChanged)
        #expect(try JSONDecoder().decode(TenantSettings.self, from: Data("{}".utf8)) == TenantSettings())
    }

    @Test func theyAreThoseThatCountInTheTenant() {
        let settings = ProjectSettings().inTenant(Self.everythingChanged)
        #expect(TenantSettings(in: settings) == Self.everythingChanged)
        #expect(settings.authorizedDomains == ProjectSettings().authorizedDomains)
        #expect(TenantSettings(in: ProjectSettings.development.inTenant(TenantSettings())) == TenantSettings())
    }

    @Test func linksOfMailsNeedNoPasswordsInATenant() {
        var own = TenantSettings()
        own.emailLinkSignIn = true
        #expect(ProjectSettings().inTenant(own).emailLinkSignIn)
        var project = ProjectSettings()
        project.passwordSignIn = false
        project.allowsEmailLink = true
        #expect(!project.emailLinkSignIn)
    }

    @Test func aProjectKnowsItsTenantsByTheirIDs() throws {
        var own = TenantSettings()
        own.anonymousSignIn = true
        let id = TenantID(rawValue: "north-12345")
        let project = Project(
            id: try #require(ProjectID(rawValue: "a-project")),
            number: ProjectNumber(rawValue: 1),
            settings: ProjectSettings(),
            passwordSignerKey: Secret(""),
            tenants: [TenantConfiguration(id: id, displayName: "north", settings: own)]
        )
        let tenant = try #require(project.tenants[id])
        #expect(tenant.project.settings.anonymousSignIn && !tenant.project.settings.passwordSignIn)
        #expect(tenant.project.id == project.id && tenant.project.tenants.isEmpty)
        #expect(project.tenants[.none] == nil && !project.settings.anonymousSignIn)
    }

    @Test(arguments: ["abcd", "a-b-c-d", "A123", "abcdefghijklmnopqrst"]) func aDisplayName(_ text: String) {
        #expect(TenantConfiguration.isDisplayName(text))
    }

    @Test(arguments: ["", "abc", "1abc", "-abc", "abc_", "abc d", "abcdefghijklmnopqrstu", "äbcd", "abcd\n"])
    func noDisplayName(_ text: String) {
        #expect(!TenantConfiguration.isDisplayName(text))
    }
}
