package import Linking
import Passwords
package import struct Foundation.Date

/// What changes about an account; a member that is nil stays as it is, `.some(nil)` empties it.
package struct AccountChanges: Sendable {
    package var email: EmailAddress??
    package var emailVerified: Bool?
    package var initialEmail: String?
    package var displayName: String??
    package var photoURL: String??
    package var phoneNumber: String??
    package var password: StoredPassword??
    package var passwordUpdatedAt: Date?
    package var customAttributes: String??
    package var disabled: Bool?
    package var validSince: Int64?
    package var createdAt: Date?
    package var lastSignInAt: Date?
    /// Providers whose credentials go.
    package var unlinked: Set<ProviderID> = []
    /// A credential that an admin links without proof.
    package var linked: LinkedCredential?
    /// The sessions that end.
    package var endedSessions: EndedSessions = .none
    package var session: SessionEffect = .none
    package var deletesAccount = false

    package enum EndedSessions: Sendable {
        case none
        case all
        /// All but the one that ``AccountChanges/session`` renews.
        case others
    }

    package init() {}
}
