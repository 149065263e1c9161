import ArgumentParser
import Linking
import Projects
import Storage

struct ProjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projects",
        abstract: "Make, list and delete projects.",
        subcommands: [Create.self, List.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a project, with an API key for its apps.",
            discussion: "Prints the project's number and the key."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "6 to 30 of a-z, 0-9 and -, a letter first.") var project: String

        func run() async throws {
            guard let id = ProjectID(rawValue: project) else {
                throw CommandFailure.usage("'\(project)' is no project id: 6 to 30 of a-z, 0-9 and -, a letter first")
            }
            try await database.withStores { stores in
                do {
                    let made = try await stores.configuration.createProject(id, settings: ProjectSettings())
                    let key = try await stores.configuration.createAPIKey(for: id, displayName: "default")
                    print(Table(["PROJECT", "NUMBER", "API KEY"], [[id.rawValue, "\(made.number)", key.rawValue]]))
                } catch ConfigurationError.alreadyExists {
                    throw CommandFailure.failed("the project '\(project)' exists already")
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
            abstract: "Delete a project with all its accounts; there is no way back."
        )
        @OptionGroup var database: DatabaseOptions
        @Argument var project: String
        @Flag(help: "Do it: without, nothing is deleted.") var yes = false

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
