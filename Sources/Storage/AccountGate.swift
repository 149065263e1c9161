package import Domain
package import Projects
import Synchronization

/// Lets two requests at a time write an account, and makes the others wait without a database connection.
///
/// The lock of the account's row runs its writes one after another anyway. If all of them waited for it in the
/// database, requests for a single account could take every connection (T-E28). The gate decides nothing but who
/// waits; each node has its own.
package final class AccountGate: Sendable {
    /// Each is waited for separately, so that a thief's session, whether it changes the account, is refreshed or grants,
    /// cannot keep the owner from signing in or out.
    package enum Lane: Hashable {
        case signIn, change, session, signOut
        /// Changes without a session: by a code of the mailbox, a second factor, an admin.
        case proof
    }

    /// Two, so that the lock is never idle.
    static let width = 2
    static let queueLimit = 48

    private struct Key: Hashable {
        var scope: Scope
        var account: AccountID
        var lane: Lane
    }

    private struct Line {
        var inside = 1
        var waiting: [Waiter<Void>] = []
    }

    /// Only of accounts that are being written.
    private let lines = Mutex<[Key: Line]>([:])

    package init() {}

    /// - Throws: ``AccountBusy`` if too many wait already; `CancellationError`.
    package func pass<Result>(
        _ account: AccountID,
        in scope: Scope,
        _ lane: Lane,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let key = Key(scope: scope, account: account, lane: lane)
        try await enter(key)
        defer { leave(key) }
        return try await body()
    }

    private func enter(_ key: Key) async throws {
        guard lines.withLock({ !Self.enter(key, &$0) }) else { return }
        let waiter = Waiter<Void>()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard waiter.attach(continuation) else { return }
                let answer: Result<Void, any Error>? = lines.withLock { lines in
                    if Self.enter(key, &lines) { return .success(()) }
                    lines[key]?.waiting.removeAll(where: \.isOver)
                    guard lines[key, default: Line()].waiting.count < Self.queueLimit else {
                        return .failure(AccountBusy())
                    }
                    lines[key]?.waiting.append(waiter)
                    return nil
                }
                guard let answer else { return }
                // Cancelled in the meantime: nobody takes the place.
                if !waiter.resume(with: answer), case .success = answer { leave(key) }
            }
        } onCancel: {
            waiter.resume(with: .failure(CancellationError()))
        }
    }

    /// Takes a place if one is free.
    private static func enter(_ key: Key, _ lines: inout [Key: Line]) -> Bool {
        guard let line = lines[key] else {
            lines[key] = Line()
            return true
        }
        guard line.inside < width else { return false }
        lines[key]?.inside += 1
        return true
    }

    /// Passes the place on to the one that has waited longest.
    private func leave(_ key: Key) {
        while true {
            let next: Waiter<Void>? = lines.withLock { lines in
                guard var line = lines[key] else { return nil }
                if line.waiting.isEmpty {
                    line.inside -= 1
                    lines[key] = line.inside == 0 ? nil : line
                    return nil
                }
                let next = line.waiting.removeFirst()
                lines[key] = line
                return next
            }
            // One that has been cancelled leaves the place to the next.
            guard let next, !next.resume(with: .success(())) else { return }
        }
    }
}

/// Too many requests wait to write the account; the client must try again later.
package struct AccountBusy: Error, Sendable {}
