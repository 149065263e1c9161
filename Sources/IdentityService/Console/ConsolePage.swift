import HTTPTypes
import NIOCore
import Projects
import Storage

/// A page of the console: one style sheet of ours, no script, no external content.
struct ConsolePage: Sendable {
    var status: HTTPResponse.Status = .ok
    var title: String
    /// The content below the heading.
    var content: HTML
    /// The admin's visit; nil before sign-in.
    var visit: ConsoleVisit?
    /// The project or tenant; nil for pages of the deployment.
    var place: ConsolePlace?
    /// The selected part of the project.
    var part: Part?
    /// The result of an action.
    var notice: String?
    /// The problem to show.
    var alert: HTML?
    var cookies: [Cookie] = []
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    /// The parts of a project in the navigation.
    enum Part: String, CaseIterable {
        case overview, accounts, providers, settings, access, audit

        var title: String {
            switch self {
            case .accounts: "Accounts"
            case .overview: "Overview"
            case .providers: "Providers"
            case .settings: "Settings"
            case .access: "Keys"
            case .audit: "Audit log"
            }
        }

        var isInTenants: Bool { self != .settings && self != .access }

        /// The scope required to see it.
        var scope: AdminScope {
            switch self {
            case .accounts, .overview, .audit: .readAccounts
            case .providers, .settings, .access: .manageConfiguration
            }
        }
    }

    init(_ title: String, _ content: HTML, visit: ConsoleVisit? = nil, place: ConsolePlace? = nil, part: Part? = nil) {
        (self.title, self.content) = (title, content)
        (self.visit, self.place, self.part) = (visit, place, part)
    }

    func response() -> Response {
        let heading = place.map { "\(title) – \($0.project.appName)" } ?? title
        let said: HTML? = notice.map { "<p class=\"notice\" role=\"status\">\($0)</p>" }
        let wrong: HTML? = alert.map { "<div class=\"alert\" role=\"alert\">\(html: $0)</div>" }
        let html: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(heading) – Console</title>
            <link rel="stylesheet" href="\(ConsoleFiles.sheetPath)">
            </head>
            <body>
            <a class="skip" href="#main">Skip to content</a>
            \(html: header)
            <main id="main" tabindex="-1">
            <h1>\(title)</h1>
            \(html: said)\(html: wrong)\(html: content)
            </main>
            </body>
            </html>
            """
        return Response(status: status, headers: headers, body: ByteBuffer(string: html.text))
    }

    private var headers: HTTPFields {
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8",
            .cacheControl: "no-store",
            .referrerPolicy: "same-origin",
            .crossOriginOpenerPolicy: "same-origin",
            .contentSecurityPolicy:
                "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'",
        ]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie.header)) }
        return headers
    }

    // MARK: Above the content

    private var header: HTML {
        guard let visit else { return "<header><p class=\"brand\">\(html: Page.mark) Identity console</p></header>" }
        return """
            <header>
            <p><a class="brand" href="/console">\(html: Page.mark) Identity console</a></p>
            \(html: navigation(visit) ?? deployment(visit))
            <form class="who" method="post" action="/console/sign-out">
            \(html: visit.token)<span><bdi>\(visit.session.admin.name)</bdi></span> <button class="plain">Sign out</button>
            </form>
            </header>
            """
    }

    /// The navigation outside of projects.
    private func deployment(_ visit: ConsoleVisit) -> HTML? {
        guard visit.seesDeployment else { return nil }
        return """
            <nav aria-label="Deployment">
            <ul><li><a href="/console">Projects</a></li><li><a href="\(ConsoleRoutes.operationsPath)">Operations</a></li></ul>
            </nav>
            """
    }

    private func navigation(_ visit: ConsoleVisit) -> HTML? {
        guard let place else { return nil }
        let parts = Part.allCases.filter { visit.may($0.scope) && ($0.isInTenants || place.tenant == .none) }
        let links = parts.map { part -> HTML in
            let current: HTML? = part == self.part ? " aria-current=\"page\"" : nil
            return "<li><a href=\"\(place.path)/\(part.rawValue)\"\(html: current)>\(part.title)</a></li>"
        }
        let tenant: HTML? = place.tenant == .none ? nil : " / <bdi>\(place.tenant.rawValue)</bdi>"
        return """
            <nav aria-label="Project">
            <p class="project"><bdi>\(place.project.id.rawValue)</bdi>\(html: tenant)</p>
            <ul>\(html: links)</ul>
            </nav>
            """
    }
}
