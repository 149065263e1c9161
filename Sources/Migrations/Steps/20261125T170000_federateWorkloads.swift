import Postgres

extension Migration {
    /// Workloads: rows of `admin_credentials` of the kind `workload`, which have no secret.
    ///
    /// - `issuer`, `audience`: `iss` of a workload's tokens, and one value of their `aud`.
    /// - `jwks`: the issuer's keys, if they are not found by discovery.
    /// - `claims`: an object of further claims and their exact values.
    /// - `token_lifetime`: of its access tokens, in seconds.
    ///
    /// Their tokens, each exchanged once, are in `used_id_tokens` without a project.
    package static let federateWorkloads = Migration(
        name: "20261125T170000_federateWorkloads",
        sql: [
            """
            ALTER TABLE admin_credentials
                ADD COLUMN issuer text,
                ADD COLUMN jwks text,
                ADD COLUMN audience text,
                ADD COLUMN claims jsonb,
                ADD COLUMN token_lifetime bigint
            """
        ]
    )
}
