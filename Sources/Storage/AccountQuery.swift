package import Domain
package import struct Foundation.Date

/// An admin's query for accounts: its conditions, all of which must match, and the order.
package struct AccountQuery: Sendable, Hashable, Codable {
    /// Selects at most one account, or those that share an email if the project allows it.
    package enum Subject: Sendable, Hashable, Codable {
        case account(String)
        /// The account's own email.
        case email(EmailAddress)
        case phoneNumber(String)
    }

    /// The sort order; ties are ordered by ID.
    package enum Sort: String, Sendable, Hashable, Codable {
        case account
        case name
        case createdAt
        case lastSignInAt
        case email

        var hasIndex: Bool {
            switch self {
            case .account, .createdAt, .email: true
            case .name, .lastSignInAt: false
            }
        }
    }

    package var subject: Subject?
    /// A sign-in method: an identity provider, `password`, `phone` or `emailLink`.
    package var method: ProviderID?
    /// The domain of the account's own email, in ASCII.
    package var emailDomain: String?
    /// An account is used by signing in and by refreshing; if it never was, its creation counts.
    package var lastUsedBefore: Date?
    package var lastUsedAfter: Date?
    package var createdBefore: Date?
    /// At this time or later.
    package var createdAfter: Date?
    package var isDisabled: Bool?
    /// The account has an email that is not verified.
    package var isUnverified: Bool?
    package var hasSecondFactor: Bool?
    /// The account has no sign-in method.
    package var isAnonymous: Bool?
    /// The account has a detached credential.
    package var hasDetachedCredential: Bool?
    /// A linked identity's email is a provider's relay address.
    package var hasRelayAddress: Bool?
    /// The user revoked the grant at a provider.
    package var hasRevokedConsent: Bool?
    /// A provider reported that someone else may be using the user's account there.
    package var isBlockedAtProvider: Bool?
    /// The account has a session.
    package var hasSession: Bool?

    package var sort = Sort.account
    package var descends = false

    package init() {}

    /// Whether accounts must be examined one by one.
    var isFiltered: Bool {
        var rest = AccountQuery()
        (rest.subject, rest.sort, rest.descends) = (subject, sort, descends)
        return rest != self
    }

    /// Whether all conditions are on the columns by which accounts are grouped (`accounts_group_idx`).
    var isOfGroups: Bool {
        var rest = AccountQuery()
        (rest.sort, rest.descends) = (.createdAt, descends)
        (rest.method, rest.createdBefore, rest.createdAfter) = (method, createdBefore, createdAfter)
        (rest.isDisabled, rest.isUnverified) = (isDisabled, isUnverified)
        (rest.hasSecondFactor, rest.isAnonymous) = (hasSecondFactor, isAnonymous)
        return rest == self
    }
}

/// An account's position in an order that has an index: the next page starts after it, even if the account no longer
/// exists.
package enum AccountPosition: Sendable, Hashable, Codable {
    case account(String)
    case createdAt(Date, String)
    /// For an account without an email, the empty text.
    case email(String, String)

    /// Nil for an order without an index.
    init?(of account: Account, by sort: AccountQuery.Sort) {
        let id = account.id.rawValue
        switch sort {
        case .account: self = .account(id)
        case .createdAt: self = .createdAt(account.createdAt, id)
        case .email: self = .email(account.email?.canonical ?? "", id)
        case .name, .lastSignInAt: return nil
        }
    }
}

/// How many accounts a statement examines at most for a page with conditions; then the page ends early.
package enum PageReach: Int, Sendable {
    case api = 10_000
    /// In 50 ms, even if each account's last sign-in is looked up.
    case console = 2_500
}

/// A page of accounts and the position of the next one.
package struct AccountPage: Sendable {
    package var accounts: [Account]
    /// Nil on the last page.
    package var next: AccountPosition?
}
