import Postgres

extension Migration {
    /// When a session's refresh token was replaced by its successor: the last eight times, the newest first.
    package static let rotateRefreshTokens = Migration(
        name: "20261121T010000_rotateRefreshTokens",
        sql: ["ALTER TABLE sessions ADD COLUMN rotations timestamptz[] NOT NULL DEFAULT '{}'"]
    )
}
