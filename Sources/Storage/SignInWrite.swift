package import Delivery
package import Federation
package import Linking
import Postgres
package import Projects
package import struct Foundation.Date

/// What a federated sign-in or link writes beside the account itself.
package struct SignInWrite: Sendable {
    package var scope: Scope
    package var credential: FederatedCredential
    /// What is stored of the provider's tokens; nil for nothing.
    package var keptTokens: ProviderTokens?
    package var session: SessionEffect
    package var now: Date
    /// The provider may lack a configuration: in `identity dev` alone.
    package var allowsUnconfiguredProvider: Bool
    /// The hash of the pending credential's handle that this redeems.
    package var redeems: [UInt8]?
    /// The grant counts as withdrawn, which this sign-in disproves.
    package var restoresGrant = false
    /// What the project's own endpoint is told of it.
    package var notice: WebhookNotice?
    /// Providers whose credentials the account loses by this, and at which the grants are ended too.
    package var revocable: Set<ProviderID> = []
    /// Within which a new account is made.
    package var limits = RateLimits.none
    /// What a function of the project said; nil when none was asked, and for a new account, which has it already.
    package var amendment: Amendment?

    package init(
        scope: Scope,
        credential: FederatedCredential,
        keptTokens: ProviderTokens? = nil,
        session: SessionEffect,
        now: Date,
        allowsUnconfiguredProvider: Bool,
        redeems: [UInt8]? = nil
    ) {
        self.scope = scope
        self.credential = credential
        self.keptTokens = keptTokens
        self.session = session
        self.now = now
        self.allowsUnconfiguredProvider = allowsUnconfiguredProvider
        self.redeems = redeems
    }
}

/// What became of a write that was decided on what a statement before it read.
package enum WriteOutcome: Sendable, Hashable {
    /// With the account's `validSince` as it is now.
    case applied(validSince: Int64)
    /// Something that the decision rested on has changed: read again, decide again.
    case stale
    case providerDisabled
    /// The one-time ID token was used before.
    case duplicateToken

    /// A claim that somebody else has means that the decision came too late.
    /// - Throws: what is no such error.
    init(_ error: PostgresError) throws(PostgresError) {
        switch error.constraint {
        case "used_id_tokens_pkey": self = .duplicateToken
        case "account_emails_pkey", "credential_subjects_pkey", "linked_credentials_pkey", "accounts_pkey":
            self = .stale
        default: throw error
        }
    }
}
