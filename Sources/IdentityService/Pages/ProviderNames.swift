/// What people know providers as.
enum ProviderNames {
    /// - Parameter displayName: that the project chose.
    static func name(of provider: String, _ displayName: String?) -> String {
        displayName.flatMap { $0.isEmpty ? nil : $0 } ?? brands[provider] ?? provider
    }

    /// Providers with names of their own in every language.
    private static let brands = [
        "apple.com": "Apple", "facebook.com": "Facebook", "github.com": "GitHub", "google.com": "Google",
        "linkedin.com": "LinkedIn", "microsoft.com": "Microsoft", "twitter.com": "Twitter", "yahoo.com": "Yahoo",
        "oauth.discord": "Discord", "oauth.feedly": "Feedly", "oauth.x": "X", "oidc.gitlab": "GitLab",
        "oidc.line": "LINE", "oidc.slack": "Slack", "oidc.yahoojp": "Yahoo! JAPAN",
    ]
}
