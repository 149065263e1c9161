import Administration
import ArgumentParser
import Foundation
import OAuth
import Projects
import Secrets
import Storage
import StrictJSON

struct OAuthClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oauth-clients",
        abstract: "Manage the applications that sign in with a project's accounts.",
        discussion: "The project must be an OpenID provider: identity.oauth.enabled of its settings.",
        subcommands: [Create.self, List.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register an application and print it as JSON, with its secret, which is shown once."
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project's ID.") var project: String
        @Option(help: "The name that users see.") var name: String
        @Option(help: "Where users return to; repeat it for more.") var redirectURI: [String] = []
        @Option(
            help:
                "authorization_code, refresh_token, or a URN that discovery lists; default: the first two. Repeat it for more."
        )
        var grantType: [String] = []
        @Flag(name: .customLong("public"), help: "An app that cannot keep a secret: in a browser or on a device.")
        var isPublic = false
        @Flag(help: "The project's own application, for which no user is asked to consent.") var trusted = false

        func run() async throws {
            let types = grantType.isEmpty ? ["authorization_code", "refresh_token"] : grantType
            var metadata: JSONObject = [
                "client_name": .string(name), "redirect_uris": .array(redirectURI.map { .string($0) }),
                "grant_types": .array(types.map { .string($0) }),
            ]
            if isPublic { metadata["token_endpoint_auth_method"] = "none" }
            try await database.withAdministration { [metadata] stores, administration in
                let created = try await administration.oauthClients.create(
                    metadata,
                    isTrusted: trusted,
                    in: try stores.project(project).id
                )
                print(Self.json(of: created).jsonText)
            }
        }

        private static func json(of created: ManageOAuthClients.Created) -> JSONObject {
            var json: JSONObject = ["client_id": .string(created.client.id)]
            json["client_secret"] = created.secret.map { .string($0.reveal()) }
            for member in created.client.metadata.members { json[member.name] = member.value }
            json["trusted"] = .bool(created.client.isTrusted)
            return json
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a project's applications.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project's ID.") var project: String
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withAdministration { stores, administration in
                let id = try stores.project(project).id
                var clients: [OAuthClient] = []
                while case let page = try await administration.oauthClients.list(of: id, after: clients.last?.id),
                    !page.isEmpty
                {
                    clients += page
                }
                let rows = clients.map { client in
                    [
                        client.id, client.metadata.name ?? "", client.origin.rawValue,
                        client.metadata.authentication.rawValue,
                        client.metadata.grantTypes.map(\.rawValue).sorted().joined(separator: " "),
                        client.metadata.redirectURIs.map(\.text).joined(separator: " "),
                        client.isTrusted ? "yes" : "no",
                    ]
                }
                let header = ["ID", "NAME", "ORIGIN", "AUTHENTICATION", "GRANTS", "REDIRECT URIS", "TRUSTED"]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an application, and with it what users granted it."
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project's ID.") var project: String
        @Argument(help: "The ID from `oauth-clients list`.") var id: String

        func run() async throws {
            try await database.withAdministration { stores, administration in
                let message = "this application does not exist"
                try await ConfigurationError.notFound.explained(as: message) {
                    try await administration.oauthClients.delete(id, of: try stores.project(project).id)
                    print("deleted \(id)")
                }
            }
        }
    }
}
