package import Projects
import Text

extension AccountsService { package var followAppLink: FollowAppLink { FollowAppLink(service: self) } }

/// Goes on from a link that no app has opened to the page of the email's link.
package struct FollowAppLink: Sendable {
    let service: AccountsService

    /// - Returns: the link, without a fragment; nil unless it leads to the page for links in the project's emails, at one of
    ///   the project's URLs or domains: the parameter is anybody's to write (threats.md, T-E32).
    package func callAsFunction(_ link: String, _ caller: Caller) -> String? {
        guard let query = URLParts(link)?.query, let fields = FormFields(strict: query) else { return nil }
        let domain = URLParts(link)?.host.flatMap { try? service.linkDomain($0, caller) }
        let pages =
            service.deployment.actionPages(of: caller.project)
            + [domain.flatMap { service.deployment.actionPage(of: caller.project, at: $0) }].compactMap(\.self)
        // No parser decides where it leads, but its bytes.
        return pages.first { link.utf8.starts(with: "\($0)?".utf8) }.map { "\($0)?\(fields.text)" }
    }
}

extension AccountsService {
    /// The domain of a link instead of the service's.
    ///
    /// Whoever has it gets the code: where `identity.continueURLs` says which pages are the app's, it must be the host of
    /// one of them, and elsewhere one of the authorized domains itself: whoever has a subdomain, by user content or a name
    /// that nobody uses any more, must not get the codes of genuine mails. Loopback is not reached from a mail.
    func linkDomain(_ text: String, _ caller: Caller) throws(AccountsError) -> String {
        guard let uri = ContinueURI("https://\(text)"), uri.isOrigin, uri.host == text.lowercased(),
            !uri.isLoopback, caller.project.settings.authorizedDomains.contains(uri.host)
        else { throw .invalidLinkDomain }
        let pages = caller.project.settings.continueURLs.compactMap { ContinueURI($0) }
        guard pages.isEmpty || pages.contains(where: { $0.authority == uri.authority && $0.scheme == uri.scheme })
        else { throw .invalidLinkDomain }
        return uri.host
    }
}

extension SendOOBCode {
    /// Whether the link in the email opens an app.
    ///
    /// In `identity dev`, where no device would open one, links stay as the emulator's.
    func opensApp(_ request: Request, _ caller: Caller) throws(AccountsError) -> Bool {
        guard !service.options.development else { return false }
        for (platform, identifier) in request.apps where !caller.project.settings.has(platform, identifier) {
            throw .unexpectedParameter("\(platform.linkMember) is not an app of the project.")
        }
        return request.handlesCodeInApp && !request.apps.isEmpty
    }
}

extension AppRegistration.Platform {
    /// The member of `sendOobCode` that names an app.
    package var linkMember: String {
        switch self {
        case .ios: "iOSBundleId"
        case .android: "androidPackageName"
        }
    }
}
