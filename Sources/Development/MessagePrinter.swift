import AsyncAlgorithms
import Delivery
import Projects
import ServiceLifecycle
package import Storage

/// Prints the links in emails and the codes in SMS to the terminal: `identity dev` sends none.
package struct MessagePrinter: Service {
    private let stores: Stores
    private let say: @Sendable (String) -> Void

    package init(stores: Stores, say: @escaping @Sendable (String) -> Void) {
        self.stores = stores
        self.say = say
    }

    /// Checks once a second until told to stop; messages of an earlier start are not printed again.
    package func run() async throws {
        var seen: Set<String>?
        let ticks = AsyncTimerSequence(interval: .seconds(1), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            guard let messages = try? await waiting() else { continue }
            if let seen {
                for message in messages where !seen.contains(message.id) { say(message.text) }
            }
            seen = Set(messages.map(\.id))
        }
    }

    /// The messages to print, each identified by its secret.
    private func waiting() async throws -> [(id: String, text: String)] {
        var messages: [(id: String, text: String)] = []
        let scopes = stores.configuration.snapshot.allProjects.flatMap { project in
            ([TenantID.none] + project.tenants.keys).map { (project, Scope(project: project.id, tenant: $0)) }
        }
        for (project, scope) in scopes {
            for mail in try await WaitingMail.all(in: scope, stores) {
                let code = mail.mail.code.map { "  or the code \($0)\n" } ?? ""
                let text = "email to \(mail.mail.to) (\(mail.code.type.rawValue)):\n  \(mail.mail.link)\n\(code)"
                messages.append((mail.text, text))
            }
            for waiting in try await WaitingSMS.all(in: scope, stores, now: stores.configuration.now()) {
                messages.append((waiting.session, "SMS to \(waiting.sms.to):\n  \(waiting.sms.text(of: project))\n"))
            }
        }
        return messages
    }
}
