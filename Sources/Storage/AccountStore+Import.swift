package import Linking
import Passwords
import Postgres
package import Projects
package import struct Foundation.Date

extension AccountStore {
    /// Writes an account as it was elsewhere, with everything that it holds, in one statement: whole or not at all.
    ///
    /// - Returns: which claim somebody else holds, nil when the account was written.
    package func importAccount(
        _ account: Account,
        password: StoredPassword?,
        in scope: Scope,
        now: Date
    ) async throws -> ClaimConflict? {
        let target: SQL = """
            INSERT INTO accounts (project, account, tenant, methods, valid_since, disabled, email, email_original,
                email_verified, email_link, initial_email, phone_number, display_name, photo_url, screen_name, language,
                time_zone, date_of_birth, custom_attributes, custom_auth, password_hash, password_salt,
                password_parameters, password_updated_at, second_factors, created_at)
            VALUES (\(scope.project.rawValue), \(account.id.rawValue), \(scope.tenant.rawValue),
                \(account.methodNames), \(account.validSince), \(account.disabled), \(account.email?.canonical),
                \(account.email?.original), \(account.emailVerified), \(account.emailLinkSignIn),
                \(account.initialEmail), \(account.phoneNumber), \(account.displayName), \(account.photoURL),
                \(account.screenName), \(account.language), \(account.timeZone), \(account.dateOfBirth),
                \(account.customAttributes), \(account.customAuth), \(password?.hash.hash), \(password?.hash.salt),
                \(password?.parameters), \(account.passwordUpdatedAt),
                \(try SecondFactorColumn.text(of: account.secondFactors)), \(account.createdAt))
            RETURNING account
            """
        var parts: [SQL] = []
        if let email = account.email { parts.append(claimEmail(email, scope)) }
        if let phone = account.phoneNumber { parts.append(claimPhone(phone, scope)) }
        if !account.linked.isEmpty { parts += importLinked(account.linked, scope, now: now) }
        if account.lastSignInAt != nil || account.lastRefreshAt != nil {
            parts.append(
                """
                INSERT INTO account_activity (project, account, last_sign_in_at, last_refresh_at)
                SELECT \(scope.project.rawValue), account, \(account.lastSignInAt), \(account.lastRefreshAt) FROM target
                """
            )
        }
        return try await claiming { _ = try await write(target: target, parts: parts) }
    }

    /// Of which issuer the subjects are is not known here: the first sign-in of each says.
    private func importLinked(_ linked: [LinkedCredential], _ scope: Scope, now: Date) -> [SQL] {
        let providers = linked.map(\.provider.rawValue)
        let subjects = linked.map(\.subject)
        return [
            """
            INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), n.provider, n.subject, t.account, ''
            FROM target t, unnest(\(providers)::text[], \(subjects)::text[]) n (provider, subject)
            """,
            """
            INSERT INTO linked_credentials (project, account, provider, tenant, subject, email, display_name,
                photo_url, screen_name, linked_at, updated_at)
            SELECT \(scope.project.rawValue), t.account, n.provider, \(scope.tenant.rawValue), n.subject,
                nullif(n.email, ''), nullif(n.display_name, ''), nullif(n.photo_url, ''), nullif(n.screen_name, ''),
                \(now), \(now)
            FROM target t, unnest(\(providers)::text[], \(subjects)::text[], \(linked.map { $0.email ?? "" })::text[],
                \(linked.map { $0.displayName ?? "" })::text[], \(linked.map { $0.photoURL ?? "" })::text[],
                \(linked.map { $0.screenName ?? "" })::text[])
                n (provider, subject, email, display_name, photo_url, screen_name)
            """,
        ]
    }
}
