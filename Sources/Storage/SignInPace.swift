import Domain
import Postgres
package import Projects

import struct Foundation.Date

/// How often an account may be signed in to (``Projects/RateLimitKind/signInsPerAccount``).
///
/// The time at which its sign-ins are forgotten stands beside the last one, so that the row that every sign-in writes
/// anyway counts them, and there is no bucket to wait for. It is compared before it is counted: sign-ins at the same
/// time may all pass, and those after them wait for all of them (threats.md, T-E40).
package struct SignInPace: Sendable {
    /// Seconds for which a sign-in counts; 0 without a limit.
    let step: Double
    /// The seconds of earlier sign-ins that leave room for another one.
    let room: Double

    /// Nothing is counted.
    package static let unlimited = SignInPace(step: 0, room: 1e9)

    private init(step: Double, room: Double) {
        self.step = step
        self.room = room
    }

    package init(_ settings: RateLimitSettings) {
        guard settings.isEnabled else {
            self = .unlimited
            return
        }
        let budget = settings[.signInsPerAccount]
        step = Double(budget.seconds) / Double(budget.count)
        room = Double(budget.seconds) - step
    }

    /// A condition: whether an account has room for another sign-in.
    func hasRoom(of account: AccountID, in scope: Scope, now: Date) -> SQL {
        let key: SQL = """
            v.project = \(scope.project.rawValue) AND v.tenant = \(scope.tenant.rawValue) AND v.account = \(account.rawValue)
            """
        return Self.hasRoom(where: key, within: "\(room)", now: now)
    }

    /// The same for the account that a table's row names.
    static func hasRoom(by row: SQL, within room: SQL, now: Date) -> SQL {
        let key: SQL = """
            v.project = \(sql: row).project AND v.tenant = \(sql: row).tenant AND v.account = \(sql: row).account
            """
        return hasRoom(where: key, within: room, now: now)
    }

    /// - Parameters:
    ///   - key: a condition for the account's activity, `v`.
    ///   - room: seconds.
    private static func hasRoom(where key: SQL, within room: SQL, now: Date) -> SQL {
        """
        (
            SELECT v.sign_ins_until <= \(sql: .later(than: "\(now)", by: room)) FROM account_activity v
            WHERE \(sql: key)
        ) IS NOT FALSE
        """
    }

    /// The assignment that counts an account's sign-ins, in an upsert of its row.
    static func counting(now: Date) -> SQL {
        """
        sign_ins_until = \(sql: .later(
            than: "greatest(account_activity.sign_ins_until, \(now))",
            by: "date_part('epoch', EXCLUDED.sign_ins_until - \(now))"
        ))
        """
    }

    /// An account has no room for another sign-in.
    static let reached = RateLimitReached(kind: .signInsPerAccount)
}
