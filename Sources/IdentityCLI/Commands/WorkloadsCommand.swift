import Administration
import ArgumentParser
import Foundation
import Projects
import Storage

struct WorkloadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workloads",
        abstract: "Let CI jobs and pods use the admin API without a secret.",
        discussion: """
            A workload exchanges a token of its own platform (GitHub Actions, GitLab, Kubernetes, a cloud) for a short \
            access token of the admin API. Its issuer, audience and claims say which tokens are its own.
            """,
        subcommands: [Create.self, List.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Register a workload and print its ID.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "A display name.") var name: String
        @Option(help: "The only project that the workload can access; default: all.") var project: String?
        @Option(help: "`iss` of its tokens: an https URL, at which discovery finds the keys.") var issuer: String
        @Option(help: "A file with the issuer's JWK set, if this service cannot reach the issuer.") var jwks: String?
        @Option(help: "`aud` of its tokens; default: http.publicURL.") var audience: String?
        @Option(help: "A claim of its tokens and its exact value, as name=value; repeat it for more.")
        var claim: [String] = []
        @Option(help: "Minutes for which its access tokens are valid, 1 to 60.") var tokenMinutes = 15
        @OptionGroup var options: GrantOptions

        func run() async throws {
            let audience = try await audience()
            let allowsLoopback = try await database.allowsLoopback()
            try await database.withAdministration(allowsLoopback: allowsLoopback) { stores, administration in
                let workload = Workload(
                    credential: AdminCredential(
                        id: "",
                        name: name,
                        project: try project.map { try stores.project($0).id },
                        scopes: []
                    ),
                    issuer: issuer,
                    jwks: try keys(),
                    audience: audience,
                    claims: try claims(),
                    tokenLifetime: Int64(min(max(tokenMinutes, 0), 61)) * 60
                )
                print(try await administration.workloads.create(workload, try options.grant).id)
            }
        }

        private func audience() async throws -> String {
            if let audience { return audience }
            guard let url = try await database.publicURL() else {
                throw CommandFailure.usage("--audience is required, because http.publicURL is not known here")
            }
            return url.text
        }

        private func keys() throws -> String? {
            guard let jwks else { return nil }
            guard let text = try? String(contentsOfFile: jwks, encoding: .utf8) else {
                throw CommandFailure.usage("\(jwks) cannot be read")
            }
            return text
        }

        private func claims() throws -> [String: String] {
            var claims: [String: String] = [:]
            for text in claim {
                guard let equals = text.firstIndex(of: "=") else {
                    throw CommandFailure.usage("--claim must be name=value")
                }
                let name = String(text[..<equals])
                guard claims.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                    throw CommandFailure.usage("--claim names '\(name)' twice")
                }
            }
            return claims
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the workloads.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withAdministration { _, administration in
                let rows = try await administration.workloads.list().map { listed in
                    let workload = listed.credential
                    return [
                        workload.id, workload.name, workload.project?.rawValue ?? "*", workload.issuer,
                        workload.audience,
                        workload.claims.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " "),
                        workload.scopes.text, "\(workload.tokenLifetime / 60)",
                        listed.createdAt.ISO8601Format(), listed.lastUsedAt?.ISO8601Format() ?? "",
                        workload.expiresAt?.date ?? "", workload.disabled ? "revoked" : "active",
                    ]
                }
                let header = [
                    "ID", "NAME", "PROJECT", "ISSUER", "AUDIENCE", "CLAIMS", "SCOPES", "MINUTES", "CREATED", "USED",
                    "EXPIRES", "STATE",
                ]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a workload, and immediately its access tokens."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The ID from `workloads list`.") var id: String

        func run() async throws {
            try await database.withAdministration { _, administration in
                let message = "this workload does not exist or is already revoked"
                try await ConfigurationError.notFound.explained(as: message) {
                    try await administration.workloads.revoke(id)
                    print("revoked \(id)")
                }
            }
        }
    }
}
