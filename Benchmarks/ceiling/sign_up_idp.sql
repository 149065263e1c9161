-- A first sign-in: account, claims, linked credential, session, activity and audit entry in one statement.
WITH id AS MATERIALIZED (
    SELECT replace(gen_random_uuid()::text, '-', '') AS account
), account AS (
    INSERT INTO accounts (project, account, tenant, methods, valid_since, email, email_original, email_verified,
        display_name, created_at)
    SELECT 'bench-project', account, '', '{oidc.bench}', 0, account || '@example.net', account || '@example.net', true,
        'Ada Lovelace', now()
    FROM id RETURNING account
), email AS (
    INSERT INTO account_emails SELECT 'bench-project', '', account || '@example.net', account FROM account
), subject AS (
    INSERT INTO credential_subjects
    SELECT 'bench-project', '', 'oidc.bench', account, account, 'https://bench.example' FROM account
), credential AS (
    INSERT INTO linked_credentials (project, account, provider, tenant, subject, email, display_name, tokens, profile,
        linked_at, updated_at)
    SELECT 'bench-project', account, 'oidc.bench', '', account, account || '@example.net', 'Ada Lovelace',
        decode(repeat('00', 900), 'hex'), decode(repeat('00', 300), 'hex'), now(), now()
    FROM account
), session AS (
    INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, created_at,
        last_used_at, user_agent, address_prefix)
    SELECT 'bench-project', account, account, '', sha256(account::bytea), 0, 'oidc.bench', now(), now(), 'pgbench',
        '127.0.0.0/24'
    FROM account
), activity AS (
    INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
    SELECT 'bench-project', '', account, now(), now() FROM account
), audit AS (
    INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, actor, address_prefix,
        request, operation)
    SELECT 'bench-project', now(), '', account, 'oidc.bench', account, 'ACCOUNT_CREATED', 'account', '127.0.0.0/24',
        'pgbench0000', 'POST /v1/accounts.signInWithIdp'
    FROM account
)
SELECT account FROM account;
