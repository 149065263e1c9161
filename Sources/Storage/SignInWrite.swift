package import Delivery
package import Domain
package import Federation
import Postgres
package import Projects
package import struct Foundation.Date

/// What a federated sign-in or link writes in addition to the account.
package struct SignInWrite: Sendable {
    package var scope: Scope
    package var credential: FederatedCredential
    /// The provider's tokens to store; nil for none.
    package var keptTokens: ProviderTokens?
    package var session: SessionEffect
    package var now: Date
    /// Whether the provider may lack a configuration: only in `identity dev`.
    package var allowsUnconfiguredProvider: Bool
    /// The hash of the handle of the pending credential to redeem.
    package var redeems: [UInt8]?
    /// The grant counts as revoked; this sign-in restores it.
    package var restoresGrant = false
    /// Whether the identity's account takes its email if it has none and no account has that.
    package var adoptsEmail = false
    /// The webhook to send.
    package var notice: WebhookNotice?
    /// Providers whose credentials the account loses and whose grants are revoked.
    package var revocable: Set<ProviderID> = []
    /// The limits for new accounts.
    package var limits = RateLimits.none
    package var pace = SignInPace.unlimited
    /// A blocking function's changes; nil if none was called, and for a new account, which already includes them.
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

extension SignInWrite {
    /// Whether the identity is the account's already.
    func isKnown(to account: Account) -> Bool {
        let identity = credential.identity
        return account.linked.contains { $0.provider == identity.provider && $0.subject == identity.subject }
    }
}

/// What a sign-in depends on beside the account, read with it: whether its provider is enabled, the account has room for
/// another sign-in, and the pending credential can still be redeemed.
struct SignInAdmission: Sendable {
    let columns: SQL
    /// The statement before, which locks the pending credential.
    private(set) var locking: SQL?

    /// For what is no sign-in.
    static let any = SignInAdmission(columns: "true, true, true")

    private init(columns: SQL) { self.columns = columns }

    init(of account: AccountID, by write: SignInWrite?, opening session: NewSession?, _ scope: Scope, now: Date) {
        guard write != nil || session != nil else {
            self = .any
            return
        }
        let isEnabled: SQL =
            write.map { write in
                """
                coalesce((
                    SELECT enabled FROM provider_configurations
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                        AND provider = \(write.credential.identity.provider.rawValue)
                ), \(write.allowsUnconfiguredProvider))
                """
            } ?? "true"
        let pace = session?.pace ?? (write?.session.authTime == nil ? nil : write?.pace) ?? .unlimited
        var isRedeemable: SQL = "true"
        if let write, let handle = write.redeems {
            isRedeemable = PendingCredentialStore.isRedeemable(handle, by: account, write)
            locking = PendingCredentialStore.locking(handle, write)
        }
        columns = """
            \(sql: isEnabled), \(sql: pace.hasRoom(of: account, in: scope, now: now)), \(sql: isRedeemable)
            """
    }

    /// - Throws: ``NotWritten``; ``RateLimitReached``.
    static func check(_ row: inout PostgresRow) throws {
        let (isEnabled, hasRoom, isRedeemable): (Bool, Bool, Bool) = (try row.next(), try row.next(), try row.next())
        guard isEnabled else { throw NotWritten(outcome: .providerDisabled) }
        guard hasRoom else { throw SignInPace.reached }
        guard isRedeemable else { throw NotWritten(outcome: .stale) }
    }
}

/// Rolls back a write, which has this outcome.
package struct NotWritten: Error, Sendable {
    package var outcome: WriteOutcome
}

/// The outcome of a write that was decided on an earlier read.
package enum WriteOutcome: Sendable, Hashable {
    /// With the account's current `validSince`.
    case applied(validSince: Int64)
    /// Something that the decision depends on has changed: read and decide again.
    case stale
    case providerDisabled
    /// The one-time ID token was used before.
    case duplicateToken

    /// If another account took a claim, the decision is stale.
    ///
    /// - Throws: any other error.
    init(_ error: PostgresError) throws(PostgresError) {
        switch error.constraint {
        case "used_id_tokens_pkey": self = .duplicateToken
        case "account_emails_pkey", "credential_subjects_pkey", "linked_credentials_pkey", "accounts_pkey",
            // Opened by a statement that ran before its connection was lost, for an account that has changed since.
            "sessions_pkey":
            self = .stale
        default: throw error
        }
    }
}
