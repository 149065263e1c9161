import HTTPTypes
import NIOCore
import Projects
import Secrets

/// A page of ours: one style sheet, at most one script, nothing from anywhere else.
struct Page: Sendable {
    var status: HTTPResponse.Status = .ok
    /// Of the text, a tag of BCP 47.
    var language = "en"
    /// `dir` of HTML.
    var direction = "ltr"
    var title: String
    /// What stands in `body`.
    var content: HTML
    /// The text of a style sheet and of a script of ours, which no value was put into; the sheet of all our pages
    /// without.
    var style = Page.sheet
    var script: String?
    /// A project's colors, over those of the sheet.
    var colors = PageSettings()
    /// Where it may be shown in a frame: origins; nowhere when empty (T-B13).
    var frameAncestors: [String] = []
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    private static let sheet = String(decoding: PackageResources.pages_css, as: UTF8.self)

    /// - Parameter random: makes the nonce by which the browser knows what of the page is ours (T-B14).
    func response(_ random: RandomSource = .system) -> Response {
        let nonce = random.handle()
        let head: HTML = """
            <!doctype html>
            <html lang="\(language)" dir="\(direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(title)</title>

            """
        let html = """
            \(head.text)<style nonce="\(nonce)">\(style)\(colors.style)</style>
            </head>
            <body>
            \(content.text)
            \(script.map { "<script nonce=\"\(nonce)\">\($0)</script>" } ?? "")
            </body>
            </html>
            """
        let ancestors = frameAncestors.isEmpty ? "'none'" : frameAncestors.joined(separator: " ")
        var response = Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8",
                .cacheControl: "no-store",
                .referrerPolicy: "no-referrer",
                .contentSecurityPolicy:
                    "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src 'self' data:; "
                    + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors \(ancestors)",
            ],
            body: ByteBuffer(string: html)
        )
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}
