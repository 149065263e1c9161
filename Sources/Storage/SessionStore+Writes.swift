import Domain
import Postgres
import Projects
import Sessions

import struct Foundation.Date

/// The statements that open, continue and end sessions in a transaction that has locked their account.
extension SessionStore {
    /// Opens a session, which starts no earlier than `validSince`.
    static func opening(
        _ session: NewSession,
        of account: AccountID,
        validSince: Int64,
        _ scope: Scope,
        now: Date
    ) -> SQL {
        """
        INSERT INTO sessions (project, tenant, account, session, secret_hash, auth_time, sign_in_provider, claims,
            sign_in_attributes, second_factor, second_factor_identifier, created_at, last_used_at, user_agent,
            address_prefix)
        VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(account.rawValue), \(session.id.rawValue),
            \(session.secretHash), \(max(session.authTime, validSince)), \(session.signInProvider.rawValue),
            \(session.claims), \(session.signInAttributes), \(session.secondFactor?.kind),
            \(session.secondFactor?.enrollment), \(now), \(now), \(session.userAgent), \(session.addressPrefix))
        """
    }

    /// Gives a session its next secret.
    ///
    /// `auth_time` changes only with evidence, or if all others end and one of them began later. The second factor is that
    /// of the row or of the evidence.
    static func continuing(
        _ session: ContinuedSession,
        of account: AccountID,
        validSince: Int64,
        retiresOldSecret: Bool,
        _ scope: Scope,
        now: Date
    ) -> SQL {
        let signsIn = session.evidence != nil || retiresOldSecret
        let authTime = signsIn ? max(session.evidence?.provedAt ?? validSince, validSince) : 0
        return """
            UPDATE sessions SET previous_hash = secret_hash, secret_hash = \(session.secretHash),
                generation = generation + 1, rotations = \(sql: nextRotations(of: "sessions", now: now)),
                retired_below = CASE WHEN \(retiresOldSecret) THEN generation + 1 ELSE retired_below END,
                successor_used_at = CASE WHEN \(retiresOldSecret) THEN '-infinity'::timestamptz END,
                earlier_providers = CASE
                    WHEN sign_in_provider = \(session.signInProvider.rawValue)
                        OR sign_in_provider = ANY(earlier_providers) THEN earlier_providers
                    ELSE array_append(earlier_providers, sign_in_provider)
                END,
                auth_time = greatest(auth_time, \(authTime)), sign_in_provider = \(session.signInProvider.rawValue),
                claims = \(session.claims), sign_in_attributes = \(session.signInAttributes),
                second_factor = \(session.secondFactor?.kind),
                second_factor_identifier = \(session.secondFactor?.enrollment), last_used_at = \(now)
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                AND account = \(account.rawValue) AND session = \(session.session.id.rawValue) AND revoked_at IS NULL
            """
    }

    /// The times of the last eight rotations of a row with another one.
    ///
    /// An array's slice ends a server with Citus 13.2.
    static func nextRotations(of row: SQL, now: Date) -> SQL {
        """
        array_prepend(\(now), trim_array(\(sql: row).rotations, greatest(cardinality(\(sql: row).rotations) - 7, 0)))
        """
    }

    /// Ends the account's sessions that fulfil a condition.
    static func ending(where condition: SQL, of account: AccountID, _ scope: Scope, now: Date) -> SQL {
        """
        UPDATE sessions SET revoked_at = \(now)
        WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
            AND account = \(account.rawValue) AND revoked_at IS NULL AND \(sql: condition)
        """
    }

    /// Ends those that were opened with a provider, also those that the user has continued with another method since.
    static func ending(
        openedWith provider: ProviderID,
        of account: AccountID,
        _ scope: Scope,
        now: Date
    ) -> SQL {
        let opened: SQL = "\(provider.rawValue) = ANY(array_append(earlier_providers, sign_in_provider))"
        return ending(where: opened, of: account, scope, now: now)
    }

    /// The `valid_since` of an account whose sessions end, for the statement that updates its row: it only grows and is
    /// later than each session that ends, whichever node's clock it was opened by, and than those that ended before,
    /// because their session cookies may live on.
    ///
    /// - Parameter ignored: the `auth_time` of a session that goes on without a new sign-in, and begins no later because
    ///   of others of the same second.
    static func validSince(
        ending account: AccountID,
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

    /// Records that an account signed in.
    static func activity(
        of account: AccountID,
        _ pace: SignInPace = .unlimited,
        _ scope: Scope,
        now: Date
    ) -> SQL {
        """
        INSERT INTO account_activity (project, tenant, account, last_sign_in_at, last_refresh_at, sign_ins_until)
        VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(account.rawValue), \(now), \(now),
            \(now.addingTimeInterval(pace.step)))
        ON CONFLICT (project, tenant, account) DO UPDATE
            SET last_sign_in_at = EXCLUDED.last_sign_in_at, last_refresh_at = EXCLUDED.last_refresh_at,
                \(sql: SignInPace.counting(now: now))
        """
    }
}
