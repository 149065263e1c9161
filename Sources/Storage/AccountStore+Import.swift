package import struct Foundation.Date
package import Domain
import Passwords
import Postgres
package import Projects
import Text

/// An account to import.
package struct ImportedAccount: Sendable {
    package var account: Account
    package var password: StoredPassword?
    /// Whether the file lacks the secret of an authenticator app: an account that is replaced keeps its own.
    package var keepsApp: Bool

    package init(account: Account, password: StoredPassword?, keepsApp: Bool = false) {
        self.account = account
        self.password = password
        self.keepsApp = keepsApp
    }
}

/// What at most one account can have, with the constraint that says so.
private struct Claim: Sendable, Hashable {
    var kind: ClaimConflict
    /// Empty except for a subject.
    var provider = ""
    var text: String
}

extension Account {
    /// In the order in which an import reports them.
    fileprivate var claims: [Claim] {
        var claims = [Claim(kind: .accountID, text: id.rawValue)]
        if let email { claims.append(Claim(kind: .email, text: email.canonical)) }
        if let phoneNumber { claims.append(Claim(kind: .phoneNumber, text: phoneNumber)) }
        claims += passkeys.map { Claim(kind: .passkey, text: $0.id) }
        claims += linked.map { Claim(kind: .subject, provider: $0.provider.rawValue, text: $0.subject) }
        return claims
    }
}

/// The result of an import.
package struct ImportedAccounts: Sendable {
    /// For each account that was not written, by index, a claim that another account holds.
    package var conflicts: [Int: ClaimConflict] = [:]
    /// The accounts that kept an authenticator app of the account they replaced, by index.
    package var keptApps: Set<Int> = []
}

extension AccountStore {
    /// Imports accounts with everything they hold, each completely or not at all, independently of the others.
    ///
    /// One statement writes all of them. If other accounts hold claims of some, a second one names these claims, and a
    /// third writes the rest. If another transaction has locked some, or changes claims at the same time, each half is
    /// tried separately, down to single accounts. If two accounts have the same claim, the first gets it.
    ///
    /// - Parameters:
    ///   - replaces: deletes an existing account with the same ID first, with its sessions and codes; otherwise the new
    ///     one is refused.
    ///   - dryRun: rolls everything back.
    package func importAccounts(
        _ accounts: [ImportedAccount],
        replaces: Bool,
        dryRun: Bool = false,
        in scope: Scope,
        now: Date
    ) async throws -> ImportedAccounts {
        var result = ImportedAccounts()
        // A stack: the last element is next.
        var waiting = replaces ? Self.runs(of: accounts).reversed() : [Array(accounts.indices)]
        while let indices = waiting.popLast() {
            guard !indices.isEmpty else { continue }
            let batch = indices.map { accounts[$0] }
            do {
                var kept: Set<String> = []
                let conflict = try await claiming {
                    kept = try await write(batch, replaces: replaces, dryRun: dryRun, scope, now: now)
                }
                guard let conflict else {
                    result.keptApps.formUnion(indices.filter { kept.contains(accounts[$0].account.id.rawValue) })
                    continue
                }
                guard indices.count > 1 else {
                    result.conflicts[indices[0]] = conflict
                    continue
                }
                let found = try await conflicts(of: batch.map(\.account), replaces: replaces, scope)
                if !found.isEmpty {
                    for (position, conflict) in found { result.conflicts[indices[position]] = conflict }
                    waiting.append(indices.filter { result.conflicts[$0] == nil })
                    continue
                }
            } catch let error as PostgresError where error.isRetryable && indices.count > 1 {}
            let middle = indices.count / 2
            waiting += [Array(indices[middle...]), Array(indices[..<middle])]
        }
        if !dryRun { growth.add(accounts.count) }
        return result
    }

    /// Consecutive accounts without a repeated ID: of two that replace the same account, the last stays.
    private static func runs(of accounts: [ImportedAccount]) -> [[Int]] {
        var runs: [[Int]] = [[]]
        var seen: Set<String> = []
        for (index, imported) in accounts.enumerated() {
            if !seen.insert(imported.account.id.rawValue).inserted {
                runs.append([])
                seen = [imported.account.id.rawValue]
            }
            runs[runs.count - 1].append(index)
        }
        return runs
    }

