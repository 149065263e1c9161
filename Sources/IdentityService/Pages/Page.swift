import HTTPTypes
import NIOCore
import Secrets

/// A page of ours: one style sheet, at most one script, nothing from anywhere else.
struct Page: Sendable {
    var status: HTTPResponse.Status = .ok
    /// Of the text, a tag of BCP 47.
    var language = "en"
    var title: String
    /// What stands in `body`.
    var content: HTML
    /// The text of a style sheet and of a script of ours, which no value was put into.
    var style = ""
    var script: String?
    /// Where it may be shown in a frame: origins; nowhere when empty (T-B13).
    var frameAncestors: [String] = []

    /// - Parameter random: makes the nonce by which the browser knows what of the page is ours (T-B14).
    func response(_ random: RandomSource = .system) -> Response {
        let nonce = random.handle()
        let head: HTML = """
            <!doctype html>
            <html lang="\(language)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(title)</title>

            """
        let html = """
            \(head.text)<style nonce="\(nonce)">\(style)</style>
            </head>
            <body>
            \(content.text)
            \(script.map { "<script nonce=\"\(nonce)\">\($0)</script>" } ?? "")
            </body>
            </html>
            """
        let ancestors = frameAncestors.isEmpty ? "'none'" : frameAncestors.joined(separator: " ")
        return Response(
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
    }
}
