import Administration
import ArgumentParser
import Domain
import Foundation
import Projects
import Secrets
import Storage

struct AdminsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admins",
        abstract: "Create, list and revoke admins of the console.",
        discussion: """
            `create` and `reset` print a setup code. It expires after one day and can be used once. With it, the admin sets a \
            password and an authenticator app at /console/set-up.
            """,
        subcommands: [Create.self, List.self, Revoke.self, Reset.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an admin and print the setup code once."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The admin's email address.") var email: String
        @Option(help: "The only project that the admin can access; default: all.") var project: String?
        @OptionGroup var options: GrantOptions

        func run() async throws {
            let address = try AdminsCommand.address(email)
            try await database.withAdministration { stores, administration in
                let message = "\(email) is already an admin: `identity admins reset` creates a new code"
                try await ConfigurationError.alreadyExists.explained(as: message) {
                    let project = try project.map { try stores.project($0).id }
                    print(try await administration.admins.create(address, in: project, try options.grant).reveal())
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the admins of the console.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withAdministration { _, administration in
                let rows = try await administration.admins.list().map { listed in
                    let admin = listed.admin
                    return [
                        admin.id, admin.name, admin.project?.rawValue ?? "*",
                        admin.scopes.text,
                        listed.createdAt.ISO8601Format(), listed.lastUsedAt?.ISO8601Format() ?? "",
                        admin.expiresAt?.date ?? "",
                        String(listed.sessions), admin.disabled ? "revoked" : listed.isSetUp ? "active" : "invited",
                    ]
                }
                let header = [
                    "ID", "EMAIL", "PROJECT", "SCOPES", "CREATED", "USED", "EXPIRES", "SESSIONS", "STATE",
                ]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke an admin; their sessions end on all nodes immediately."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The admin's email address.") var email: String

        func run() async throws {
            let address = try AdminsCommand.address(email)
            try await AdminsCommand.change(email, database) { admins in
                try await admins.revoke(address)
                print("revoked \(email)")
            }
        }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an admin's password and authenticator app, end their sessions, print a new code."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The admin's email address.") var email: String

        func run() async throws {
            let address = try AdminsCommand.address(email)
            try await AdminsCommand.change(email, database) { admins in
                print(try await admins.reset(address).reveal())
            }
        }
    }

    private static func address(_ text: String) throws -> EmailAddress {
        guard let address = EmailAddress(text) else { throw CommandFailure.usage("'\(text)' is not an email address") }
        return address
    }

    private static func change(
        _ email: String,
        _ database: DatabaseOptions,
        _ body: (ManageAdmins) async throws -> Void
    ) async throws {
        try await database.withAdministration { _, administration in
            try await ConfigurationError.notFound.explained(as: "\(email) is not an admin") {
                try await body(administration.admins)
            }
        }
    }
}
