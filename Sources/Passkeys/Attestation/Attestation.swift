/// What is known about the authenticator that made a credential (WebAuthn §6.5.4).
package enum Attestation: String, Sendable, Hashable, Codable, CaseIterable {
    /// The authenticator or the browser sent no statement.
    case none
    /// The credential's own key signed the statement, which proves that the authenticator has that key.
    case selfSigned = "self"
    /// A certificate of the manufacturer that leads to one of the project's roots.
    case certified
    /// A statement in a format that is not verified here, or a certificate that leads to none of the roots.
    case unverified
}
