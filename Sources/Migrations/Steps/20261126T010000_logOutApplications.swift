import Postgres

extension Migration {
    /// Applications learn that a user's session with them has ended.
    ///
    /// `browser_session`: from which of the account's sessions an application's was opened. `tells_client`: whether the
    /// application has to be told when the session ends.
    package static let logOutApplications = Migration(
        name: "20261126T010000_logOutApplications",
        sql: [
            """
            ALTER TABLE sessions
                ADD COLUMN browser_session text,
                ADD COLUMN tells_client boolean NOT NULL DEFAULT false
            """
        ]
    )
}
