import Accounts
import Foundation
import OAuth
import Projects
import Text

/// The page on which users see what they granted applications, and withdraw it.
struct GrantsPage {
    let context: PageContext
    let project: Project
    let grants: ManageGrants.Page

    var page: Page {
        let applications = grants.applications.map(item)
        var page = context.page(
            .grantsTitle,
            """
            <p>\(html: context.html(applications.isEmpty ? .grantsNone : .grantsLead))</p>
            \(html: applications.isEmpty ? nil : "<dl class=\"items\">\(html: applications)</dl>")
            """
        )
        // With it, browsers state the origin of the POST.
        page.referrerPolicy = "same-origin"
        return page
    }

    private func item(_ application: ManageGrants.Application) -> HTML {
        let scopes = ScopeTexts(context: context, project: project).list(application.scopes)
        let resources = application.resources.map { resource -> HTML in "<dd><bdi>\(resource)</bdi></dd>\n" }
        let dates = context.html(
            .grantDates,
            ["DATE": Self.day(application.since), "USED": Self.day(application.lastUsedAt)]
        )
        // Nobody vouches for the name.
        let origin: HTML? =
            application.client.isStrangers ? "<dd>\(html: context.origin(of: application.client))</dd>\n" : nil
        return """
            <div><dt><bdi>\(application.client.displayName)</bdi></dt>
            \(html: origin)<dd>\(html: dates)</dd>
            \(html: resources)\(html: scopes.map { "<dd>\(html: $0)</dd>\n" as HTML })
            <form method="post"><button class="link" name="client" value="\(application.client.id)">\
            \(html: context.html(.grantsWithdraw))</button></form>
            </div>

            """
    }

    private static func day(_ date: Date) -> String {
        String(UTCTime(seconds: Int64(date.timeIntervalSince1970)).text.prefix(10))
    }
}

/// What a page says of scopes.
struct ScopeTexts {
    let context: PageContext
    let project: Project

    func list(_ scopes: [String]) -> HTML? {
        let texts = scopes.compactMap { scope -> HTML? in
            switch scope {
            case Scopes.openID: context.html(.scopeOpenID)
            case "profile": context.html(.scopeProfile)
            case "email": context.html(.scopeEmail)
            case "phone": context.html(.scopePhone)
            case Scopes.offlineAccess: context.html(.scopeOffline)
            // A scope that was removed meanwhile keeps its name.
            default: "<bdi>\(project.settings.oauth.scopes[scope] ?? scope)</bdi>"
            }
        }
        guard !texts.isEmpty else { return nil }
        let items = texts.map { text -> HTML in "<li>\(html: text)</li>" }
        return "<ul>\(html: items)</ul>"
    }
}
