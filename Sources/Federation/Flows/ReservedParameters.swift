/// Authorization parameters that only the service sets (T-B8).
enum ReservedParameters {
    private static let names: Set<String> = [
        "claims", "client_id", "client_secret", "code_challenge", "code_challenge_method", "nonce", "redirect_uri",
        "request", "request_uri", "response_mode", "response_type", "scope", "state",
    ]

    /// Ignores case.
    static func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || name.hasPrefix("client_assertion") || name.hasPrefix("oauth_")
    }
}
