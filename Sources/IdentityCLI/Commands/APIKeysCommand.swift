import Administration
import ArgumentParser
import Foundation
import Projects
import Storage

struct APIKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-keys",
        abstract: "Create, list and revoke a project's API keys.",
        discussion: "Client SDKs name the project with its API key. The key is public and grants no access.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an API key and print it.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project.") var project: String
        @Option(help: "A display name.") var name: String?

        func run() async throws {
            try await database.withAdministration { stores, administration in
                let project = try stores.project(project)
                print(try await administration.apiKeys.create(for: project.id, name: name))
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a project's API keys.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project.") var project: String
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withAdministration { stores, administration in
                let project = try stores.project(project)
                let rows = try await administration.apiKeys.list(of: project.id).map { key in
                    [
                        key.key.rawValue, key.displayName ?? "", key.createdAt.ISO8601Format(),
                        key.revokedAt.map { $0.ISO8601Format() } ?? "",
                    ]
                }
                print(Table(["KEY", "NAME", "CREATED", "REVOKED"], rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke an API key on all nodes within a second.")
        @OptionGroup var database: DatabaseOptions
        @Argument var key: String

        func run() async throws {
            try await database.withAdministration { _, administration in
                try await ConfigurationError.notFound.explained(as: "this key does not exist or is already revoked") {
                    try await administration.apiKeys.revoke(APIKey(rawValue: key))
                    print("revoked \(key)")
                }
            }
        }
    }
}
