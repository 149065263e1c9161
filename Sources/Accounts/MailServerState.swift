import Foundation
import Projects
import Synchronization

/// What the mail server, or its substitute, did with this node's last emails.
package final class MailServerState: Sendable {
    private struct State {
        var fails = false
        /// The time of the last accepted email of each project, because projects have senders of their own.
        var accepted: [ProjectID: Date] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Whether the last email failed, for a reason that is not its recipient.
    package var fails: Bool { state.withLock { $0.fails } }

    func accepted(_ project: ProjectID, at date: Date) {
        state.withLock {
            $0.fails = false
            $0.accepted[project] = date
        }
    }

    func failed() { state.withLock { $0.fails = true } }

    /// Whether it accepted an email of the project at this time or later.
    func hasAccepted(_ project: ProjectID, since date: Date) -> Bool {
        state.withLock { $0.accepted[project].map { $0 >= date } ?? false }
    }
}
