import Accounts
import Domain
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
            <dl>
            <div><dt>\(html: context.html(.consentAccount))</dt><dd><bdi>\(account)</bdi></dd></div>
            <div><dt>\(html: context.html(.consentOrigin))</dt><dd>\(html: context.origin(of: consent.client))</dd></div>
            \(html: destination)
            \(html: resources)
            </dl>
            \(html: permissions)
            <p>\(html: context.html(consent.userCode == nil ? .consentNote : .deviceNote))</p>
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

    /// Where the code goes, which a look-alike name cannot hide; or what the device shows.
    private var destination: HTML {
        let (title, text): (PageText, String) =
            if let userCode = consent.userCode {
                (.deviceCode, userCode)
            } else {
                (.consentGoesTo, RedirectURI(consent.request.redirectURI)?.origin ?? "")
            }
        return "<div><dt>\(html: context.html(title))</dt><dd><bdi>\(text)</bdi></dd></div>"
    }

    private var resources: HTML? {
        guard !consent.request.resources.isEmpty else { return nil }
        let list = consent.request.resources.map { resource -> HTML in "<dd><bdi>\(resource)</bdi></dd>" }
        return "<div><dt>\(html: context.html(.consentResource))</dt>\(html: list)</div>"
    }

    private var permissions: HTML? {
        ScopeTexts(context: context, project: project).list(consent.request.scopes)
            .map { list in "<p>\(html: context.html(.consentScopes))</p>\n\(html: list)" }
    }

    private var form: HTML {
        """
        <form method="post" action="\(issuer)\(ProviderMetadata.Endpoint.goOn.rawValue)">
        <input type="hidden" name="visit" value="\(consent.visit)">
        <div class="ways">
        <button name="do" value="allow">\(html: context.html(.consentAllow))</button>
        <button class="way" name="do" value="deny">\(html: context.html(.consentDeny))</button>
        </div>
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
        return links.isEmpty ? nil : "<p class=\"links\">\(html: links)</p>"
    }
}

extension PageContext {
    /// Who says what an application is, and whether anybody vouches for it.
    func origin(of client: OAuthClient) -> HTML {
        switch client.origin {
        case .admin: html(.consentByAdmin)
        case .registration: html(.consentByItself)
        case .document, .blocked: html(.consentByHost, ["HOST": client.documentHost ?? ""])
        }
    }
}

/// The page at which a user types the code of a device.
struct DevicePage {
    let context: PageContext
    /// What the field starts with.
    let userCode: String
    var isRefused = false

    var page: Page {
        let alert: HTML? =
            isRefused ? "<div id=\"problem\" role=\"alert\"><p>\(html: context.html(.deviceUnknown))</p></div>" : nil
        var page = context.page(
            .deviceTitle,
            """
            \(html: alert)
            <p>\(html: context.html(.deviceLead))</p>
            <form method="post">
            <label for="user_code">\(html: context.html(.deviceCode))</label>
            <input id="user_code" name="user_code" value="\(String(userCode.prefix(16)))" required autocomplete="off" \
            autocapitalize="characters" spellcheck="false">
            <button>\(html: context.html(.codeButton))</button>
            </form>
            """
        )
        // With it, browsers state the origin of the POST.
        page.referrerPolicy = "same-origin"
        return page
    }
}
