import Postgres

extension Migration {
    /// When a session's refresh tokens were replaced: the last eight times, newest first.
    package static let rotateRefreshTokens = Migration(
        name: "20261121T010000_rotateRefreshTokens",
        sql: ["ALTER TABLE sessions ADD COLUMN rotations timestamptz[] NOT NULL DEFAULT '{}'"]
    )
}
