-- The admin's credential; an account with its activity and linked credentials.
\set n random(1, :accounts)
SELECT id, name, project, scopes, expires_at, disabled, created_at, last_used_at FROM admin_credentials
WHERE secret_hash = '\x00' AND kind = 'key';
SELECT a.account, a.version, a.email, a.email_original, a.email_verified, a.initial_email, a.display_name, a.photo_url,
    a.phone_number, a.password_hash IS NOT NULL, a.password_updated_at, a.email_link, a.custom_auth, a.custom_attributes,
    a.disabled, a.valid_since, a.created_at, v.last_sign_in_at, v.last_refresh_at, a.screen_name, a.language, a.time_zone,
    a.date_of_birth, a.second_factors, l.provider, l.subject, l.email, l.display_name, l.photo_url, l.screen_name
FROM accounts a
LEFT JOIN account_activity v ON v.project = a.project AND v.tenant = a.tenant AND v.account = a.account
LEFT JOIN linked_credentials l ON l.project = a.project AND l.tenant = a.tenant AND l.account = a.account
WHERE a.project = 'bench-project' AND a.tenant = '' AND a.account = md5(:n::text);
