-- Sign-in by the link of a mail of somebody who came so before: the code, the account that has its address, and in one
-- statement the end of the code, the session, the activity and the audit entry. Codes of its own, of which some are met twice.
\set n random(1, :accounts)
SELECT type, owner, email, new_email, proved, valid_until FROM oob_codes
WHERE project = 'bench-project' AND code_hash = sha256(('pgbench' || :n)::bytea) AND tenant IS NOT DISTINCT FROM '';
SELECT a.account, a.version, a.email, a.email_original, a.email_verified, a.initial_email, a.display_name, a.photo_url,
    a.phone_number, a.password_hash IS NOT NULL, a.password_updated_at, a.email_link, a.custom_auth, a.custom_attributes,
    a.disabled, a.valid_since, a.created_at, v.last_sign_in_at, v.last_refresh_at, a.screen_name, a.language, a.time_zone,
    a.date_of_birth, l.provider, l.subject, l.email, l.display_name, l.photo_url, l.screen_name
FROM account_emails e
JOIN accounts a ON a.project = e.project AND a.tenant = e.tenant AND a.account = e.account
LEFT JOIN account_activity v ON v.project = a.project AND v.tenant = a.tenant AND v.account = a.account
LEFT JOIN linked_credentials l ON l.project = a.project AND l.tenant = a.tenant AND l.account = a.account
WHERE e.project = 'bench-project' AND e.tenant = '' AND e.email_key = 'u' || :n || '@example.com';
WITH owner AS (
    SELECT account FROM accounts WHERE project = 'bench-project' AND tenant = '' AND account = 'u' || :n
        AND disabled IS NOT TRUE AND email = 'u' || :n || '@example.com' AND email_verified AND email_link
    FOR SHARE
), code AS (
    DELETE FROM oob_codes WHERE project = 'bench-project' AND code_hash = sha256(('pgbench' || :n)::bytea)
        AND tenant IS NOT DISTINCT FROM '' AND EXISTS (SELECT FROM owner)
    RETURNING code_hash
), session AS (
    INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
        last_used_at, user_agent, address_prefix)
    SELECT 'bench-project', account, replace(gen_random_uuid()::text, '-', ''), '', sha256(account::bytea), 0, 'password',
        now(), now(), 'pgbench', '127.0.0.0/24'
    FROM owner
    RETURNING account, session
), activity AS (
    INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
    SELECT 'bench-project', '', account, now(), now() FROM owner
    ON CONFLICT (project, tenant, account) DO UPDATE
        SET last_sign_in_at = excluded.last_sign_in_at, last_refresh_at = excluded.last_refresh_at
), audit AS (
    INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, actor, address_prefix,
        request, operation)
    SELECT 'bench-project', now(), '', account, 'password', session, 'SIGNED_IN', 'account', '127.0.0.0/24',
        'pgbench0000', 'POST /v1/accounts.signInWithEmailLink'
    FROM session
)
SELECT EXISTS (SELECT FROM owner), EXISTS (SELECT FROM code);
