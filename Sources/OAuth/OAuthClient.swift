package import Secrets
import Text

/// An application that signs its users in with a project's accounts.
package struct OAuthClient: Sendable, Hashable {
    /// `client_id`: a random text, which never equals the audience of another kind of token.
    package var id: String
    package var metadata: ClientMetadata
    /// SHA-256 of the secret; nil without one.
    package var secretHash: [UInt8]?
    /// The project's own application, for which no user is asked to consent.
    package var isTrusted: Bool
    package var origin: Origin

    /// Who says what the client is.
    package enum Origin: String, Sendable, Hashable {
        /// Also of a client that it changed.
        case admin
        /// It registered itself (RFC 7591).
        case registration
        /// Its ID is the URL of a document about it.
        case document
        /// It had a document, and an admin deleted it: the document is not read again.
        case blocked
    }

    /// Whether an admin chose it; anybody else is a stranger.
    package var isVouchedFor: Bool { origin == .admin }

    /// The host of the document about it.
    package var documentHost: String? { origin == .document ? URLParts(id)?.host : nil }

    package init(
        id: String,
        metadata: ClientMetadata,
        secretHash: [UInt8]? = nil,
        isTrusted: Bool = false,
        origin: Origin = .admin
    ) {
        self.id = id
        self.metadata = metadata
        self.secretHash = secretHash
        self.isTrusted = isTrusted
        self.origin = origin
    }

    /// An app on a device or in a browser, which can prove to nobody that it is itself.
    package var isPublic: Bool { metadata.authentication == .none }

    /// Whether a stranger registered or describes it, so that nobody vouches for what it says.
    package var isStrangers: Bool { origin != .admin }

    /// Whether codes may go to a URI.
    package func allows(redirectURI: String) -> Bool { metadata.redirectURIs.contains { $0.allows(redirectURI) } }

    /// Whether a grant comes with refresh tokens: a sign-in alone ends with its tokens; access without the user is asked
    /// for (OpenID Connect Core 1.0 §11), by public clients too.
    package func mayRefresh(_ grant: ApplicationGrant) -> Bool {
        metadata.grantTypes.contains(.refreshToken) && grant.refreshes ?? true
            && (grant.scopes.contains(Scopes.offlineAccess) || !grant.scopes.contains(Scopes.openID))
    }

    /// A `client_id` of 103 random bits.
    package static func newID(_ random: RandomSource) -> String {
        random.text(20, of: "abcdefghijklmnopqrstuvwxyz0123456789")
    }

    /// The name for people: that of a document comes with its host, which alone is certain.
    package var displayName: String {
        guard let host = documentHost else { return metadata.name ?? id }
        return metadata.name.map { "\($0) (\(host))" } ?? host
    }
}
