/// Whether the authenticator must verify the user, by a PIN or a biometric (WebAuthn §5.8.6).
package enum UserVerification: String, Sendable, Hashable, Codable, CaseIterable {
    case required, preferred, discouraged
}
