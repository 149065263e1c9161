-- An account with a password: the look for its address, then account, claim, session, activity and audit entry in
-- one statement.
\set n random(1, 1000000000)
SELECT account FROM account_emails WHERE project = 'bench-project' AND tenant = '' AND email_key = 'nobody' || :n;
WITH target AS (
    INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original, email_verified,
        password_hash, password_salt, password_parameters, password_updated_at, created_at)
    SELECT 'bench-project', id, '', '{password}', 0, id || '@example.net', id || '@example.net', false,
        decode(repeat('00', 64), 'hex'), decode(repeat('00', 16), 'hex'), '8,14,Bw==', now(), now()
    FROM replace(gen_random_uuid()::text, '-', '') id
    RETURNING account
), email AS (
    INSERT INTO account_emails SELECT 'bench-project', '', account || '@example.net', account FROM target
), session AS (
    INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
        last_used_at, user_agent, address_prefix)
    SELECT 'bench-project', account, account, '', sha256(account::bytea), 0, 'password', now(), now(), 'pgbench',
        '127.0.0.0/24'
    FROM target
), activity AS (
    INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
    SELECT 'bench-project', '', account, now(), now() FROM target
), audit AS (
    INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, actor, address_prefix,
        request, operation)
    SELECT 'bench-project', now(), '', account, 'password', account, 'ACCOUNT_CREATED', 'account', '127.0.0.0/24',
        'pgbench0000', 'POST /v1/accounts.signUp'
    FROM target
)
SELECT EXISTS (SELECT FROM target);
