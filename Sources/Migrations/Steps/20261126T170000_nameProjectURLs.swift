import Postgres

extension Migration {
    /// A project's own URL is no other project's.
    package static let nameProjectURLs = Migration(
        name: "20261126T170000_nameProjectURLs",
        sql: ["CREATE UNIQUE INDEX projects_public_url_idx ON projects ((config ->> 'publicURL'))"]
    )
}
