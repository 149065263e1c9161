import Accounts
import ArgumentParser
import Foundation
import Linking
import Projects
import Storage

struct ProvidersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "providers",
        abstract: "See what sign-in methods are used for.",
        subcommands: [Stats.self]
    )

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count the accounts of each sign-in method.",
            discussion: """
                DEPENDENT ACCOUNTS are those whom nothing else that is switched on lets in: they are shut out when the \
                method is switched off.
                """
        )
        @OptionGroup var target: ScopeOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await target.withScope { stores, project, scope in
                let count = CountProviders(
                    stores: stores,
                    development: try await stores.configuration.mode() == .dev
                )
                let rows = try await count(project, scope.tenant).map { row in
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
