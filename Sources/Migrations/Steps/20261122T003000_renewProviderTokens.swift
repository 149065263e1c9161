import Postgres

extension Migration {
    /// Renewal of providers' tokens.
    ///
    /// The refresh token is stored apart from the rest, so that a response without one keeps it. Further columns: a
    /// number that every change of the tokens increases, the time limit of a renewal in progress, and when the provider
    /// last required the user to sign in there again.
    package static let renewProviderTokens = Migration(
        name: "20261122T003000_renewProviderTokens",
        sql: [
            """
            ALTER TABLE linked_credentials
                ADD COLUMN refresh_token bytea,
                ADD COLUMN refresh_generation bigint NOT NULL DEFAULT 0,
                ADD COLUMN refresh_leased_until timestamptz,
                ADD COLUMN consent_needed_at timestamptz
            """
        ]
    )
}
