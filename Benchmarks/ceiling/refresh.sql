-- Rotation of a refresh token: finds the session by its key, puts another secret in its place, returns what a token needs.
\set n random(1, :accounts)
WITH s AS (
    UPDATE sessions SET secret_hash = sha256(secret_hash), generation = generation + 1, last_used_at = now()
    WHERE project = 'bench-project' AND account = 'u' || :n AND session = 'session' || lpad(:n::text, 14, '0') || 'A'
    RETURNING project, account, session, tenant, auth_time, sign_in_provider, claims, sign_in_attributes, revoked_at
)
SELECT s.tenant, s.session, s.auth_time, s.sign_in_provider, s.claims, s.sign_in_attributes, s.revoked_at, a.account,
    a.version, a.email, a.email_original, a.email_verified, a.display_name, a.photo_url, a.phone_number, a.custom_attributes,
    a.disabled, a.valid_since, l.provider, l.subject
FROM s JOIN accounts a ON a.project = s.project AND a.account = s.account
LEFT JOIN linked_credentials l ON l.project = a.project AND l.account = a.account;
