/// The display names of providers.
enum ProviderNames {
    /// - Parameter displayName: the project's own name.
    static func name(of provider: String, _ displayName: String?) -> String {
        displayName.flatMap { $0.isEmpty ? nil : $0 } ?? brands[provider] ?? provider
    }

    /// Brand names, which are the same in every language.
    private static let brands = [
        "apple.com": "Apple", "facebook.com": "Facebook", "github.com": "GitHub", "google.com": "Google",
        "linkedin.com": "LinkedIn", "microsoft.com": "Microsoft", "twitter.com": "Twitter", "yahoo.com": "Yahoo",
        "oauth.discord": "Discord", "oauth.feedly": "Feedly", "oauth.x": "X", "oidc.gitlab": "GitLab",
        "oidc.line": "LINE", "oidc.slack": "Slack", "oidc.yahoojp": "Yahoo! JAPAN",
        "oidc.daccount": "dアカウント", "oidc.digitalauth": "デジタル認証アプリ",
    ]
}
