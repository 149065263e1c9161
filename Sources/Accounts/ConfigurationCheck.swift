import Federation
import Linking
package import Projects

/// What `identity check` says about a project: a pure function of its configuration, which asks nobody.
package struct ConfigurationCheck: Sendable {
    /// `identity dev` made the database: loopback is fine.
    package let isDevelopment: Bool
    /// Providers may be on this machine.
    let allowsLoopback: Bool
    /// Where browsers and providers reach the service; nil when nobody said.
    let publicURL: String?
    /// Nodes know a mail server.
    let sendsMail: Bool

    package init(isDevelopment: Bool, allowsLoopback: Bool = false, publicURL: String?, sendsMail: Bool) {
        self.isDevelopment = isDevelopment
        self.sendsMail = sendsMail || isDevelopment
        self.allowsLoopback = allowsLoopback || isDevelopment
        self.publicURL = publicURL
    }

    /// - Returns: in the order of ``ConfigurationFinding/ID``, errors first; disabled providers are left alone.
    package func callAsFunction(_ project: Project, in snapshot: ConfigurationSnapshot) -> [ConfigurationFinding] {
        let enabled = snapshot.providers(project: project.id).filter(\.enabled)
        var report = Report(project: project.id)
        check(project.settings, enabled, &report)
        for configuration in enabled { check(configuration, &report) }
        return ConfigurationFinding.ID.allCases.flatMap { id in report.findings.filter { $0.id == id } }
    }

    struct Report {
        let project: ProjectID
        private(set) var findings: [ConfigurationFinding] = []

        init(project: ProjectID) { self.project = project }

        mutating func add(
            _ id: ConfigurationFinding.ID,
            _ provider: ProviderID? = nil,
            if applies: Bool,
            _ text: @autoclosure () -> String
        ) {
            guard applies else { return }
            findings.append(ConfigurationFinding(id: id, project: project, provider: provider, text: text()))
        }
    }

    private func check(_ settings: ProjectSettings, _ enabled: [ProviderConfiguration], _ report: inout Report) {
        report.add(
            .noSignInMethod,
            if: enabled.isEmpty && !settings.passwordSignIn && !settings.anonymousSignIn && !settings.phone.isEnabled,
            "nobody can sign in: enable a provider, or set signIn.email.enabled"
        )
        report.add(
            .issuerUnknown,
            if: publicURL == nil && !isDevelopment && settings.tokenIssuer == .own,
            "tokens are to name this service as their issuer, and none is made: set http.publicURL, the same on every node"
        )
        report.add(
            .appleMissing,
            if: !enabled.isEmpty && !enabled.contains { $0.provider == .apple },
            "an app in the App Store that signs people in with other providers must offer Sign in with Apple too, with "
                + "few exceptions (App Review Guideline 4.8): enable apple.com"
        )
        let believed = enabled.filter(dependsOnStrictness).map(\.provider.rawValue)
        report.add(
            .emailTrustNotStrict,
            if: !settings.strictEmailTrust && !believed.isEmpty,
            "\(believed.joined(separator: ", ")) may prove addresses that others issue: set identity.emailTrust to strict"
        )
        report.add(
            .enumerationPossible,
            if: !settings.emailEnumerationProtection,
            "anybody can ask who has an account: set emailPrivacyConfig.enableImprovedEmailPrivacy"
        )
        report.add(
            .duplicateEmails,
            if: settings.allowDuplicateEmails,
            "several accounts may have one address, and one person several accounts: unset signIn.allowDuplicateEmails"
        )
        report.add(
            .lastMethodRemovable,
            if: !settings.keepLastSignInMethod,
            "people can lock themselves out: set identity.keepLastSignInMethod"
        )
        report.add(
            .recentSignInUnneeded,
            if: settings.recentSignInSeconds == 0,
            "an old session may delete the account and change its password: set identity.recentSignInSeconds"
        )
        report.add(
            .continueURLsByHost,
            if: !isDevelopment && settings.continueURLs.isEmpty,
            "sign-ins and mails may lead to any page and port of authorizedDomains: list the pages in "
                + "identity.continueURLs"
        )
        report.add(
            .publicURLMissing,
            if: publicURL == nil && !isDevelopment && settings.passwordSignIn,
            "mails have nowhere to lead, so that none is made, not even the one that brings an address back: set "
                + "http.publicURL"
        )
        report.add(
            .mailServerMissing,
            if: !sendsMail && settings.passwordSignIn && !settings.delivery.takes(.mailSend),
            "mails wait in the outbox, and nobody confirms an address or gets a new password: set mail.smtp.host"
        )
        report.add(
            .smsProviderMissing,
            if: !isDevelopment && settings.phone.isEnabled && !settings.delivery.carriesSMS,
            "people sign in by phone, and nobody sends SMS: set identity.sms, or identity.webhook with sms.send"
        )
        report.add(
            .smsRegionsOpen,
            if: !isDevelopment && settings.phone.isEnabled && settings.phone.regions == SMSRegions(),
            "anybody can have you pay for SMS to any country: set smsRegionConfig"
        )
        let loopback = settings.authorizedDomains.filter(Self.isLoopback)
        report.add(
            .loopbackDomain,
            if: !isDevelopment && !loopback.isEmpty,
            "sign-ins may come back over plain http to \(loopback.joined(separator: ", ")): take it out of "
                + "authorizedDomains unless somebody develops with this project"
        )
        report.add(
            .rateLimitsOff,
            if: !settings.rateLimits.isEnabled,
            "anybody may guess passwords and have mails sent without end: set identity.rateLimits.enabled"
        )
    }

    private static func isLoopback(_ domain: String) -> Bool {
        ["localhost", "127.0.0.1", "::1", "[::1]"].contains(domain) || domain.hasSuffix(".localhost")
    }

    /// Whether the narrower table would let the provider's word count for less.
    private func dependsOnStrictness(_ configuration: ProviderConfiguration) -> Bool {
        guard let definition = try? definition(of: configuration), definition.emailTrust == nil else { return false }
        let id = configuration.provider
        return EmailTrustRule.standard(for: id, strict: false) != .standard(for: id, strict: true)
    }
}
