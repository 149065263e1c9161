import Domain

/// Our own drawings of sign-in methods: a picture of the service's own, a monogram of each provider, because its logo
/// is its own.
enum ConsoleIcons {
    /// The icon with the method's name, for screen readers and on hover.
    static func icon(of method: ProviderID) -> HTML {
        let name = ConsoleText.name(of: method)
        return """
            <svg class="icon" role="img" aria-label="\(name)" viewBox="0 0 24 24"><title>\(name)</title>\
            \(html: drawing(of: method))</svg>
            """
    }

    /// The icon beside the method's name.
    static func decoration(of method: ProviderID) -> HTML {
        "<svg class=\"icon\" aria-hidden=\"true\" viewBox=\"0 0 24 24\">\(html: drawing(of: method))</svg>"
    }

    /// One or two letters in a circle; a user's own picture would tell its host who looks at the account.
    static func avatar(of account: Account) -> HTML {
        let color = account.id.rawValue.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } % colors
        return """
            <span class="avatar color\(String(color))" aria-hidden="true">\(initials(of: account))</span>
            """
    }

    private static let colors = 6

    private static func initials(of account: Account) -> String {
        let words = (account.displayName ?? "").split(whereSeparator: \.isWhitespace).filter {
            $0.first?.isLetter == true
        }
        let letters = [words.first, words.count > 1 ? words.last : nil].compactMap { $0?.first }
        guard letters.isEmpty else { return String(letters).uppercased() }
        let name = ConsoleText.name(of: account)
        return (name.first { $0.isLetter } ?? name.first { $0.isNumber }).map { String($0).uppercased() } ?? "?"
    }

    private static func drawing(of method: ProviderID) -> HTML {
        if let picture = pictures[method] { return "<g class=\"line\">\(html: picture)</g>" }
        let (letters, color) = monograms[method.rawValue] ?? (fallback(method), colors - 1)
        return """
            <rect class="fill\(String(color))" x="1" y="1" width="22" height="22" rx="6"/>\
            <text x="12" y="16.25">\(letters)</text>
            """
    }

    /// `AC` for `oidc.acme`.
    private static func fallback(_ method: ProviderID) -> String {
        let name = method.rawValue.split(separator: ".", maxSplits: 1).last ?? "?"
        return String(name.filter { $0.isLetter || $0.isNumber }.prefix(2)).uppercased()
    }

    /// Lines in a square of 24.
    private static let pictures: [ProviderID: HTML] = [
        // A key.
        .password: "<circle cx=\"8\" cy=\"15\" r=\"4.5\"/><path d=\"M11.2 11.8 20 3m-3.5 3.5 3 3m-6 0 2 2\"/>",
        // A mobile phone.
        .phone: "<rect x=\"6.5\" y=\"2.5\" width=\"11\" height=\"19\" rx=\"2.5\"/><path d=\"M10.5 18.5h3\"/>",
        // An envelope.
        .emailLink: "<rect x=\"2.5\" y=\"5\" width=\"19\" height=\"14\" rx=\"2\"/><path d=\"m3.5 7 8.5 6.5L20.5 7\"/>",
    ]

    /// Letters and color by provider.
    private static let monograms: [String: (String, Int)] = [
        "apple.com": ("A", 5), "facebook.com": ("F", 0), "github.com": ("GH", 5), "google.com": ("G", 0),
        "linkedin.com": ("IN", 0), "microsoft.com": ("MS", 2), "twitter.com": ("TW", 0), "yahoo.com": ("Y", 4),
        "oauth.discord": ("D", 4), "oauth.feedly": ("FE", 2), "oauth.x": ("X", 5), "oidc.gitlab": ("GL", 1),
        "oidc.line": ("L", 2), "oidc.slack": ("S", 3), "oidc.yahoojp": ("YJ", 3),
        "oidc.daccount": ("DA", 3), "oidc.digitalauth": ("DI", 0),
    ]
}
