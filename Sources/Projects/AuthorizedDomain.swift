import PublicSuffixes
import Text

/// One of a project's ``ProjectSettings/authorizedDomains``: a host and, as in the Web SDK, its subdomains; or a Chrome
/// extension.
package struct AuthorizedDomain: Sendable, Hashable {
    /// Lowercase.
    package let text: String

    package init(_ text: String) { self.text = text.lowercased() }

    /// Whether pages of a host are the project's.
    ///
    /// - Parameter host: lowercase; an IPv6 address in brackets.
    package func includes(host: String) -> Bool {
        host == text || host.hasSuffix(".\(text)") && includesSubdomains && !host.hasPrefix(".")
    }

    /// A host stands for the names below it too, but addresses have none; those of `localhost` are other programs', and
    /// those of a public suffix other people's.
    package var includesSubdomains: Bool { !isAddress && text != "localhost" && !isExtension && !isPublicSuffix }

    /// Whether unrelated owners share the names below it: `com`, `vercel.app`.
    package var isPublicSuffix: Bool { PublicSuffix.contains(text) }

    /// Browsers take a name whose last label is a number for an address (WHATWG URL §3.5).
    private var isAddress: Bool {
        text.hasPrefix("[") || text.split(separator: ".").last?.consists(of: .digits) == true
    }

    private static let extensionScheme = "chrome-extension://"

    /// Whether it is the origin of an extension's pages.
    package var isExtension: Bool { text.hasPrefix(Self.extensionScheme) }

    /// What a policy (CSP3 §2.3.1) calls its pages; empty for an IPv6 address, which cannot be written there.
    package var policySources: [String] {
        if isExtension { return [text] }
        guard !text.isEmpty, text.consists(of: .lowercase + .digits + "-.") else { return [] }
        let plain = text == "localhost" || text == "127.0.0.1"
        return ["https://\(text):*"] + (includesSubdomains ? ["https://*.\(text):*"] : [])
            + (plain ? ["http://\(text):*"] : [])
    }

    /// Those that none of the others includes.
    package static func withoutCovered(_ texts: [String]) -> [AuthorizedDomain] {
        let domains = texts.map { AuthorizedDomain($0) }
        let parents = Set(domains.lazy.filter(\.includesSubdomains).map(\.text))
        return domains.filter { domain in
            var rest = domain.text[...]
            while let dot = rest.firstIndex(of: ".") {
                rest = rest[rest.index(after: dot)...]
                if parents.contains(String(rest)) { return false }
            }
            return true
        }
    }

    /// Why it cannot be one of a project's, in words after "must"; nil if it can.
    package static func fault(in text: String) -> String? {
        let shown = "\"\(text.prefix(100))\""
        let name = text.lowercased()
        if let end = name.firstRange(of: "://") {
            guard name.hasPrefix(extensionScheme) else {
                return ["http", "https"].contains(name[..<end.lowerBound])
                    ? "list \(shown) without scheme and path"
                    : "not list \(shown): of pages that are not on the web, SDKs take those of Chrome extensions alone"
            }
            let id = name[end.upperBound...]
            return id.utf8.count == 32 && id.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "p")).contains($0) }
                ? nil : "list \(shown) as chrome-extension:// and the extension's ID of 32 letters"
        }
        guard name.unicodeScalars.allSatisfy(\.isASCII) else { return "list \(shown) in its ASCII form (xn--…)" }
        if name.contains("*") { return "list \(shown) without *: a domain includes its subdomains" }
        if name.hasPrefix("[") {
            return name == "[::1]" ? nil : "not list \(shown): of IPv6 addresses, [::1] alone can be one"
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let last = labels.last ?? ""
        let isNumber = last.consists(of: .digits) || last.hasPrefix("0x")
        guard (1...253).contains(name.utf8.count), labels.allSatisfy(\.isHostLabel),
            !isNumber || IPAddress(name) != nil
        else {
            return "list host names without scheme, port, path and final dot, not \(shown)"
        }
        return nil
    }
}

extension ProjectSettings {
    /// Whether pages of a host are the project's.
    ///
    /// - Parameter host: lowercase; an IPv6 address in brackets.
    package func authorizes(host: String) -> Bool {
        authorizedDomains.contains { AuthorizedDomain($0).includes(host: host) }
    }

    /// Whether it is a page of one of the project's Chrome extensions.
    package func authorizesExtension(of page: String) -> Bool {
        guard let parts = URLParts(page), parts.scheme == "chrome-extension", let host = parts.authority else {
            return false
        }
        return authorizedDomains.contains { AuthorizedDomain($0).text == "chrome-extension://\(host)" }
    }
}
