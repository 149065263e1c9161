/// An application that signs its users in with a project's accounts.
package struct OAuthClient: Sendable, Hashable {
    /// `client_id`: a random text, which never equals the audience of another kind of token.
    package var id: String
    package var metadata: ClientMetadata
    /// SHA-256 of the secret; nil for a public client.
    package var secretHash: [UInt8]?
    /// The project's own application, for which no user is asked to consent.
    package var isTrusted: Bool

    package init(id: String, metadata: ClientMetadata, secretHash: [UInt8]? = nil, isTrusted: Bool = false) {
        self.id = id
        self.metadata = metadata
        self.secretHash = secretHash
        self.isTrusted = isTrusted
    }

    /// The name for people.
    package var displayName: String { metadata.name ?? id }
}
