import AsyncAlgorithms
import Delivery
import Projects
import ServiceLifecycle
package import Storage

/// Shows the links of mails at the terminal: `identity dev` sends none.
package struct MailPrinter: Service {
    private let stores: Stores
    private let say: @Sendable (String) -> Void

    package init(stores: Stores, say: @escaping @Sendable (String) -> Void) {
        self.stores = stores
        self.say = say
    }

    /// Looks once a second until told to stop; mails of an earlier start are not shown again.
    package func run() async throws {
        var seen: Set<String>?
        let ticks = AsyncTimerSequence(interval: .seconds(1), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            guard let mails = try? await waiting() else { continue }
            if let seen {
                for mail in mails where !seen.contains(mail.text) {
                    say("mail to \(mail.mail.to) (\(mail.code.type.rawValue)):\n  \(mail.mail.link)\n")
                }
            }
            seen = Set(mails.map(\.text))
        }
    }

    private func waiting() async throws -> [WaitingMail] {
        var mails: [WaitingMail] = []
        for project in stores.configuration.snapshot.allProjects {
            mails += try await WaitingMail.all(in: Scope(project: project.id), stores)
        }
        return mails
    }
}
