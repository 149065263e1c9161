import Development
import Foundation
import Postgres
import TestKit
import Testing

/// What `docker compose up` runs, without an engine: its commands and its environment, against a PostgreSQL over TCP
/// with SCRAM and the certificate that its first start makes.
@Suite("docker-compose.yml", .timeLimit(.minutes(10)))
struct ComposeTests {
    private let variables = [
        // With everything that a URL, a conninfo or a shell could trip over.
        "POSTGRES_PASSWORD": #"p@ss/w?rd#'"%41\ "#,
        "IDENTITY_ENCRYPTION_KEYS": IdentityProgram.encryptionKey,
    ]

    @Test("has no default for a secret", arguments: ["POSTGRES_PASSWORD", "IDENTITY_ENCRYPTION_KEYS"])
    func asksForSecrets(_ name: String) throws {
        var variables = variables
        variables[name] = nil
        #expect(throws: ComposeProblem(text: "set \(name)")) { try ComposeFile(variables: variables) }
    }

    @Test("puts nothing on a public address, and the parts in order")
    func order() throws {
        let file = try ComposeFile(variables: ["POSTGRES_PASSWORD": "x", "IDENTITY_ENCRYPTION_KEYS": "x"])
        #expect(file.services.values.flatMap(\.ports).allSatisfy { $0.hasPrefix("127.0.0.1:") })
        #expect(try file.service("migrate").dependsOn == ["postgres": "service_healthy"])
        let identity = try file.service("identity")
        #expect(identity.dependsOn["migrate"] == "service_completed_successfully")
        // The port of the container, in the one place and the other.
        #expect(identity.ports == ["127.0.0.1:9099:9099"])
        // The service and the migration write nothing to their file systems, and get no privilege.
        let text = try Repository.text("docker-compose.yml")
        for line in ["read_only: true", "cap_drop: [ALL]", #"security_opt: ["no-new-privileges:true"]"#] {
            #expect(text.split(separator: "\n").count { $0.hasSuffix("    \(line)") } == 2, "\(line)")
        }
        let image = try String(contentsOf: IdentityProgram.repository.appending(path: "Dockerfile"), encoding: .utf8)
        #expect(image.contains("\nENV IDENTITY_HTTP_BIND=0.0.0.0:9099\n"))
        #expect(image.contains("\nENTRYPOINT [\"identity\"]\n"))
        #expect(image.contains("\nUSER identity\n"))
    }

    @Test("migrates, serves, and signs in")
    func signsIn() async throws {
        let file = try ComposeFile(variables: variables)
        let postgres = try file.service("postgres").environment
        try await withTemporaryFolder { folder in
            try await ComposePostgres.run(
                folder: folder,
                user: try #require(postgres["POSTGRES_USER"]),
                password: try #require(postgres["POSTGRES_PASSWORD"]),
                database: try #require(postgres["POSTGRES_DB"])
            ) { address in
                // The network of compose: its name for the database, and a port of ours.
                let network = ["PGHOSTADDR": address]
                let migrate = try file.service("migrate")
                let migrated = try await Program.run(
                    IdentityProgram.path,
                    migrate.command,
                    environment: migrate.environment.merging(network) { $1 }
                )
                #expect(migrated.status == 0 && migrated.output.contains("applied"), "\(migrated)")

                let identity = try file.service("identity")
                let environment = identity.environment.merging(network) { $1 }
                try await IdentityProgram.serve(environment, arguments: identity.command) { program, service in
                    let made = try await IdentityProgram.run(
                        "projects",
                        "create",
                        "compose-test",
                        environment: environment
                    )
                    #expect(made.status == 0, "\(made)")
                    var service = service
                    service.project = "compose-test"
                    service.apiKey = String(made.output.split(separator: " ").last ?? "")
                    try await service.learnsItsKey()
                    let signedUp = try await service.signUp("ada@example.com")
                    signedUp.expectOK()
                    let signedIn = try await service.signInWithPassword("ada@example.com")
                    #expect(signedIn.localID == signedUp.localID, "\(signedIn)")
                    let health = try await Program.run(
                        IdentityProgram.repository.appending(path: "docker/healthcheck").path,
                        [],
                        environment: ["IDENTITY_HTTP_BIND": String(service.baseURL.dropFirst("http://".count))]
                    )
                    #expect(health.status == 0, "\(health)")
                    program.terminate()
                    #expect(await program.result().status == 0)
                }
            }
        }
    }
}
