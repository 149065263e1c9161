package import Domain

/// `amr` of a session (RFC 8176 §2).
package enum AuthenticationMethods {
    /// - Parameters:
    ///   - provider: of the first factor. Some have no name there, such as a sign-in at a provider.
    ///   - secondFactor: its kind; nil without one.
    package static func names(of provider: ProviderID, secondFactor: String?) -> [String] {
        let first: [ProviderID: String] = [.password: "pwd", .phone: "sms", .passkey: "pop"]
        let second = ["phone": "sms", "totp": "otp", "passkey": "pop"]
        var names = first[provider].map { [$0] } ?? []
        guard let secondFactor else { return names }
        if let name = second[secondFactor], !names.contains(name) { names.append(name) }
        return names + ["mfa"]
    }
}
