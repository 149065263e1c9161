import Postgres

extension Migration {
    /// Renewal of providers' tokens: their refresh token apart from the rest, so that an answer without one keeps it; a
    /// number that every change of the tokens moves; how long whoever renews them may take; and when the provider last
    /// said that it wants the person to sign in there again.
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
