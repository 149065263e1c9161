import ArgumentParser
import Foundation
import Linking
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
        @Option(help: "Scopes: \(AdminScope.allCases.map(\.rawValue).joined(separator: ", ")). Default: all.")
        var scope: [AdminScope] = []
        @Option(help: "Days until it expires; default: never.") var days: Int?

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
        static let configuration = CommandConfiguration(abstract: "Revoke an admin key on all nodes immediately.")
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The ID from `admin-keys list`.") var id: String

        func run() async throws {
            try await database.withStores { stores in
                do {
                    try await stores.configuration.revokeAdminCredential(id)
                    print("revoked \(id)")
                } catch ConfigurationError.notFound {
                    throw CommandFailure.failed("this admin key does not exist or is already revoked")
                }
            }
        }
    }
}
