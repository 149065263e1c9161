import ArgumentParser
import Foundation
import Linking
import Projects
import Secrets
import Storage

struct AdminKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-keys",
        abstract: "Make, list and revoke credentials for the admin API.",
        discussion:
            "An admin key goes into the header `Authorization: Bearer`. It is shown once; the database keeps a hash.",
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make an admin key and print it, this once.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "A name for people.") var name: String
        @Option(help: "The only project that it is good for; all without.") var project: String?
        @Option(help: "What it may do: \(AdminScope.allCases.map(\.rawValue).joined(separator: ", ")). All without.")
        var scope: [AdminScope] = []
        @Option(help: "Days until it expires; never without.") var days: Int?

        func run() async throws {
            if let days, days < 1 { throw CommandFailure.usage("--days must be at least 1") }
            try await database.withStores { stores in
                let (_, token) = try await stores.configuration.createAdminCredential(
                    name: name,
                    project: try project.map { try stores.project($0).id },
                    scopes: Set(scope.isEmpty ? AdminScope.allCases : scope),
                    expiresAt: days.map { Date().addingTimeInterval(Double($0) * 86_400) }
                )
                print(token.reveal())
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the admin keys.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withStores { stores in
                let rows = try await stores.configuration.listAdminCredentials().map { listed in
                    let credential = listed.credential
                    return [
                        credential.id, credential.name, credential.project?.rawValue ?? "*",
                        credential.scopes.map(\.rawValue).sorted().joined(separator: ","),
                        listed.createdAt.ISO8601Format(),
                        credential.expiresAt.map { Date(timeIntervalSince1970: Double($0)).ISO8601Format() } ?? "",
                        credential.disabled ? "revoked" : "active",
                    ]
                }
                let header = ["ID", "NAME", "PROJECT", "SCOPES", "CREATED", "EXPIRES", "STATE"]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke an admin key, on all nodes at once.")
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The id that `admin-keys list` shows.") var id: String

        func run() async throws {
            try await database.withStores { stores in
                do {
                    try await stores.configuration.revokeAdminCredential(id)
                    print("revoked \(id)")
                } catch ConfigurationError.notFound {
                    throw CommandFailure.failed("there is no such admin key, or it is revoked already")
                }
            }
        }
    }
}
