import Accounts
import ArgumentParser
import Linking
import Outbound
import Projects
import Storage

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what in the projects' configuration cannot work, or should be another way.",
        discussion: """
            A line for each finding; docs/configuration.md lists them by their ids. Ends with 1 if one is an error, \
            otherwise with 0. Nothing is changed and no provider is asked.
            """
    )
    @OptionGroup var database: DatabaseOptions
    @Option(help: "One project alone.") var project: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let configuration = database.data == nil ? try await ServiceConfiguration.load(file: database.config) : nil
        try await database.withStores { stores in
            let check = ConfigurationCheck(
                isDevelopment: try await stores.configuration.mode() == .dev,
                allowsLoopback: configuration?.outbound.allowsLoopback ?? false,
                publicURL: configuration?.publicURL,
                sendsMail: configuration?.mail != nil
            )
            let snapshot = stores.configuration.snapshot
            let projects = try project.map { [try stores.project($0)] } ?? snapshot.allProjects
            let findings = projects.flatMap { check($0, in: snapshot) }
            let rows = findings.map { finding in
                [
                    finding.project.rawValue, finding.level.rawValue, finding.id.rawValue,
                    finding.provider?.rawValue ?? "", finding.text,
                ]
            }
            print(Table(["PROJECT", "LEVEL", "ID", "PROVIDER", "TEXT"], rows).text(json: json))
            let errors = findings.count { $0.level == .error }
            guard errors == 0 else { throw CommandFailure.failed("\(errors) error\(errors == 1 ? "" : "s")") }
        }
    }
}
