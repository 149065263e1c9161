-- Sign-in of a known identity: the account by its identity, then in one statement the session, the activity and
-- the audit entry.
\set n random(1, :accounts)
WITH target AS (
    SELECT a.* FROM credential_subjects c JOIN accounts a ON a.project = c.project AND a.tenant = c.tenant AND a.account = c.account
    WHERE c.project = 'bench-project' AND c.tenant = '' AND c.provider = 'oidc.bench' AND c.subject = 's' || :n
), session AS (
    INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
        last_used_at, user_agent, address_prefix)
    SELECT project, account, replace(gen_random_uuid()::text, '-', ''), tenant, sha256(account::bytea), 0, 'oidc.bench',
        now(), now(), 'pgbench', '127.0.0.0/24'
    FROM target RETURNING account, session
), activity AS (
    INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
    SELECT project, tenant, account, now(), now() FROM target
    ON CONFLICT (project, tenant, account) DO UPDATE
        SET last_sign_in_at = excluded.last_sign_in_at, last_refresh_at = excluded.last_refresh_at
), audit AS (
    INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, actor, address_prefix,
        request, operation)
    SELECT 'bench-project', now(), '', account, 'oidc.bench', session, 'SIGNED_IN', 'account', '127.0.0.0/24',
        'pgbench0000', 'POST /v1/accounts.signInWithIdp'
    FROM session
)
SELECT a.account, a.version, a.email, a.email_original, a.email_verified, a.initial_email, a.display_name, a.photo_url,
    a.phone_number, a.password_hash IS NOT NULL, a.password_updated_at, a.email_link, a.custom_auth, a.custom_attributes,
    a.disabled, a.valid_since, a.created_at, a.screen_name, a.language, a.time_zone, a.date_of_birth, l.provider, l.subject,
    l.email, l.display_name, l.photo_url, l.screen_name, s.session
FROM target a CROSS JOIN session s
LEFT JOIN linked_credentials l ON l.project = a.project AND l.tenant = a.tenant AND l.account = a.account;
