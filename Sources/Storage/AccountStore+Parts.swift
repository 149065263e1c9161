import Domain
import Federation
import Foundation
import Postgres
import Projects
import Secrets
import Sessions

/// The parts of sign-in statements; each writes only if the statement has a `target`.
extension AccountStore {
    /// The first statement of a transaction that changes the account or ends its sessions.
    static func locking(_ account: AccountID, _ scope: Scope) -> SQL {
        """
        SELECT true FROM accounts
        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND account = \(account.rawValue) AND merged_into IS NULL
        FOR UPDATE
        """
    }

    func linkParts(_ account: AccountID, _ write: SignInWrite) throws -> [SQL] {
        [claimSubject(write), try insertLinked(write, account: account)]
    }

    func claimSubject(_ write: SignInWrite) -> SQL {
        let identity = write.credential.identity
        return """
            INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
            SELECT \(write.scope.project.rawValue), \(write.scope.tenant.rawValue), \(identity.provider.rawValue),
                \(identity.subject), account, \(identity.issuer)
            FROM target
            """
    }

    func claimEmail(_ email: EmailAddress, _ scope: Scope) -> SQL {
        """
        INSERT INTO account_emails (project, tenant, email_key, account)
        SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(email.canonical), account FROM target
        """
    }

    /// Releases the account's subjects, all or those of one provider.
    func releaseSubjects(of account: AccountID, _ scope: Scope, provider: ProviderID?) -> SQL {
        """
        DELETE FROM credential_subjects c USING linked_credentials l
        WHERE l.project = \(scope.project.rawValue) AND l.tenant = \(scope.tenant.rawValue)
            AND l.account IN (SELECT account FROM target)
            AND (\(provider?.rawValue)::text IS NULL OR l.provider = \(provider?.rawValue))
            AND c.project = l.project AND c.tenant = l.tenant AND c.provider = l.provider AND c.subject = l.subject
        """
    }

    func insertLinked(_ write: SignInWrite, account: AccountID) throws -> SQL {
        let identity = write.credential.identity
        let sealed = try keyRing.seal(write, account: account)
        return """
            INSERT INTO linked_credentials (project, account, provider, tenant, subject, email,
                \(sql: ProfileColumns.identity.names), email_is_relay, real_user_status, tokens, refresh_token,
                token_client, profile, linked_at, updated_at)
            SELECT \(write.scope.project.rawValue), account, \(identity.provider.rawValue),
                \(write.scope.tenant.rawValue), \(identity.subject), \(identity.email?.canonical),
                \(sql: ProfileColumns.identity.values(identity.profile)),
                \(identity.relayFlag), \(identity.realUserStatus.map { Int32($0) }), \(sealed.tokens.access),
                \(sealed.tokens.refresh), \(write.credential.tokens.clientID), \(sealed.profile), \(write.now),
                \(write.now)
            FROM target
            """
    }

    /// Replaces the old subject with another one of the same provider.
    func replaceLinked(_ write: SignInWrite, account: AccountID) throws -> SQL {
        let identity = write.credential.identity
        let sealed = try keyRing.seal(write, account: account)
        return """
            UPDATE linked_credentials SET subject = \(identity.subject), email = \(identity.email?.canonical),
                \(sql: ProfileColumns.identity.setting(identity.profile)), email_is_relay = \(identity.relayFlag),
                email_forwarding = NULL, real_user_status = \(identity.realUserStatus.map { Int32($0) }),
                tokens = \(sealed.tokens.access), refresh_token = \(sealed.tokens.refresh),
                token_client = \(write.credential.tokens.clientID), \(sql: Self.newTokens), profile = \(sealed.profile),
                linked_at = \(write.now), updated_at = \(write.now)
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account IN (SELECT account FROM target)
                AND provider = \(identity.provider.rawValue)
            """
    }

    /// Some providers return a refresh token only once, so a missing one keeps the old one.
    func storeTokens(of account: AccountID, _ write: SignInWrite) throws -> SQL {
        let sealed = try keyRing.seal(write, account: account)
        return """
            UPDATE linked_credentials SET tokens = \(sealed.tokens.access),
                refresh_token = coalesce(\(sealed.tokens.refresh), refresh_token), \(sql: Self.newTokens),
                token_client = \(write.credential.tokens.clientID), updated_at = \(write.now),
                display_name = coalesce(\(write.credential.nameDeliveredOnce), display_name)
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account IN (SELECT account FROM target)
                AND provider = \(write.credential.identity.provider.rawValue)
            """
    }

    /// The user has just consented, so a concurrent renewal of the old tokens must not overwrite these.
    private static let newTokens: SQL = """
        refresh_generation = refresh_generation + 1, refresh_leased_until = NULL, consent_needed_at = NULL
        """

    /// Inserts a session for `target`, whose `valid_since` is the earliest time at which it can start.
    func insertSession(_ session: NewSession, _ scope: Scope, now: Date) -> SQL {
        """
        INSERT INTO sessions (project, account, session, tenant, secret_hash, auth_time, sign_in_provider, claims,
            sign_in_attributes, second_factor, second_factor_identifier, created_at, last_used_at, user_agent,
            address_prefix)
        SELECT \(scope.project.rawValue), account, \(session.id.rawValue), \(scope.tenant.rawValue),
            \(session.secretHash), greatest(\(session.authTime), valid_since), \(session.signInProvider.rawValue),
            \(session.claims), \(session.signInAttributes), \(session.secondFactor?.kind),
            \(session.secondFactor?.enrollment), \(now), \(now), \(session.userAgent), \(session.addressPrefix)
        FROM target
        """
    }