    /// The accounts that cannot be written, by index, because others hold their claims.
    private func conflicts(
        of accounts: [Account],
        replaces: Bool,
        _ scope: Scope
    ) async throws -> [Int: ClaimConflict] {
        let holders = try await holders(of: accounts.flatMap(\.claims), scope)
        let ids = Set(accounts.map(\.id.rawValue))
        // The accounts that are replaced, which frees their claims.
        var leaving: Set<String> = []
        if replaces {
            leaving = Set(holders.values.filter { $0.isReplaceable && ids.contains($0.account) }.map(\.account))
        }
        var reasons: [Int: ClaimConflict] = [:]
        while true {
            var refused: [Int: ClaimConflict] = [:]
            var taken: Set<Claim> = []
            for (index, account) in accounts.enumerated() {
                let claims = account.claims
                let conflict = claims.first { claim in
                    taken.contains(claim) || holders[claim].map { !leaving.contains($0.account) } == true
                }
                if let conflict { refused[index] = conflict.kind } else { taken.formUnion(claims) }
            }
            reasons.merge(refused) { first, _ in first }
            // An account that is not replaced keeps its claims.
            let staying = leaving.intersection(refused.keys.map { accounts[$0].id.rawValue })
            guard !staying.isEmpty else { return reasons.filter { refused[$0.key] != nil } }
            leaving.subtract(staying)
        }
    }

    private struct Holder: Sendable {
        var account: String
        /// False for one that was merged.
        var isReplaceable: Bool
    }

    /// Who holds claims, by one statement.
    private func holders(of claims: [Claim], _ scope: Scope) async throws -> [Claim: Holder] {
        func texts(_ kind: ClaimConflict) -> [String] { claims.filter { $0.kind == kind }.map(\.text) }
        let subjects = claims.filter { $0.kind == .subject }
        let providers = Array(Set(subjects.map(\.provider)))
        let rows = try await database.query(
            """
            SELECT \(ClaimConflict.accountID.rawValue)::text, '', account, account, merged_into IS NULL
            FROM accounts
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = ANY(\(texts(.accountID))::text[])
            UNION ALL
            SELECT \(ClaimConflict.email.rawValue)::text, '', email_key, account, true FROM account_emails
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND email_key = ANY(\(texts(.email))::text[])
            UNION ALL
            SELECT \(ClaimConflict.phoneNumber.rawValue)::text, '', phone_number, account, true FROM account_phones
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND phone_number = ANY(\(texts(.phoneNumber))::text[])
            UNION ALL
            SELECT \(ClaimConflict.passkey.rawValue)::text, '', credential, account, true FROM account_passkeys
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND credential = ANY(\(texts(.passkey))::text[])
            UNION ALL
            SELECT \(ClaimConflict.subject.rawValue)::text, provider, subject, account, true FROM credential_subjects
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND provider = ANY(\(providers)::text[]) AND subject = ANY(\(subjects.map(\.text))::text[])
            """
        ) { row -> (claim: Claim?, holder: Holder) in
            let kind = ClaimConflict(rawValue: try row.next())
            let (provider, text): (String, String) = (try row.next(), try row.next())
            let claim = kind.map { Claim(kind: $0, provider: provider, text: text) }
            return (claim, Holder(account: try row.next(), isReplaceable: try row.next()))
        }
        let fixed = Set(rows.filter { !$0.holder.isReplaceable }.map(\.holder.account))
        var holders: [Claim: Holder] = [:]
        for (claim, holder) in rows {
            guard let claim else { continue }
            holders[claim] = Holder(account: holder.account, isReplaceable: !fixed.contains(holder.account))
        }
        return holders
    }

    /// - Returns: the accounts that kept an authenticator app.
    private func write(
        _ accounts: [ImportedAccount],
        replaces: Bool,
        dryRun: Bool,
        _ scope: Scope,
        now: Date
    ) async throws -> Set<String> {
        guard replaces || dryRun else {
            let statements = try insertions(of: accounts, after: [:], scope, now: now)
            try await database.transaction { transaction in
                for statement in statements { transaction.write(statement) }
            }
            return []
        }
        do {
            return try await database.transaction { transaction in
                let ids = accounts.map(\.account.id.rawValue)
                let replaced = replaces ? try await clear(ids, scope, now: now, transaction) : [:]
                var accounts = accounts
                var kept: Set<String> = []
                for index in accounts.indices {
                    let id = accounts[index].account.id.rawValue
                    guard accounts[index].keepsApp, let app = replaced[id]?.apps.first,
                        !accounts[index].account.secondFactors.contains(where: { $0.id == app.id })
                    else { continue }
                    accounts[index].account.secondFactors.append(app)
                    kept.insert(id)
                }
                for statement in try insertions(of: accounts, after: replaced, scope, now: now) {
                    transaction.write(statement)
                }
                guard dryRun else { return kept }
                // They go with the next answer, or with the commit, which a trial has not.
                try await transaction.execute("SELECT 1")
                throw WrittenForTrial(keptApps: kept)
            }
        } catch let trial as WrittenForTrial {
            return trial.keptApps
        }
    }

