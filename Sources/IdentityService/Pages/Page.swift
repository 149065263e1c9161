package import HTTPTypes
import NIOCore
import Projects
package import Secrets

/// A page of ours: one style sheet, at most one script, nothing from anywhere else.
package struct Page: Sendable {
    package var status: HTTPResponse.Status = .ok
    /// Of the text, a tag of BCP 47.
    var language = "en"
    /// `dir` of HTML.
    var direction = "ltr"
    var title: String
    /// What stands in `body`.
    var content: HTML
    /// The text of a style sheet and of a script of ours, which no value was put into; the sheet of all our pages
    /// without.
    package var style = Page.sheet
    package var script: String?
    /// A project's colors, over those of the sheet.
    var colors = PageSettings()
    /// What the script works with: JSON, in a block of its own.
    var data: String?
    /// Whose scripts ours may load, besides itself.
    var scriptSources: [String] = []
    /// Where it may be shown in a frame: origins; nowhere when empty (T-B13).
    var frameAncestors: [String] = []
    package var cookies: [Cookie] = []
    /// Where browsers go from it at once.
    package var leadsTo: String?
    var referrerPolicy = "no-referrer"
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    /// That of all our pages.
    package static let sheet = String(decoding: PackageResources.pages_css, as: UTF8.self)

    /// - Parameter random: makes the nonce by which the browser knows what of the page is ours (T-B14).
    package func response(_ random: RandomSource = .system) -> Response {
        let nonce = random.handle()
        let block: HTML? = data.map { "<script type=\"application/json\" id=\"data\">\(json: $0)</script>" }
        let refresh: HTML? = leadsTo.map { "<meta http-equiv=\"refresh\" content=\"0; url=\($0)\">\n" }
        let head: HTML = """
            <!doctype html>
            <html lang="\(language)" dir="\(direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            \(html: refresh)\
            <title>\(title)</title>

            """
        let html = """
            \(head.text)<style nonce="\(nonce)">\(style)\(colors.style)</style>
            </head>
            <body>
            \(content.text)\(block?.text ?? "")
            \(script.map { "<script nonce=\"\(nonce)\">\($0)</script>" } ?? "")
            </body>
            </html>
            """
        let ancestors = frameAncestors.isEmpty ? "'none'" : frameAncestors.joined(separator: " ")
        let scripts = (["'nonce-\(nonce)'"] + scriptSources).joined(separator: " ")
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8",
            .cacheControl: "no-store",
            .referrerPolicy: referrerPolicy,
            .contentSecurityPolicy:
                "default-src 'none'; script-src \(scripts); style-src 'nonce-\(nonce)'; img-src 'self' data:; "
                + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors \(ancestors)",
        ]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie.header)) }
        return Response(status: status, headers: headers, body: ByteBuffer(string: html))
    }
}

extension Page {
    /// A page in English.
    package init(title: String, content: HTML) { self.init(status: .ok, title: title, content: content) }
}
