import Administration
import ArgumentParser
import Foundation
import Projects
import Secrets
import Sessions
import Storage

struct ServiceAccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-accounts",
        abstract: "Create, list and revoke keys of service accounts.",
        discussion: """
            A back end's Admin SDK loads the file that `create` prints (GOOGLE_APPLICATION_CREDENTIALS). With it, the SDK \
            signs custom tokens and requests access tokens. Only that file contains the private key; the database stores \
            the public key.
            """,
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key of a service account and print its file once."
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project that the key can access.") var project: String
        @Option(help: "The account's name: 6 to 30 of a-z, 0-9 and -, starting with a letter.") var name = "admin-sdk"
        @Option(help: "The URL for access tokens; default: /token below http.publicURL.")
        var tokenURI: String?
        @OptionGroup var options: GrantOptions

        func run() async throws {
            let tokenURI = try await tokenURI()
            try await database.withAdministration { stores, administration in
                let project = try stores.project(project)
                let (key, pair) = try await administration.serviceAccounts.create(
                    name: name,
                    in: project.id,
                    try options.grant
                )
                print(try file(of: key, pair, project, tokenURI: tokenURI))
            }
        }

        /// By default Google's, whose host name must point to the service anyway, like those of all other calls.
        private func tokenURI() async throws -> String {
            if let tokenURI { return tokenURI }
            return try await database.publicURL()?.token ?? "https://oauth2.googleapis.com/token"
        }

        /// The members that Admin SDKs read.
        private func file(
            of key: ServiceAccountKey,
            _ pair: ServiceAccountKeyPair,
            _ project: Project,
            tokenURI: String
        ) throws -> String {
            let members = [
                "type": "service_account",
                "project_id": project.id.rawValue,
                "private_key_id": key.id,
                "private_key": pair.privateKeyPEM.reveal(),
                "client_email": key.email,
                "client_id": "\(project.number)",
                "token_uri": tokenURI,
            ]
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(members), as: UTF8.self)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys of service accounts.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withAdministration { _, administration in
                let rows = try await administration.serviceAccounts.list().map { listed in
                    let key = listed.credential
                    return [
                        key.id, key.email, key.project?.rawValue ?? "", key.scopes.text,
                        listed.createdAt.ISO8601Format(), listed.lastUsedAt?.ISO8601Format() ?? "",
                        key.expiresAt?.date ?? "", key.disabled ? "revoked" : "active",
                    ]
                }
                let header = ["KEY", "EMAIL", "PROJECT", "SCOPES", "CREATED", "USED", "EXPIRES", "STATE"]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key on all nodes within half a second."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The key ID from `service-accounts list`.") var key: String

        func run() async throws {
            try await database.withAdministration { _, administration in
                try await ConfigurationError.notFound.explained(as: "this key does not exist or is already revoked") {
                    try await administration.serviceAccounts.revoke(key)
                    print("revoked \(key)")
                }
            }
        }
    }
}
