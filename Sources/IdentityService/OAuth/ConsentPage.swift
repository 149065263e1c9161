import Accounts
import Linking
import OAuth
import Projects

/// The page on which a user lets an application use the account, or not.
struct ConsentPage {
    let context: PageContext
    let consent: AuthorizeApplication.Consent
    let project: Project
    let issuer: String

    var page: Page {
        var page = context.page(
            .consentTitle,
            """
            <p>\(html: context.html(.consentLead, ["CLIENT": consent.client.displayName]))</p>
            <dl class="account">
            <dt>\(html: context.html(.consentAccount))</dt><dd><bdi>\(account)</bdi></dd>
            <dt>\(html: context.html(.consentGoesTo))</dt><dd><bdi>\(destination)</bdi></dd>
            \(html: resources)
            </dl>
            \(html: permissions)
            <p>\(html: context.html(.consentNote))</p>
            \(html: form)
            \(html: links)
            """
        )
        // With it, browsers state the origin of the POST.
        page.referrerPolicy = "same-origin"
        return page
    }

    /// The account, by what its user recognizes.
    private var account: String {
        let account = consent.account
        return account.email?.original ?? account.phoneNumber ?? account.displayName ?? account.id.rawValue
    }

    /// Where the code goes: what a look-alike name cannot hide.
    private var destination: String { RedirectURI(consent.request.redirectURI)?.origin ?? "" }

    private var resources: HTML? {
        guard !consent.request.resources.isEmpty else { return nil }
        let list = consent.request.resources.map { resource -> HTML in "<dd><bdi>\(resource)</bdi></dd>" }
        return "<dt>\(html: context.html(.consentResource))</dt>\(html: list)"
    }

    private var permissions: HTML? {
        let texts = consent.request.scopes.compactMap { scope -> HTML? in
            switch scope {
            case Scopes.openID: context.html(.scopeOpenID)
            case "profile": context.html(.scopeProfile)
            case "email": context.html(.scopeEmail)
            case "phone": context.html(.scopePhone)
            case Scopes.offlineAccess: context.html(.scopeOffline)
            default: project.settings.oauth.scopes[scope].map { "<bdi>\($0)</bdi>" }
            }
        }
        guard !texts.isEmpty else { return nil }
        let items = texts.map { text -> HTML in "<li>\(html: text)</li>" }
        return "<p>\(html: context.html(.consentScopes))</p>\n<ul>\(html: items)</ul>"
    }

    private var form: HTML {
        """
        <form method="post" action="\(issuer)\(ProviderMetadata.Endpoint.goOn.rawValue)">
        <input type="hidden" name="visit" value="\(consent.visit)">
        <button name="do" value="allow">\(html: context.html(.consentAllow))</button>
        <button class="way" name="do" value="deny">\(html: context.html(.consentDeny))</button>
        <p class="links"><button class="link" name="do" value="changeAccount">\
        \(html: context.html(.consentOther))</button></p>
        </form>
        """
    }

    private var links: HTML? {
        let metadata = consent.client.metadata
        let found = [(metadata.policyURI, PageText.consentPolicy), (metadata.termsURI, .consentTerms)]
        let links = found.compactMap { url, text -> HTML? in
            url.map { "<a href=\"\($0)\" rel=\"noopener noreferrer\">\(html: context.html(text))</a> " }
        }
        return links.isEmpty ? nil : "<p>\(html: links)</p>"
    }
}
