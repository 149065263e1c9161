-- A refresh without rotation: finds the session by its key, returns what a token needs.
\set n random(1, :accounts)
SELECT s.tenant, s.session, s.auth_time, s.sign_in_provider, s.claims, s.sign_in_attributes, s.revoked_at, s.secret_hash,
    a.account, a.version, a.email, a.email_original, a.email_verified, a.display_name, a.photo_url, a.phone_number,
    a.custom_attributes, a.disabled, a.valid_since, l.provider, l.subject
FROM sessions s JOIN accounts a ON a.project = s.project AND a.account = s.account
LEFT JOIN linked_credentials l ON l.project = a.project AND l.account = a.account
WHERE s.project = 'bench-project' AND s.account = 'u' || :n
    AND s.session = 'session' || lpad(:n::text, 14, '0') || 'A';
