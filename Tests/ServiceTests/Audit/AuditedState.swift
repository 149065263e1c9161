import Postgres
import TestKit

/// What the audit log has to tell about: when it differs, there is an entry more.
struct AuditedState: Equatable {
    /// Of all rows, without what a use of them notes.
    private let rows: String

    private init(rows: String) { self.rows = rows }

    static func read() async throws -> AuditedState {
        let rows = try await TestDatabase.current.client.query(
            """
            SELECT coalesce(md5(string_agg(row, ' ' ORDER BY row)), '') FROM (
                SELECT 'account ' || (to_jsonb(t) - 'version')::text AS row FROM accounts t
                UNION ALL SELECT 'email ' || t::text FROM account_emails t
                UNION ALL SELECT 'phone ' || t::text FROM account_phones t
                UNION ALL SELECT 'subject ' || (to_jsonb(t) - 'issuer')::text FROM credential_subjects t
                UNION ALL SELECT 'linked ' || (to_jsonb(t) - '{tokens,refresh_token,refresh_generation,
                    refresh_leased_until,updated_at,profile,token_client}'::text[])::text FROM linked_credentials t
                UNION ALL SELECT 'session ' || (to_jsonb(t) - '{secret_hash,browser_session,previous_hash,generation,rotations,
                    successor_used_at,last_used_at}'::text[])::text FROM sessions t
                UNION ALL SELECT 'pending ' || t::text FROM pending_credentials t
                UNION ALL SELECT 'project ' || t::text FROM projects t
                UNION ALL SELECT 'tenant ' || t::text FROM tenants t
                UNION ALL SELECT 'key ' || t::text FROM api_keys t
                UNION ALL SELECT 'provider ' || t::text FROM provider_configurations t
                UNION ALL SELECT 'admin ' || (to_jsonb(t) - 'last_used_at')::text FROM admin_credentials t
                UNION ALL SELECT 'client ' || (to_jsonb(t) - 'expires_at')::text FROM oauth_clients t
                UNION ALL SELECT 'signing ' || kid FROM signing_keys
            ) a (row)
            """
        ) { try $0.next(String.self) }
        return AuditedState(rows: rows.first ?? "")
    }

    /// How many entries there are.
    static func entries() async throws -> Int64 {
        try await TestDatabase.current.client.query("SELECT count(*) FROM audit_log") {
            try $0.next(Int64.self)
        }.first ?? 0
    }
}
