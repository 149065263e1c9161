/// A URL at which clients reach the service, with the addresses below it that others store or compare.
package struct PublicURL: Sendable, Hashable, CustomStringConvertible {
    /// Without a trailing `/`.
    package let text: String

    package init(_ text: String) { self.text = text.hasSuffix("/") ? String(text.dropLast()) : text }

    /// A URL that somebody set, as browsers write an origin: without capitals and the scheme's own port; nil if it is none.
    ///
    /// SDKs take a host for `authDomain`, so it has no path: `https://`, or `http://` on loopback, host and port.
    package init?(origin text: String) {
        // A `Host` does not say its scheme, so a port that is another scheme's own would be taken for none.
        guard let url = ContinueURI(text), url.isOrigin, url.scheme == "https" || url.isLoopback,
            !url.authority.hasSuffix(":80"), !url.authority.hasSuffix(":443")
        else { return nil }
        self.init("\(url.scheme)://\(url.authority)")
    }

    package var description: String { text }

    /// Host and port as in `Host`, without the scheme's own port; nil for what is no URL of a page.
    package var authority: String? { ContinueURI(text)?.authority }

    package var isSecure: Bool { text.lowercased().hasPrefix("https:") }

    /// The handler page, which SDKs open.
    ///
    /// Providers redirect to ``Deployment/callback(of:at:)``.
    package var callback: String { "\(text)/__/auth/handler" }

    /// Where service accounts get access tokens.
    package var token: String { "\(text)/token" }

    package func issuer(of project: ProjectID) -> String { "\(text)/\(project)" }
}

/// As its text.
extension PublicURL: Codable {
    package init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
