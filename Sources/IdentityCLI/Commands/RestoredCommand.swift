import ArgumentParser
import Foundation
import Storage

/// Declares that the database was restored to an earlier time, which no node can see.
struct RestoredCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restored",
        abstract: "Declare that the database was restored to an earlier time.",
        discussion: """
            Ends codes, links, unfinished sign-ins and console sessions, which may have been used since, and waiting emails \
            and SMS. For some days, a session goes on with a refresh token that it got after that time; without this, its \
            user must sign in again. Run it before nodes take requests; see docs/operations/production.md, also for what \
            else to repeat.
            """
    )
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The time to which the database was restored, such as 2026-01-31T12:00:00Z.") var since: String?
    @Option(help: "The days for which refresh tokens are taken, 0 to 30.") var days = 7
    @Flag(help: "Take them no longer.") var end = false

    func validate() throws {
        guard end != (since != nil) else { throw ValidationError("give either --since or --end") }
        guard (0...30).contains(days) else { throw ValidationError("--days must be 0 to 30") }
    }

    func run() async throws {
        let now = Date()
        let point = try since.map { try Date(argument: $0) }
        if let point, point > now { throw CommandFailure.usage("--since \(since ?? "") is not over yet") }
        try await database.withStores { stores in
            guard let point else {
                let wasDeclared = try await stores.configuration.endRestore()
                return print(
                    wasDeclared
                        ? "no refresh tokens from after the restore are taken any more" : "no restore is declared"
                )
            }
            do {
                let until = now.addingTimeInterval(Double(days) * 86_400)
                try await stores.configuration.declareRestore(to: point.ISO8601Format(), until: until)
                print(
                    """
                    ended all codes, links, unfinished sign-ins, console sessions, and waiting emails and SMS
                    takes refresh tokens of sessions that went on after \(point.ISO8601Format()) until \(until.ISO8601Format())
                    next: repeat what was revoked, disabled and deleted since (docs/operations/production.md#after-a-restore)
                    """
                )
            } catch let declared as RestoreDeclared {
                throw CommandFailure.failed(
                    "a restore was declared at \(declared.at.ISO8601Format()), until \(declared.until.ISO8601Format()): "
                        + "end that first (identity restored --end)"
                )
            }
        }
    }
}
