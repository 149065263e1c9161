import Administration
import ArgumentParser
import Foundation
import Projects
import Secrets
import Storage

struct AdminKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-keys",
        abstract: "Create, list and revoke bearer tokens for the admin API.",
        discussion:
            "Send an admin key in the header `Authorization: Bearer`. It is printed only once; the database stores a hash.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an admin key and print it once.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "A display name.") var name: String
        @Option(help: "The only project that the key can access; default: all.") var project: String?
        @OptionGroup var options: GrantOptions

        func run() async throws {
            try await database.withAdministration { stores, administration in
                let project = try project.map { try stores.project($0).id }
                print(try await administration.adminKeys.create(name: name, in: project, try options.grant).reveal())
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the admin keys.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withAdministration { _, administration in
                let rows = try await administration.adminKeys.list().map { listed in
                    let credential = listed.credential
                    return [
                        credential.id, credential.name, credential.project?.rawValue ?? "*",
                        credential.scopes.text,
                        listed.createdAt.ISO8601Format(),
                        credential.expiresAt?.date ?? "",
                        credential.disabled ? "revoked" : "active",
                    ]
                }
                let header = ["ID", "NAME", "PROJECT", "SCOPES", "CREATED", "EXPIRES", "STATE"]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke an admin key on all nodes immediately.")
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The ID from `admin-keys list`.") var id: String

        func run() async throws {
            try await database.withAdministration { _, administration in
                let message = "this admin key does not exist or is already revoked"
                try await ConfigurationError.notFound.explained(as: message) {
                    try await administration.adminKeys.revoke(id)
                    print("revoked \(id)")
                }
            }
        }
    }
}
