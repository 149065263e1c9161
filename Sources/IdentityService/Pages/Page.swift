package import HTTPTypes
import NIOCore
import Projects
package import Secrets

/// A page of the service: one style sheet, at most one script, no external content.
package struct Page: Sendable {
    package var status: HTTPResponse.Status = .ok
    /// The language of the text, a BCP 47 tag.
    var language = "en"
    /// `dir` of HTML.
    var direction = "ltr"
    var title: String
    /// The content of `body`.
    var content: HTML
    /// The text of our own style sheet and script, without any inserted value; default: the sheet of all pages.
    package var style = Page.sheet
    package var script: String?
    /// A project's colors, which override the sheet's.
    var colors = PageSettings()
    /// The script's data: JSON, in a separate block.
    var data: String?
    /// Additional sources of scripts that ours may load.
    var scriptSources: [String] = []
    /// Another service's widget on it.
    var widget: CaptchaWidget?
    /// Origins that may show it in a frame; none if empty (T-B13).
    var frameAncestors: [String] = []
    package var cookies: [Cookie] = []
    /// Where browsers are redirected immediately.
    package var leadsTo: String?
    var referrerPolicy = "no-referrer"
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    /// What the sheets of all pages, of the console and of `identity dev` begin with: colors, type, fields, buttons.
    package static let baseSheet = String(decoding: PackageResources.base_css, as: UTF8.self)
    /// The sheet of the pages for users.
    package static let sheet = baseSheet + String(decoding: PackageResources.pages_css, as: UTF8.self)
    /// The product's sign.
    package static let mark: HTML = """
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="currentColor"/>\
        <path d="M16 7.5a4.2 4.2 0 0 1 2 7.9l1.2 8.1h-6.4l1.2-8.1a4.2 4.2 0 0 1 2-7.9z"/></svg>
        """

    /// - Parameter random: creates the nonce that marks our own style and script (T-B14).
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
            \(html: widget.map { "<script src=\"\($0.script)\" async defer></script>\n" })
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
        let scripts = (["'nonce-\(nonce)'"] + scriptSources + (widget?.scripts ?? [])).joined(separator: " ")
        let others = widget?.others.map { " " + $0 }.joined() ?? ""
        let frames = widget.map { "frame-src \($0.frames.joined(separator: " ")); " } ?? ""
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8",
            .cacheControl: "no-store",
            .referrerPolicy: referrerPolicy,
            .contentSecurityPolicy:
                "default-src 'none'; script-src \(scripts); style-src 'nonce-\(nonce)'\(others); img-src 'self' data:; "
                + "connect-src 'self'\(others); \(frames)form-action 'self'; base-uri 'none'; frame-ancestors \(ancestors)",
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
