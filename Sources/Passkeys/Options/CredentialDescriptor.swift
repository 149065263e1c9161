/// A credential that a request names (WebAuthn §5.8.3).
package struct CredentialDescriptor: Sendable, Hashable {
    package let id: CredentialID
    package let transports: [String]

    package init(id: CredentialID, transports: [String]) {
        self.id = id
        self.transports = transports
    }
}
