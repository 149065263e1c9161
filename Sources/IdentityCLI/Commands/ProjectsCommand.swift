import Administration
import ArgumentParser
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
            let id = try ProjectID(named: project)
            try await database.withAdministration { _, administration in
                try await ConfigurationError.alreadyExists.explained(as: "project '\(project)' already exists") {
                    let (made, key) = try await administration.projects.create(id)
                    print(Table(["PROJECT", "NUMBER", "API KEY"], [[id.rawValue, "\(made.number)", key.rawValue]]))
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
            try await database.withAdministration { stores, administration in
                let project = try stores.project(project)
                guard yes else {
                    throw CommandFailure.usage("add --yes to delete '\(project.id)' with all its accounts")
                }
                try await administration.projects.delete(project.id)
                print("deleted \(project.id)")
            }
        }
    }
}
