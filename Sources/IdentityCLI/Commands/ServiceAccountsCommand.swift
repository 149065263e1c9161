import ArgumentParser
import Foundation
import Linking
import Projects
import Secrets
import Sessions
import Storage

struct ServiceAccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-accounts",
        abstract: "Make, list and revoke keys of service accounts.",
        discussion: """
            A back end's Admin SDK loads the file that `create` prints (GOOGLE_APPLICATION_CREDENTIALS) and signs custom \
            tokens with it. The private key is in that file alone; the database keeps the public one.
            """,
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key of a service account and print its file, this once."
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project that it is good for.") var project: String
        @Option(help: "The account's name: 6 to 30 of a-z, 0-9 and -, a letter first.") var name = "admin-sdk"
        @Option(help: "Days until the key expires; never without.") var days: Int?

        func run() async throws {
            guard ServiceAccountKey.isName(name) else {
                throw CommandFailure.usage("'\(name)' is no name: 6 to 30 of a-z, 0-9 and -, a letter first")
            }
            if let days, days < 1 { throw CommandFailure.usage("--days must be at least 1") }
            try await database.withStores { stores in
                let project = try stores.project(project)
                let pair = try ServiceAccountKeyPair.generate()
                let key = ServiceAccountKey(
                    id: pair.id,
                    email: ServiceAccountKey.email(name: name, project: project.id),
                    project: project.id,
                    scopes: [.mintCustomTokens],
                    publicKey: pair.publicKey,
                    expiresAt: days.map { Int64(Date().timeIntervalSince1970) + Int64($0) * 86_400 }
                )
                try await stores.configuration.createServiceAccountKey(key, name: name)
                print(try file(of: key, pair, project))
            }
        }

        /// The members that Admin SDKs look for.
        private func file(of key: ServiceAccountKey, _ pair: ServiceAccountKeyPair, _ project: Project) throws -> String
        {
            let members = [
                "type": "service_account",
                "project_id": key.project.rawValue,
                "private_key_id": key.id,
                "private_key": pair.privateKeyPEM.reveal(),
                "client_email": key.email,
                "client_id": "\(project.number)",
                // Admin SDKs want one; what they would get an access token for is asked with an admin key.
                "token_uri": "https://oauth2.googleapis.com/token",
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
            try await database.withStores { stores in
                let rows = try await stores.configuration.listServiceAccountKeys().map { listed in
                    [
                        listed.key.id, listed.key.email, listed.key.project.rawValue,
                        listed.key.scopes.map(\.rawValue).sorted().joined(separator: ","),
                        listed.createdAt.ISO8601Format(),
                        listed.key.expiresAt.map { Date(timeIntervalSince1970: Double($0)).ISO8601Format() } ?? "",
                        listed.disabled ? "revoked" : "active",
                    ]
                }
                let header = ["KEY", "EMAIL", "PROJECT", "SCOPES", "CREATED", "EXPIRES", "STATE"]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key: within half a second no node takes what it signs."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The key that `service-accounts list` shows.") var key: String

        func run() async throws {
            try await database.withStores { stores in
                do {
                    try await stores.configuration.revokeServiceAccountKey(key)
                    print("revoked \(key)")
                } catch ConfigurationError.notFound {
                    throw CommandFailure.failed("there is no such key, or it is revoked already")
                }
            }
        }
    }
}