    /// The state of an account that an import replaces.
    ///
    /// Its successor must not pass for it in decisions based on the old one, and all of its tokens are invalid.
    private struct Replaced {
        var version: Int64
        var validSince: Int64
        var customAuth: Bool
        /// Its authenticator apps.
        var apps: [SecondFactor]
    }

    /// Rolls a dry run back.
    private struct WrittenForTrial: Error {
        var keptApps: Set<String>
    }

    /// Deletes the accounts that exist, under their locks.
    ///
    /// - Returns: the versions that their successors must exceed.
    private func clear(
        _ accounts: [String],
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) async throws -> [String: Replaced] {
        let validSince: SQL = "greatest(valid_since, \(Int64(now.timeIntervalSince1970)))"
        let found = try await transaction.query(
            """
            SELECT account, version, \(sql: validSince), custom_auth, second_factors, email, phone_number FROM accounts a
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = ANY(\(accounts)::text[]) AND merged_into IS NULL
            ORDER BY account FOR UPDATE
            """
        ) { row -> (account: String, standing: Replaced, email: String?, phoneNumber: String?) in
            let account: String = try row.next()
            let standing = Replaced(
                version: try row.next(),
                validSince: try row.next(),
                customAuth: try row.next(),
                apps: try SecondFactorColumn.factors(in: row.next()).filter(\.isTOTP)
            )
            return (account, standing, try row.next(), try row.next())
        }
        guard !found.isEmpty else { return [:] }
        let ids = found.map(\.account)
        delete(ids, found.compactMap(\.email), found.compactMap(\.phoneNumber), scope, now: now, transaction)
        let linked = try await transaction.query(
            """
            DELETE FROM linked_credentials WHERE \(sql: scope.isOfRow) AND account = ANY(\(ids)::text[])
            RETURNING provider, subject
            """
        ) { row in (provider: try row.next(String.self), subject: try row.next(String.self)) }
        if !linked.isEmpty { release(linked, of: ids, scope, transaction) }
        return Dictionary(found.map { ($0.account, $0.standing) }) { first, _ in first }
    }

    /// Deletes accounts with everything they hold, except what is linked; their sessions end.
    private func delete(
        _ ids: [String],
        _ emails: [String],
        _ phoneNumbers: [String],
        _ scope: Scope,
        now: Date,
        _ transaction: PostgresTransaction
    ) {
        let ownCodes = OOBCodeType.allCases.filter { $0 != .emailSignIn }.map(\.rawValue)
        // Lists of keys: without statistics, the planner would scan a joined list once for each row of the table.
        let (isOf, isTheirs): (SQL, SQL) = (scope.isOfRow, "account = ANY(\(ids)::text[])")
        let deletions: [SQL] = [
            "account_emails WHERE \(sql: isOf) AND email_key = ANY(\(emails)::text[])",
            "account_phones WHERE \(sql: isOf) AND phone_number = ANY(\(phoneNumbers)::text[])",
            "account_passkeys WHERE \(sql: isOf) AND \(sql: isTheirs)",
            "account_activity WHERE \(sql: isOf) AND \(sql: isTheirs)",
            "detached_credentials WHERE \(sql: isOf) AND \(sql: isTheirs)",
            """
            verification_codes WHERE \(sql: isOf) AND purpose <> \(VerificationPurpose.signIn.rawValue)
                AND owner = ANY(\(ids)::text[])
            """,
            "oob_codes WHERE \(sql: isOf) AND type = ANY(\(ownCodes)::text[]) AND owner = ANY(\(ids)::text[])",
            "oob_codes WHERE \(sql: isOf) AND \(sql: OOBCode.restores(ids))",
            """
            oob_codes WHERE \(sql: isOf) AND type = \(OOBCodeType.emailSignIn.rawValue)
                AND owner = ANY(\(emails)::text[])
            """,
            "accounts WHERE \(sql: isOf) AND \(sql: isTheirs)",
        ]
        for deletion in deletions { transaction.write("DELETE FROM \(sql: deletion)") }
        transaction.write(
            """
            UPDATE sessions SET revoked_at = \(now)
            WHERE \(sql: isOf) AND \(sql: isTheirs) AND revoked_at IS NULL
            """
        )
    }

