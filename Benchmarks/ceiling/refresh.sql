-- Rotation of a refresh token: finds the session by its key, puts another secret in its place, returns what the service reads.
\set n random(1, :accounts)
WITH s AS (
    UPDATE sessions SET secret_hash = sha256(secret_hash), generation = generation + 1, last_used_at = now(),
        rotations = (array_prepend(now(), rotations))[1:8],
        successor_used_at = CASE WHEN previous_hash IS NOT NULL THEN coalesce(successor_used_at, now()) END
    WHERE project = 'bench-project' AND tenant = '' AND account = 'u' || :n AND session = 'session' || lpad(:n::text, 14, '0') || 'A'
        AND revoked_at IS NULL
    RETURNING *
)
SELECT s.tenant, s.session, s.auth_time, s.sign_in_provider, s.claims, s.sign_in_attributes, s.revoked_at IS NOT NULL,
    s.successor_used_at, a.account, a.version, a.email, a.email_original, a.email_verified, a.initial_email, a.display_name,
    a.photo_url, a.phone_number, a.password_hash IS NOT NULL, a.password_updated_at, a.email_link, a.custom_auth,
    a.custom_attributes, a.disabled, a.valid_since, a.created_at, a.screen_name, a.language, a.time_zone, a.date_of_birth,
    l.provider, l.subject, l.email, l.display_name, l.photo_url, l.screen_name
FROM s JOIN accounts a ON a.project = s.project AND a.tenant = s.tenant AND a.account = s.account
LEFT JOIN linked_credentials l ON l.project = a.project AND l.tenant = a.tenant AND l.account = a.account;
