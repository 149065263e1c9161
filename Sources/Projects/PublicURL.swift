/// A URL at which clients reach the service, with the addresses below it that others store or compare.
package struct PublicURL: Sendable, Hashable, CustomStringConvertible {
    /// Without a trailing `/`.
    package let text: String

    package init(_ text: String) { self.text = text.hasSuffix("/") ? String(text.dropLast()) : text }

    package var description: String { text }

    package var isSecure: Bool { text.lowercased().hasPrefix("https:") }

    /// Where every provider redirects after a sign-in.
    package var callback: String { "\(text)/__/auth/handler" }

    /// Where service accounts get access tokens.
    package var token: String { "\(text)/token" }

    package func issuer(of project: ProjectID) -> String { "\(text)/\(project)" }
}