    /// Releases the subjects of deleted accounts, and the names that were kept for them.
    private func release(
        _ linked: [(provider: String, subject: String)],
        of ids: [String],
        _ scope: Scope,
        _ transaction: PostgresTransaction
    ) {
        let providers = Array(Set(linked.map(\.provider)))
        transaction.write(
            """
            DELETE FROM kept_names k
            USING unnest(\(linked.map(\.provider))::text[], \(linked.map(\.subject))::text[]) l (provider, subject)
            WHERE k.project = \(scope.project.rawValue) AND k.tenant = \(scope.tenant.rawValue)
                AND k.provider = l.provider AND k.subject = l.subject
            """
        )
        transaction.write(
            """
            DELETE FROM credential_subjects
            WHERE \(sql: scope.isOfRow) AND provider = ANY(\(providers)::text[])
                AND subject = ANY(\(linked.map(\.subject))::text[]) AND account = ANY(\(ids)::text[])
            """
        )
    }

    /// Statements whose rows have a fixed order, so that two uploads never deadlock.
    ///
    /// The accounts come first, so a duplicate ID is the first error.
    ///
    /// - Parameter replaced: the accounts that existed before, by ID.
    private func insertions(
        of imported: [ImportedAccount],
        after replaced: [String: Replaced],
        _ scope: Scope,
        now: Date
    ) throws -> [SQL] {
        let imported = imported.sorted { $0.account.id.rawValue < $1.account.id.rawValue }
        let accounts = imported.map(\.account)
        let entry = AuditEntry(.accountImported, in: scope, at: now)
        let imports: SQL = "unnest(\(accounts.map(\.id.rawValue))::text[]) n (account)"
        return [try rowInsertion(of: imported, after: replaced, scope)] + claimInsertions(of: accounts, scope)
            + linkedInsertions(of: accounts, scope, now: now) + activityInsertion(of: accounts, scope)
            + [entry.insertion(from: imports, account: "n.account")]
    }

    /// The claims, each kind in the order of its keys.
    private func claimInsertions(of accounts: [Account], _ scope: Scope) -> [SQL] {
        let emails = accounts.compactMap { account in
            account.email.map { (claim: $0.canonical, account.id.rawValue) }
        }
        .sorted { $0.claim < $1.claim }
        let phones = accounts.compactMap { account in
            account.phoneNumber.map { (claim: $0, account.id.rawValue) }
        }
        .sorted { $0.claim < $1.claim }
        let passkeys = accounts.flatMap { account in account.passkeys.map { (claim: $0.id, account.id.rawValue) } }
            .sorted { $0.claim < $1.claim }
        func insertion(_ table: SQL, _ key: SQL, _ claims: [(claim: String, String)]) -> [SQL] {
            guard !claims.isEmpty else { return [] }
            return [
                """
                INSERT INTO \(sql: table) (project, tenant, \(sql: key), account)
                SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), n.claim, n.account
                FROM unnest(\(claims.map(\.claim))::text[], \(claims.map(\.1))::text[]) n (claim, account)
                """
            ]
        }
        return insertion("account_emails", "email_key", emails) + insertion("account_phones", "phone_number", phones)
            + insertion("account_passkeys", "credential", passkeys)
    }

    /// The last sign-in and refresh of accounts that have one.
    private func activityInsertion(of accounts: [Account], _ scope: Scope) -> [SQL] {
        let active = accounts.filter { $0.lastSignInAt != nil || $0.lastRefreshAt != nil }
        guard !active.isEmpty else { return [] }
        return [
            """
            INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), n.account, n.last_sign_in_at, n.last_refresh_at
            FROM unnest(\(active.map(\.id.rawValue))::text[], \(active.map(\.lastSignInAt))::timestamptz[],
                \(active.map(\.lastRefreshAt))::timestamptz[]) n (account, last_sign_in_at, last_refresh_at)
            """
        ]
    }

