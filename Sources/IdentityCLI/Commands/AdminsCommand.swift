import ArgumentParser
import Foundation
import Linking
import Projects
import Secrets
import Storage

struct AdminsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admins",
        abstract: "Let people in to the console, list them, and shut them out.",
        discussion: """
            `create` and `reset` print a setup code, which is good once and for a day: with it the person chooses a password \
            and enrols an authenticator app, at /console/set-up.
            """,
        subcommands: [Create.self, List.self, Revoke.self, Reset.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let somebody in, and print the setup code, this once."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The person's email address.") var email: String
        @Option(help: "The only project that they see; all without.") var project: String?
        @Option(help: "What they may do: \(AdminScope.allCases.map(\.rawValue).joined(separator: ", ")). All without.")
        var scope: [AdminScope] = []
        @Option(help: "Days until they may no more; always without.") var days: Int?

        func run() async throws {
            let address = try AdminsCommand.address(email)
            if let days, days < 1 { throw CommandFailure.usage("--days must be at least 1") }
            try await database.withStores { stores in
                do {
                    let (_, code) = try await stores.console.createAdmin(
                        address,
                        project: try project.map { try stores.project($0).id },
                        scopes: Set(scope.isEmpty ? AdminScope.allCases : scope),
                        expiresAt: days.map { Date().addingTimeInterval(Double($0) * 86_400) },
                        now: Date()
                    )
                    print(code.reveal())
                } catch ConfigurationError.alreadyExists {
                    throw CommandFailure.failed(
                        "\(email) may sign in already: `identity admins reset` makes another code"
                    )
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the people of the console.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withStores { stores in
                let rows = try await stores.console.listAdmins(now: Date()).map { listed in
                    let admin = listed.admin
                    return [
                        admin.id, admin.name, admin.project?.rawValue ?? "*",
                        admin.scopes.map(\.rawValue).sorted().joined(separator: ","),
                        listed.createdAt.ISO8601Format(), listed.lastUsedAt?.ISO8601Format() ?? "",
                        admin.expiresAt.map { Date(timeIntervalSince1970: Double($0)).ISO8601Format() } ?? "",
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
            abstract: "Shut somebody out: their sessions end on all nodes at once."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The person's email address.") var email: String

        func run() async throws {
            let address = try AdminsCommand.address(email)
            try await AdminsCommand.change(email, database) { stores in
                try await stores.console.revokeAdmin(address, now: Date())
                print("revoked \(email)")
            }
        }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take somebody's password and app back, end their sessions, and print another setup code."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The person's email address.") var email: String

        func run() async throws {
            let address = try AdminsCommand.address(email)
            try await AdminsCommand.change(email, database) { stores in
                print(try await stores.console.resetAdmin(address, now: Date()).reveal())
            }
        }
    }

    private static func address(_ text: String) throws -> EmailAddress {
        guard let address = EmailAddress(text) else { throw CommandFailure.usage("'\(text)' is no email address") }
        return address
    }

    private static func change(
        _ email: String,
        _ database: DatabaseOptions,
        _ body: (Stores) async throws -> Void
    ) async throws {
        try await database.withStores { stores in
            do { try await body(stores) } catch ConfigurationError.notFound {
                throw CommandFailure.failed("nobody with the address \(email) may sign in to the console")
            }
        }
    }
}
