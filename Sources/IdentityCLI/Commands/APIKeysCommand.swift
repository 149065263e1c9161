import ArgumentParser
import Foundation
import Linking
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
            try await database.withStores { stores in
                let project = try stores.project(project)
                print(try await stores.configuration.createAPIKey(for: project.id, displayName: name))
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a project's API keys.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project.") var project: String
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withStores { stores in
                let project = try stores.project(project)
                let rows = try await stores.configuration.listAPIKeys(of: project.id).map { key in
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
            try await database.withStores { stores in
                do {
                    try await stores.configuration.revokeAPIKey(APIKey(rawValue: key))
                    print("revoked \(key)")
                } catch ConfigurationError.notFound {
                    throw CommandFailure.failed("this key does not exist or is already revoked")
                }
            }
        }
    }
}