    /// The accounts' own rows.
    private func rowInsertion(
        of imported: [ImportedAccount],
        after replaced: [String: Replaced],
        _ scope: Scope
    ) throws -> SQL {
        let accounts = imported.map(\.account)
        let factors = try accounts.map { try SecondFactorColumn.text(of: $0.secondFactors) }
        let passkeys = try accounts.map { try PasskeyColumn.text(of: $0.passkeys) }
        // Tokens of an account that had the ID, also of one that was deleted before, must count as revoked.
        let validSince = accounts.map { max($0.validSince, replaced[$0.id.rawValue]?.validSince ?? 0) }
        // No import takes a custom token's way in away.
        let customAuth = accounts.map { $0.customAuth || replaced[$0.id.rawValue]?.customAuth ?? false }
        return """
            INSERT INTO accounts (project, tenant, account, version, revoked_version, methods, valid_since, disabled,
                email, email_original, email_verified, email_link, initial_email, phone_number,
                \(sql: ProfileColumns.account.names), custom_attributes, custom_auth, password_hash,
                password_salt, password_parameters, password_updated_at, second_factors, passkeys, created_at)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), n.account, n.version, n.version,
                n.methods::text[], greatest(n.valid_since, (
                    SELECT max(s.auth_time) + 1 FROM sessions s
                    WHERE s.project = \(scope.project.rawValue) AND s.tenant = \(scope.tenant.rawValue)
                        AND s.account = n.account
                )), n.disabled, n.email, n.email_original, n.email_verified, n.email_link,
                n.initial_email, n.phone_number, \(sql: ProfileColumns.account.names("n.")), n.custom_attributes, n.custom_auth, n.password_hash,
                n.password_salt, n.password_parameters, n.password_updated_at, n.second_factors, n.passkeys,
                n.created_at
            FROM unnest(\(accounts.map(\.id.rawValue))::text[],
                \(accounts.map { (replaced[$0.id.rawValue]?.version ?? 0) + 1 })::bigint[],
                \(accounts.map { Self.arrayText($0.methodNames) })::text[], \(validSince)::bigint[],
                \(accounts.map(\.disabled))::boolean[], \(accounts.map(\.email?.canonical))::text[],
                \(accounts.map(\.email?.original))::text[], \(accounts.map(\.emailVerified))::boolean[],
                \(accounts.map(\.emailLinkSignIn))::boolean[], \(accounts.map(\.initialEmail))::text[],
                \(accounts.map(\.phoneNumber))::text[], \(sql: ProfileColumns.account.arrays(accounts.map(\.profile))),
                \(accounts.map(\.customAttributes))::text[],
                \(customAuth)::boolean[], \(imported.map(\.password?.hash.hash))::bytea[],
                \(imported.map(\.password?.hash.salt))::bytea[], \(imported.map(\.password?.parameters))::text[],
                \(accounts.map(\.passwordUpdatedAt))::timestamptz[], \(factors)::text[], \(passkeys)::text[],
                \(accounts.map(\.createdAt))::timestamptz[])
                n (account, version, methods, valid_since, disabled, email, email_original, email_verified,
                    email_link, initial_email, phone_number, \(sql: ProfileColumns.account.names), custom_attributes, custom_auth, password_hash, password_salt,
                    password_parameters, password_updated_at, second_factors, passkeys, created_at)
            """
    }

    /// The subjects' issuer is unknown here; each identity's first sign-in sets it.
    private func linkedInsertions(of accounts: [Account], _ scope: Scope, now: Date) -> [SQL] {
        let linked = accounts.flatMap { account in account.linked.map { (account: account.id.rawValue, $0) } }
            .sorted { ($0.1.provider.rawValue, $0.1.subject) < ($1.1.provider.rawValue, $1.1.subject) }
        let owners = linked.map(\.account)
        let credentials = linked.map(\.1)
        let providers = credentials.map(\.provider.rawValue)
        let subjects = credentials.map(\.subject)
        guard !linked.isEmpty else { return [] }
        return [
            """
            INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
            SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), n.provider, n.subject, n.account, ''
            FROM unnest(\(providers)::text[], \(subjects)::text[], \(owners)::text[]) n (provider, subject, account)
            """,
            """
            INSERT INTO linked_credentials (project, account, provider, tenant, subject, email,
                \(sql: ProfileColumns.identity.names), linked_at, updated_at)
            SELECT \(scope.project.rawValue), n.account, n.provider, \(scope.tenant.rawValue), n.subject,
                nullif(n.email, ''), \(sql: ProfileColumns.identity.names("n.")), \(now), \(now)
            FROM unnest(\(owners)::text[], \(providers)::text[], \(subjects)::text[],
                \(credentials.map(\.email))::text[],
                \(sql: ProfileColumns.identity.arrays(credentials.map(\.profile))))
                n (account, provider, subject, email, \(sql: ProfileColumns.identity.names))
            """,
        ]
    }

    /// An array of texts in PostgreSQL's format, because an array of arrays cannot have rows of different lengths.
    private static func arrayText(_ texts: [String]) -> String {
        let quoted = texts.map { "\"\($0.escaped(.arrayElement))\"" }
        return "{" + quoted.joined(separator: ",") + "}"
    }
}
