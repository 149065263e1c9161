package import Linking
import Passwords
package import Projects
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
    package var emailLinkSignIn: Bool?
    /// All that the account has from now on.
    package var secondFactors: [SecondFactor]?
    /// The address was proved for the first time, by somebody who did not sign in as the account: what was there before
    /// goes, and the other changes apply to what is left.
    package var firstVerification: EmailProof?
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
    /// What becomes of grants at providers.
    package var grants: [GrantChange] = []
    /// Providers whose credentials go, and at which the grants are ended too.
    package var revocable: Set<ProviderID> = []
    /// The provider's event that this carries out, once.
    package var event: EventKey?
    /// The one-time code that this uses up; without it nothing changes.
    package var spends: OneTimeCode?
    /// What the project's own endpoint is told, if it comes to that.
    package var told: Set<WebhookType> = []
    /// A code that goes out with the change.
    package var sends: NewOOBCode?
    /// The recovery code that brings the address back: those of addresses that replaced it later end.
    package var recovers: OOBCode?
    /// Limits that begin anew.
    package var forgives = RateLimits.none

    package struct GrantChange: Sendable {
        package enum Kind: Sendable {
            /// The person withdrew it: its tokens go, and its sessions when `endsSessions` says so.
            case withdrawn(at: Date, endsSessions: Bool)
            /// Whether the relay address passes mail on.
            case forwarding(Bool, since: Date)
            /// Whether somebody else may be using the account at the provider: nobody signs in with it meanwhile.
            case blocked(Bool, since: Date)
        }

        package var provider: ProviderID
        package var kind: Kind

        package init(provider: ProviderID, kind: Kind) {
            self.provider = provider
            self.kind = kind
        }
    }

    package struct EventKey: Sendable {
        package var provider: ProviderID
        package var id: String
        /// A sign-in with the provider after this moment makes it history; nil where none does.
        package var validUntilSignInAfter: Date?
        package var expiresAt: Date

        /// Seconds for which an event is remembered: providers stop sending it again long before.
        package static let lifetime = 90.0 * 86_400

        package init(provider: ProviderID, id: String, validUntilSignInAfter: Date?, now: Date) {
            self.provider = provider
            self.id = id
            self.validUntilSignInAfter = validUntilSignInAfter
            self.expiresAt = now.addingTimeInterval(Self.lifetime)
        }
    }

    package enum EndedSessions: Sendable {
        case none
        /// Those that were opened by a sign-in with this provider.
        case openedWith(ProviderID)
        /// Those that signed in before this moment, in seconds.
        case openedBefore(Int64)
        case all
        /// All but the one that ``AccountChanges/session`` renews.
        case others
    }

    package init() {}

    /// Whether sessions end by it, and what is half proved with them.
    var revokes: Bool { validSince != nil || !endedSessions.isNone }

    /// Keeps the address that is about to be replaced: it takes the account back, the last one that was proved before any
    /// other (threats.md, T-E6).
    package mutating func keepAddress(of account: Account) {
        guard let email = account.email, account.emailVerified || account.initialEmail == nil else { return }
        initialEmail = email.canonical
    }

    /// Marks the address verified, with what that does to the rest of the account.
    ///
    /// - Parameter provedBefore: the address had been verified.
    package mutating func verifyEmail(
        by path: VerifyingPath,
        _ proof: EmailProof,
        provedBefore: Bool,
        seconds: Int64
    ) {
        emailVerified = true
        guard path.dropsUnproved, !provedBefore else { return }
        firstVerification = proof
        validSince = seconds
        endedSessions = .all
    }

    /// The credentials that the account loses.
    package func lostProviders(of account: Account) -> Set<ProviderID> {
        deletesAccount || firstVerification != nil ? Set(account.linked.map(\.provider)) : unlinked
    }
}
