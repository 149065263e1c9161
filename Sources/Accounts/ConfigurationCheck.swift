import Domain
import Federation
import Passkeys
package import Projects
package import struct Foundation.Date

/// The findings of `identity check` for a project: a pure function of its configuration, without network access.
package struct ConfigurationCheck: Sendable {
    /// Whether `identity dev` created the database: loopback is allowed.
    package let isDevelopment: Bool
    /// Whether providers may be on this machine.
    let allowsLoopback: Bool
    let deployment: Deployment
    /// Whether nodes have a mail server.
    let sendsMail: Bool

    /// Whether nodes have a list of leaked passwords.
    let knowsLeakedPasswords: Bool

    package init(
        isDevelopment: Bool,
        allowsLoopback: Bool = false,
        deployment: Deployment,
        sendsMail: Bool,
        knowsLeakedPasswords: Bool
    ) {
        self.isDevelopment = isDevelopment
        self.sendsMail = sendsMail || isDevelopment
        self.allowsLoopback = allowsLoopback || isDevelopment
        self.deployment = deployment
        self.knowsLeakedPasswords = knowsLeakedPasswords
    }

    /// - Returns: in the order of ``ConfigurationFinding/ID``, errors first; disabled providers are skipped.
    package func callAsFunction(
        _ project: Project,
        in snapshot: ConfigurationSnapshot,
        at now: Date
    ) -> [ConfigurationFinding] {
        let enabled = snapshot.providers(in: project.scope).filter(\.enabled)
        var report = Report(
            project: project.id,
            publicURL: deployment.publicURL(of: project),
            now: Int64(now.timeIntervalSince1970)
        )
        checkSignIn(project.settings, enabled, &report)
        checkProtection(project.settings, enabled, &report)
        checkDelivery(project.settings, &report)
        let host = project.settings.passkeys.relyingParty?.id ?? ""
        let hosts = deployment.findingProjects(snapshot.owner)
        report.add(
            .passkeyHostForeign,
            if: !isDevelopment && hosts.isOwned(host)
                && hosts.siteOwner(of: host, among: snapshot.allProjects)?.id != project.id,
            "the RP ID \(host) is not this project's host alone, so its files below /.well-known/ do not name the project's "
                + "sites and apps: set passkeyConfig.rpId to the host of identity.publicURL or identity.appURLs"
        )
        for configuration in enabled { check(configuration, &report) }
        for other in snapshot.allProjects where other.id != project.id {
            let theirs = Set(snapshot.providers(in: other.scope).filter(\.enabled).flatMap(\.clients))
            for configuration in enabled {
                let shared = configuration.clients.filter(theirs.contains).map(\.id)
                report.add(
                    .clientIDShared,
                    configuration.provider,
                    if: !shared.isEmpty,
                    "project \(other.id) has \(shared.joined(separator: ", ")) too, so an ID token for one project also signs in to "
                        + "the other: register a client of its own"
                )
            }
        }
        return ConfigurationFinding.ID.allCases.flatMap { id in report.findings.filter { $0.id == id } }
    }

    struct Report {
        let project: ProjectID
        /// The URL at which browsers and providers reach the project; nil if it is not set.
        let publicURL: PublicURL?
        /// Seconds since 1970.
        let now: Int64
        fileprivate(set) var findings: [ConfigurationFinding] = []

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

    private func checkSignIn(_ settings: ProjectSettings, _ enabled: [ProviderConfiguration], _ report: inout Report) {
        report.add(
            .noSignInMethod,
            if: enabled.isEmpty && !settings.passwordSignIn && !settings.anonymousSignIn && !settings.phone.isEnabled,
            "users cannot sign in: enable a provider, or set signIn.email.enabled"
        )
        report.add(
            .issuerUnknown,
            if: report.publicURL == nil && !isDevelopment && settings.tokenIssuer == .own,
            "no tokens are issued, because their issuer is unknown: set http.publicURL to the same URL on every node"
        )
        report.add(
            .oauthURLMissing,
            if: report.publicURL == nil && !isDevelopment && settings.oauth.isEnabled,
            "no application can sign in, because the project's issuer is unknown: set http.publicURL to the same URL on every "
                + "node"
        )
        report.add(
            .appleMissing,
            if: !enabled.isEmpty && !enabled.contains { $0.provider == .apple },
            "an App Store app with other providers must also offer Sign in with Apple, with few exceptions "
                + "(App Review Guideline 4.8): enable apple.com"
        )
    }

    private func checkProtection(
        _ settings: ProjectSettings,
        _ enabled: [ProviderConfiguration],
        _ report: inout Report
    ) {
        let believed = enabled.filter(dependsOnStrictness).map(\.provider.rawValue)
        report.add(
            .emailTrustNotStrict,
            if: !settings.strictEmailTrust && !believed.isEmpty,
            "\(believed.joined(separator: ", ")) can verify emails of other domains: set identity.emailTrust to strict"
        )
        report.add(
            .enumerationPossible,
            if: !settings.emailEnumerationProtection,
            "anyone can find out which emails have accounts: set emailPrivacyConfig.enableImprovedEmailPrivacy"
        )
        report.add(
            .duplicateEmails,
            if: settings.allowDuplicateEmails,
            "several accounts can have the same email: unset signIn.allowDuplicateEmails"
        )
        report.add(
            .lastMethodRemovable,
            if: !settings.keepLastSignInMethod,
            "users can remove their last sign-in method: set identity.keepLastSignInMethod"
        )
        report.add(
            .recentSignInUnneeded,
            if: settings.recentSignInSeconds == 0,
            "an old session can delete the account and change its password: set identity.recentSignInSeconds"
        )
        report.add(
            .continueURLsByHost,
            if: !isDevelopment && settings.continueURLs.isEmpty,
            "sign-ins and emails can lead to any page and port of authorizedDomains and of their subdomains: list the "
                + "pages in identity.continueURLs"
        )
        let suffixes = settings.authorizedDomains.filter { AuthorizedDomain($0).isPublicSuffix }
        report.add(
            .publicSuffixDomain,
            if: !suffixes.isEmpty,
            "unrelated sites share \(suffixes.joined(separator: ", ")), so it stands for itself alone: list each of the app's hosts "
                + "in authorizedDomains"
        )
        let loopback = settings.authorizedDomains.filter(Self.isLoopback)
        report.add(
            .loopbackDomain,
            if: !isDevelopment && !loopback.isEmpty,
            "sign-ins can return over plain http to \(loopback.joined(separator: ", ")): remove it from "
                + "authorizedDomains unless this project is used for development"
        )
        report.add(
            .leakedPasswordsUnknown,
            if: settings.refusesLeakedPasswords && !knowsLeakedPasswords,
            "no password is refused, because the node has no list of leaked ones: set passwords.leaked"
        )
        let (operations, verifier) = (settings.captchaOperations, settings.delivery.captcha)
        report.add(
            .captchaVerifierMissing,
            if: !operations.isEmpty && verifier == nil,
            "nobody passes the CAPTCHA of \(operations.map(\.rawValue).joined(separator: ", ")), because nothing verifies it: "
                + "set identity.captcha"
        )
        report.add(
            .captchaUnused,
            if: operations.isEmpty && verifier != nil,
            "nothing needs the CAPTCHA: set identity.captchaOperations"
        )
        report.add(
            .rateLimitsOff,
            if: !settings.rateLimits.isEnabled,
            "attackers can guess passwords and trigger emails without limit: set identity.rateLimits.enabled"
        )
    }

    private func checkDelivery(_ settings: ProjectSettings, _ report: inout Report) {
        report.add(
            .publicURLMissing,
            if: report.publicURL == nil && !isDevelopment && settings.passwordSignIn,
            "no emails are sent, not even to restore a changed email, because their links need a URL: set "
                + "http.publicURL"
        )
        report.add(
            .mailServerMissing,
            if: !sendsMail && settings.passwordSignIn && !settings.delivery.takes(.mailSend),
            "emails stay in the outbox, so users cannot verify an email or reset a password: set mail.smtp.host"
        )
        report.add(
            .smsProviderMissing,
            if: !isDevelopment && settings.phone.isEnabled && !settings.delivery.carriesSMS,
            "phone sign-in is on, but no SMS are sent: set identity.sms, or identity.webhook with sms.send"
        )
        report.add(
            .smsRegionsOpen,
            if: !isDevelopment && settings.phone.isEnabled && settings.phone.regions == SMSRegions(),
            "attackers can make you pay for SMS to any country: set smsRegionConfig"
        )
    }

    private static func isLoopback(_ domain: String) -> Bool {
        ["localhost", "127.0.0.1", "::1", "[::1]"].contains(domain) || domain.hasSuffix(".localhost")
    }

    /// Whether the provider's emails would count as verified less often under strict trust.
    private func dependsOnStrictness(_ configuration: ProviderConfiguration) -> Bool {
        guard let definition = try? definition(of: configuration), definition.emailTrust == nil else { return false }
        let id = configuration.provider
        return EmailTrustRule.standard(for: id, strict: false) != .standard(for: id, strict: true)
    }
}

extension ProviderConfiguration {
    /// A client as its provider knows it, which is the audience of ID tokens.
    fileprivate struct Client: Hashable {
        var provider: String
        var id: String
    }

    fileprivate var clients: [Client] {
        ([clientID] + audiences).filter { !$0.isEmpty }.map { Client(provider: issuer ?? provider.rawValue, id: $0) }
    }
}
