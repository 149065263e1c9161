import Accounts
import ArgumentParser
import Domain
import Foundation
import Projects
import Storage

struct ProvidersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers",
        abstract: "Show how sign-in methods are used.",
        subcommands: [Stats.self]
    )

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count the accounts of each sign-in method.",
            discussion: """
                DEPENDENT ACCOUNTS have no other enabled sign-in method: their users can no longer sign in if you disable \
                the method.
                """
        )
        @OptionGroup var target: ScopeOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await target.withProject { stores, project in
                let count = CountProviders(
                    stores: stores,
                    development: try await stores.configuration.mode() == .dev
                )
                let rows = try await count(project).map { row in
                    [
                        row.provider.rawValue, row.isEnabled ? "on" : "off", "\(row.accounts)",
                        "\(row.dependentAccounts)", row.lastUsedAt?.ISO8601Format() ?? "",
                    ]
                }
                print(Table(["PROVIDER", "STATE", "ACCOUNTS", "DEPENDENT ACCOUNTS", "USED"], rows).text(json: json))
            }
        }
    }
}
