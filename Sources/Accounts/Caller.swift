import Passwords
package import Projects
package import Secrets
import Text

/// The caller of an end-user operation: the project of the API key, and the device.
package struct Caller: Sendable {
    /// Or the tenant of it, once the caller has entered one.
    package var project: Project
    /// The `User-Agent` header, at most 256 characters; shown in lists of sessions.
    package var userAgent: String?
    /// The caller's network: /24 of IPv4, /64 of IPv6, as text.
    package var addressPrefix: String?
    /// The caller's address as text.
    package var address: String?
    /// The address that rate limits count by: an IPv4 address or a /64 of IPv6; nil if unknown.
    package var subscriber: String?
    /// The /48 of an IPv6 address, as text; nil for IPv4.
    package var site: String?

    /// A back end that has an admin's credential instead of an API key: nothing counts by its address, which is that of all
    /// its users.
    package var isBackEnd = false

    /// A back end names the address: what counts by it counts in the project alone, or one project's back end could use up
    /// the limits of anybody's address for all projects.
    package var isVouchedFor = false

    /// The API key that named the project; nil for admins.
    package var apiKey: String?
    /// `X-Firebase-Locale`: the language of emails, BCP 47.
    package var language: String?
    /// In bytes, where the client keeps the ID token in a cookie; nil elsewhere.
    package var longestIDToken: Int?
    /// The `Origin` of the page that called, as its browser sent it.
    package var origin: String?
    /// The `Host` that was called.
    package var host: String?
    /// A browser asked for a part of another site's page, or went where that page led it without its user's doing (Fetch
    /// Metadata): neither has an `Origin`.
    package var isPartOfForeignPage = false
    /// The result of a CAPTCHA, for operations that need one (``Projects/CaptchaOperation``).
    package var captchaResponse: Secret?

    package init(
        project: Project,
        userAgent: String? = nil,
        addressPrefix: String? = nil,
        address: String? = nil,
        subscriber: String? = nil,
        site: String? = nil,
        apiKey: String? = nil,
        language: String? = nil
    ) {
        self.project = project
        self.userAgent = userAgent
        self.addressPrefix = addressPrefix
        self.address = address
        self.subscriber = subscriber
        self.site = site
        self.apiKey = apiKey
        self.language = language
    }

    package var tenant: TenantID { project.tenant }
    var scope: Scope { project.scope }

    /// Whether a page called that is neither the project's nor the service's: what counts by address counts apart, or any page
    /// that somebody visits could use up what everybody at their address has (threats.md, T-F36).
    var isFromForeignPage: Bool {
        guard let origin else { return isPartOfForeignPage }
        // Of an app or a browser's extension: no site can have such an origin.
        if let parts = URLParts(origin), !parts.isWeb { return false }
        guard let page = ContinueURI(origin), page.isOrigin else { return true }
        return page.authority != host && !page.isAuthorizedOrigin(of: project.settings, anyLoopback: true)
    }

    /// Whose its password hashes are.
    ///
    /// A back end's network is its own, and a visitor's network is only the back end's word.
    var hashShare: HashShare {
        var share = project.hashShare
        if !isBackEnd, !isVouchedFor { share.network = site ?? subscriber }
        return share
    }

    /// The caller in a tenant of its project, with the tenant's settings.
    ///
    /// - Throws: ``AccountsError/unknownTenant``, ``AccountsError/projectDisabled``.
    package func entering(_ tenant: TenantID) throws(AccountsError) -> Caller {
        guard tenant != self.tenant else { return self }
        guard let found = project.tenants[tenant] else { throw .unknownTenant }
        guard !found.configuration.isDisabled else { throw .projectDisabled }
        var caller = self
        caller.project = found.project
        return caller
    }
}

extension Project {
    /// Its password hashes that no network asks for; a tenant's are its project's.
    var hashShare: HashShare { HashShare(project: id.rawValue) }
}
