import ArgumentParser
import Linking
import Projects
import Storage

struct ProjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projects",
        abstract: "Create, list and delete projects.",
        subcommands: [Create.self, List.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a project and an API key for its apps.",
            discussion: "Prints the project's number and the key."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "6 to 30 characters of a-z, 0-9 and -, starting with a letter.") var project: String

        func run() async throws {
            guard let id = ProjectID(rawValue: project) else {
                throw CommandFailure.usage(
                    "'\(project)' is not a project ID: 6 to 30 of a-z, 0-9 and -, first a letter"
                )
            }
            try await database.withStores { stores in
                do {
                    let made = try await stores.configuration.createProject(id, settings: ProjectSettings())
                    let key = try await stores.configuration.createAPIKey(for: id, displayName: "default")
                    print(Table(["PROJECT", "NUMBER", "API KEY"], [[id.rawValue, "\(made.number)", key.rawValue]]))
                } catch ConfigurationError.alreadyExists {
                    throw CommandFailure.failed("project '\(project)' already exists")
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the projects.")
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withStores { stores in
                let rows = stores.configuration.snapshot.allProjects.map { [$0.id.rawValue, "\($0.number)"] }
                print(Table(["PROJECT", "NUMBER"], rows).text(json: json))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Permanently delete a project with all its accounts."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument var project: String
        @Flag(help: "Confirm the deletion; without it, nothing is deleted.") var yes = false

        func run() async throws {
            try await database.withStores { stores in
                let project = try stores.project(project)
                guard yes else {
                    throw CommandFailure.usage("add --yes to delete '\(project.id)' with all its accounts")
                }
                try await stores.configuration.deleteProject(project.id)
                print("deleted \(project.id)")
            }
        }
    }
}
