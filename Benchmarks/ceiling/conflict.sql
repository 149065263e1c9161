-- The answer to a conflict: the account that has the address, and the credential that waits from now on, with the
-- audit entry.
\set n random(1, :accounts)
SELECT a.account, a.version, a.email, a.email_original, a.email_verified, a.initial_email, a.display_name, a.photo_url,
    a.phone_number, a.password_hash IS NOT NULL, a.password_updated_at, a.email_link, a.custom_auth, a.custom_attributes,
    a.disabled, a.valid_since, a.created_at, a.screen_name, a.language, a.time_zone, a.date_of_birth, l.provider, l.subject,
    l.email, l.display_name, l.photo_url, l.screen_name
FROM accounts a
LEFT JOIN linked_credentials l ON l.project = a.project AND l.tenant = a.tenant AND l.account = a.account
WHERE a.project = 'bench-project' AND a.tenant = '' AND a.account IN (
    SELECT account FROM account_emails
    WHERE project = 'bench-project' AND tenant = '' AND email_key = 'u' || :n || '@example.com'
    UNION ALL
    SELECT account FROM credential_subjects
    WHERE project = 'bench-project' AND tenant = '' AND provider = 'oidc.bench' AND subject = 'stranger' || :n
);
WITH audit AS (
    INSERT INTO audit_log (project, recorded_at, tenant, provider, action, actor, address_prefix, request, operation)
    VALUES ('bench-project', now(), '', 'oidc.bench', 'CONFLICT_FOUND', 'account', '127.0.0.0/24', 'pgbench0000',
        'POST /v1/accounts.signInWithIdp')
)
INSERT INTO pending_credentials (project, handle_hash, tenant, provider, subject, id_token_hash, payload, created_at,
    expires_at)
SELECT 'bench-project', sha256(id::bytea), '', 'oidc.bench', 'stranger' || :n, sha256(id::bytea),
    decode(repeat('00', 1800), 'hex'), now(), now() + interval '1 hour'
FROM (SELECT gen_random_uuid()::text AS id) i;
