import ArgumentParser
import Foundation
import Projects
import Storage

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "List the webhooks that were given up, and send them again.",
        subcommands: [List.self, Resend.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the webhooks that were given up in the last month, the newest first; a thousand at most."
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "Only those of this project.") var project: String?
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withStores { stores in
                let rows = try await stores.outbox.givenUp(of: project.map { try stores.project($0).id }).map {
                    message in
                    [
                        message.summary.project.rawValue, message.summary.id, message.summary.subject.type ?? "",
                        message.summary.subject.account ?? "", "\(message.summary.attempts)",
                        message.createdAt.ISO8601Format(), message.givenUpAt.ISO8601Format(),
                    ]
                }
                let header = ["PROJECT", "ID", "TYPE", "ACCOUNT", "ATTEMPTS", "CREATED", "GIVEN UP"]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Resend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send webhooks again that were given up, with the same IDs; a node does it within a second."
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "Whose they are.") var project: String
        @Flag(help: "All of the project.") var all = false
        @Argument(help: "Their IDs.") var messages: [String] = []

        func run() async throws {
            guard all != !messages.isEmpty else { throw CommandFailure.usage("give IDs, or --all") }
            try await database.withStores { stores in
                let id = try stores.project(project).id
                let count = try await stores.outbox.resend(
                    all ? nil : messages,
                    of: id,
                    now: stores.configuration.now()
                )
                guard all || count > 0 else { throw CommandFailure.failed("no such webhook was given up") }
                print("\(count) due again")
            }
        }
    }
}
