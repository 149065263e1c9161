package import Domain
import Federation
import Passwords
package import Projects
package import struct Foundation.Date

/// The changes to an account; nil leaves a member unchanged, `.some(nil)` empties it.
package struct AccountChanges: Sendable {
    package var email: EmailAddress??
    package var emailVerified: Bool?
    package var initialEmail: String?
    package var displayName: String??
    package var photoURL: String??
    /// The whole profile, before ``displayName`` and ``photoURL``.
    package var profile: Profile?
    package var phoneNumber: String??
    package var password: StoredPassword??
    package var passwordUpdatedAt: Date?
    /// Whether it is a sign-in, which need not change the account.
    var isSignIn = false
    /// The password that the user proved, which must still be the account's; else nothing changes.
    package var provedPassword: StoredPassword?
    /// The same password in another form.
    package var rehashed: StoredPassword?
    package var customAttributes: String??
    package var disabled: Bool?
    package var validSince: Int64?
    package var emailLinkSignIn: Bool?
    /// The complete new list of the account's second factors.
    package var secondFactors: [SecondFactor]?
    /// The complete new list of the account's passkeys.
    package var passkeys: [Passkey]?
    /// The email was verified for the first time by a user who did not sign in as the account: earlier credentials are
    /// removed, and the other changes apply to the rest.
    package var firstVerification: EmailProof?
    package var createdAt: Date?
    package var lastSignInAt: Date?
    /// Providers whose credentials are removed.
    package var unlinked: Set<ProviderID> = []
    /// A credential that an admin links without proof.
    package var linked: LinkedCredential?
    /// A federated sign-in, or a link, with its credential.
    package var credential: SignInWrite?
    /// The sessions to end.
    package var endedSessions: EndedSessions = .none
    /// Whether ``session`` must be that of the newest sign-in.
    package var needsNewestSignIn = false
    package var session: SessionEffect = .none
    package var deletesAccount = false
    /// Changes of grants at providers.
    package var grants: [GrantChange] = []
    /// Providers whose credentials are removed and whose grants are also revoked.
    package var revocable: Set<ProviderID> = []
    /// The provider's event that caused this change; each event applies once.
    package var event: EventKey?
    /// The one-time code that this change uses; without it nothing changes.
    package var spends: OneTimeCode?
    /// The webhooks to send if the change applies.
    package var told: Set<WebhookType> = []
    /// The limits of the change itself; without room nothing changes.
    package var limits = RateLimits.none
    /// A code to send with the change.
    package var sends: NewOOBCode?
    /// The limits of what is sent; without room nothing changes.
    package var sendLimits = RateLimits.none
    /// The recovery code that takes the account back; codes of addresses that replaced its own later end.
    package var recovers: OOBCode?
    /// A custom token signs in with the change.
    package var isByCustomToken = false
    /// The account's new email, which another account has and loses.
    package var displaces: DisplacedEmail?
    /// Limits to reset.
    package var forgives = RateLimits.none

    package struct GrantChange: Sendable {
        package enum Kind: Sendable {
            /// The user revoked it: its tokens are deleted, and its sessions end if `endsSessions` is true.
            case withdrawn(at: Date, endsSessions: Bool)
            /// Whether the relay address forwards emails.
            case forwarding(Bool, since: Date)
            /// Whether someone else may be using the account at the provider; meanwhile users cannot sign in with it.
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
        /// A sign-in with the provider after this time makes the event obsolete; nil if none does.
        package var validUntilSignInAfter: Date?
        package var expiresAt: Date

        /// How long an event is remembered, in seconds: much longer than providers resend it.
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
        /// Sessions that started with a sign-in with this provider.
        case openedWith(ProviderID)
        /// Sessions that signed in before this time, in seconds.
        case openedBefore(Int64)
        case all
        /// All except the one that ``AccountChanges/session`` renews.
        case others
    }

    package init() {}

    /// Whether the change ends sessions and pending sign-ins.
    var revokes: Bool {
        validSince != nil || !endedSessions.isNone
            || grants.contains { if case .withdrawn(_, endsSessions: true) = $0.kind { true } else { false } }
    }

    /// Records the email that is about to be replaced: it can recover the account if it was verified before any other
    /// (threats.md, T-E6).
    package mutating func keepAddress(of account: Account) {
        guard let email = account.email, account.emailVerified || account.initialEmail == nil else { return }
        initialEmail = email.canonical
    }

    /// Whether ``Account/validSince`` has to be later than sessions that end.
    var endsEarlierSessions: Bool {
        guard validSince != nil else { return false }
        return switch endedSessions {
        case .all, .others: true
        case .none, .openedWith, .openedBefore: false
        }
    }

    /// What becomes of the password's columns.
    var writtenPassword: AccountRow.Password {
        if let password { return .new(password) }
        if let rehashed { return .new(rehashed) }
        return firstVerification == nil ? .kept : .new(nil)
    }

    /// What a sign-in with the changes counts for: nothing if it is not compared with what there is room for.
    var pace: SignInPace {
        if isSignIn, case .open(let session) = session { session.pace } else { credential?.pace ?? .unlimited }
    }

    /// The account with the changes; its `validSince` may be later if sessions end.
    ///
    /// A sign-in that changes nothing leaves the version.
    func applied(to before: Account, now: Date) -> Account {
        var after = before
        if firstVerification != nil { after.dropUnproved(validSince: before.validSince) }
        if let email { after.email = email }
        after.emailVerified = emailVerified ?? after.emailVerified
        after.initialEmail = initialEmail ?? after.initialEmail
        after.profile = profile ?? after.profile
        after.displayName = displayName ?? after.displayName
        after.photoURL = photoURL ?? after.photoURL
        after.phoneNumber = phoneNumber ?? after.phoneNumber
        if let password { after.hasPassword = password != nil }
        after.passwordUpdatedAt = passwordUpdatedAt ?? after.passwordUpdatedAt
        after.emailLinkSignIn = emailLinkSignIn ?? after.emailLinkSignIn
        after.secondFactors = secondFactors ?? after.secondFactors
        // A list that was made before all were dropped.
        if let passkeys, firstVerification == nil { after.passkeys = passkeys }
        after.linked.removeAll { unlinked.contains($0.provider) }
        if let linked { after.add([linked]) }
        if let identity = credential?.credential.identity { after.link(identity) }
        after.customAttributes = customAttributes ?? after.customAttributes
        after.customAuth = after.customAuth || isByCustomToken
        after.recoverableUntil = recoverableUntil(of: before, now: now)
        after.disabled = disabled ?? after.disabled
        after.validSince = max(after.validSince, validSince ?? after.validSince)
        after.createdAt = createdAt ?? after.createdAt
        let changesNothing = after == before && password == nil && rehashed == nil && !revokes && grants.isEmpty
        if !isSignIn || !changesNothing { after.version += 1 }
        if revokes { after.revokedVersion = after.version }
        if let lastSignInAt { (after.lastSignInAt, after.lastRefreshAt) = (lastSignInAt, lastSignInAt) }
        return after
    }

    /// Until when a verified email that was removed from the account can be restored; a newer message about it counts from
    /// now.
    ///
    /// Not for one that was replaced at once: its user may forget the password, or sign in with a link, before verifying
    /// the new one (threats.md, T-E6).
    func recoverableUntil(of account: Account, now: Date) -> Date? {
        let current = account.recoverableUntil
        guard let sends, sends.type == .recoverEmail,
            sends.proved && sends.newEmail == nil || current.map({ now < $0 }) ?? false
        else {
            return current
        }
        return now.addingTimeInterval(Double(sends.lifetime))
    }

    /// Marks the email as verified, with the consequences for the rest of the account.
    ///
    /// - Parameter provedBefore: the email was verified before.
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

    /// The providers whose credentials the account loses.
    package func lostProviders(of account: Account) -> Set<ProviderID> {
        deletesAccount || firstVerification != nil ? Set(account.linked.map(\.provider)) : unlinked
    }
}

extension Account {
    /// Links an identity, in place of another one of its provider.
    fileprivate mutating func link(_ identity: FederatedIdentity) {
        guard !linked.contains(where: { $0.provider == identity.provider && $0.subject == identity.subject }) else {
            return
        }
        linked.removeAll { $0.provider == identity.provider }
        add([LinkedCredential(identity)])
    }
}
