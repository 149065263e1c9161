import Domain
import Federation
import Foundation
import Postgres
import Projects
import Secrets
import Sessions

/// The parts of sign-in statements; each writes only if the statement has a `target`.
extension AccountStore {
    func claimEmail(_ email: EmailAddress, _ scope: Scope) -> SQL {
        """
        INSERT INTO account_emails (project, tenant, email_key, account)
        SELECT \(scope.project.rawValue), \(scope.tenant.rawValue), \(email.canonical), account FROM target
        """
    }

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