    /// Renews a session.
    ///
    /// `auth_time` changes only with evidence, or if all others end and one of them began later. The second factor is that
    /// of the row or of the evidence.
    func renewSession(_ session: ContinuedSession, _ scope: Scope, retiresOldSecret: Bool, now: Date) -> SQL {
        let signsIn: SQL =
            session.evidence != nil || retiresOldSecret
            ? "auth_time = greatest(s.auth_time, \(session.evidence?.provedAt), t.valid_since)," : ""
        return """
            UPDATE sessions s SET previous_hash = secret_hash, secret_hash = \(session.secretHash),
                generation = generation + 1, rotations = (array_prepend(\(now), rotations))[1:8],
                retired_below = CASE WHEN \(retiresOldSecret) THEN generation + 1 ELSE retired_below END,
                successor_used_at = CASE WHEN \(retiresOldSecret) THEN '-infinity'::timestamptz END,
                earlier_providers = CASE
                    WHEN sign_in_provider = \(session.signInProvider.rawValue)
                        OR sign_in_provider = ANY(earlier_providers) THEN earlier_providers
                    ELSE array_append(earlier_providers, sign_in_provider)
                END,
                \(sql: signsIn) sign_in_provider = \(session.signInProvider.rawValue),
                claims = \(session.claims), sign_in_attributes = \(session.signInAttributes),
                second_factor = \(session.secondFactor?.kind),
                second_factor_identifier = \(session.secondFactor?.enrollment), last_used_at = \(now)
            FROM target t
            WHERE s.project = \(scope.project.rawValue) AND s.tenant = \(scope.tenant.rawValue)
                AND s.account = t.account
                AND s.session = \(session.session.id.rawValue) AND s.revoked_at IS NULL
            """
    }

    /// The `valid_since` of an account whose sessions end: it only grows and is later than each session that ends,
    /// whichever node's clock it was opened by, and than those that ended before, because their session cookies may
    /// live on.
    ///
    /// A previous statement has locked the account, so this one sees every session.
    ///
    /// - Parameter ignored: the `auth_time` of a session that goes on without a new sign-in, and begins no later because
    ///   of others of the same second.
    func endingSessions(
        of account: AccountID,
        at seconds: Int64,
        except session: SessionID? = nil,
        ignoringUntil ignored: Int64 = -1,
        _ scope: Scope
    ) -> SQL {
        """
        greatest(valid_since, \(seconds), (
            SELECT max(auth_time) + 1 FROM sessions
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue)
                AND session IS DISTINCT FROM \(session?.rawValue) AND auth_time > \(ignored)
        ))
        """
    }

    func revokeSessions(of account: AccountID, _ scope: Scope, except session: SessionID?, now: Date) -> SQL {
        """
        UPDATE sessions SET revoked_at = \(now)
        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND account IN (SELECT account FROM target)
            AND revoked_at IS NULL AND session IS DISTINCT FROM \(session?.rawValue)
        """
    }

    func recordSignIn(_ scope: Scope, _ pace: SignInPace = .unlimited, now: Date) -> SQL {
        """
        INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at, sign_ins_until)
        SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), account, \(now), \(now),
            \(now)::timestamptz + make_interval(secs => \(pace.step)) FROM target
        ON CONFLICT (project, tenant, account) DO UPDATE
            SET last_sign_in_at = EXCLUDED.last_sign_in_at, last_refresh_at = EXCLUDED.last_refresh_at,
                \(sql: SignInPace.counting(now: now))
        """
    }
}

extension KeyRing {
    /// What a sign-in stores of its credential.
    func seal(
        _ write: SignInWrite,
        account: AccountID
    ) throws -> (tokens: SealedTokens, profile: [UInt8]) {
        let place = LinkedCredentialPlace(write.scope, account, write.credential.identity.provider)
        return (
            try seal(write.keptTokens, for: place),
            try seal(Array(write.credential.rawUserInfo.utf8), for: place.profile)
        )
    }
}

extension FederatedIdentity {
    /// The value of `email_is_relay`: null for providers without relays.
    var relayFlag: Bool? { emailIsRelay ? true : nil }

    var emailProof: EmailProof { EmailProof(provider: provider, subject: subject) }
}

extension FederatedCredential {
    var nameDeliveredOnce: String? { nameComesOnce ? identity.profile.displayName : nil }
}

extension SQL {
    /// Further parts of a statement, each by its number.
    static func further(_ parts: [SQL]) -> SQL {
        parts.enumerated().reduce("") {
            "\(sql: $0), \(sql: partName($1.offset)) AS (\(sql: $1.element))"
        }
    }

    /// The name of a statement's part: our own number, never a value.
    static func partName(_ number: Int) -> SQL {
        let names: [SQL] = [
            "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15",
        ]
        return names[number]
    }
}
