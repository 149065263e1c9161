package import Linking
package import struct Foundation.Date

/// Which accounts an admin asks for, and in which order: those that meet every condition that is set.
package struct AccountQuery: Sendable, Hashable, Codable {
    /// At most one account, or those that share an address where projects allow it.
    package enum Subject: Sendable, Hashable, Codable {
        case account(String)
        /// The account's own address.
        case email(EmailAddress)
        case phoneNumber(String)
    }

    /// What accounts are ordered by; those that are alike by their ids.
    package enum Sort: String, Sendable, Hashable, Codable {
        case account
        case name
        case createdAt
        case lastSignInAt
        case email
    }

    package var subject: Subject?
    /// A sign-in method: an identity provider, `password`, `phone` or `emailLink`.
    package var method: ProviderID?
    /// Of the account's own address, in ASCII.
    package var emailDomain: String?
    /// An account is used by signing in and by refreshing; one that never was counts as used when it was made.
    package var lastUsedBefore: Date?
    package var lastUsedAfter: Date?
    package var isDisabled: Bool?
    /// It lost a way in to another identity.
    package var hasDetachedCredential: Bool?
    /// The address of a linked identity is a provider's relay.
    package var hasRelayAddress: Bool?
    /// The person withdrew the grant at a provider.
    package var hasRevokedConsent: Bool?
    /// A provider says that somebody else may be using the person's account there.
    package var isBlockedAtProvider: Bool?
    /// Somebody is signed in.
    package var hasSession: Bool?

    package var sort = Sort.account
    package var descends = false

    package init() {}

    /// Whether accounts must be looked at one by one to tell which are meant.
    var isFiltered: Bool {
        var rest = AccountQuery()
        (rest.subject, rest.sort, rest.descends) = (subject, sort, descends)
        return rest != self
    }
}

/// The place of an account in an order that has an index: the next page begins after it, whether or not the account is
/// still there.
package enum AccountPosition: Sendable, Hashable, Codable {
    case account(String)
    case createdAt(Date, String)
    /// Of an account without an address, the empty text.
    case email(String, String)

    /// Nil in an order without an index.
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

/// A page of accounts, and where the next one begins.
package struct AccountPage: Sendable {
    package var accounts: [Account]
    /// Nil after the last page.
    package var next: AccountPosition?
}
