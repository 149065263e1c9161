import Accounts
import ArgumentParser
import Domain
import Foundation
import Projects
import Storage
import Transfer

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract:
            "Export all accounts of a project or tenant to files in the format of `firebase auth:export`.",
        discussion: """
            Writes to FOLDER one file for accounts without a password, and one for each password hash algorithm with a file \
            of its parameters. `identity import firebase` imports them. The files contain password hashes and their keys: \
            protect them like the database.
            """
    )
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The project.") var project: String
    @OptionGroup var tenant: TenantOption
    @Option(help: "json or csv; csv contains only the providers of Firebase's CSV, and no second factors.")
    var format = UserFileFormat.json
    @Flag(help: "Omit what `firebase auth:import` refuses: other providers, authenticator apps, passkeys.")
    var portable = false
    @Argument(help: "A folder that is empty or does not exist.") var folder: String

    func run() async throws {
        do {
            try await database.withAccounts { stores, accounts in
                let project = try tenant.enter(try stores.project(project))
                let export = ExportUsers(
                    accounts.admin,
                    of: project,
                    as: format,
                    isPortable: portable
                )
                let (files, reduced) = try await export(to: folder) { count in
                    if count % 100_000 == 0, count > 0 {
                        FileHandle.standardError.say(Data("identity: \(count) accounts …\n".utf8))
                    }
                }
                if reduced > 0 {
                    let text = "identity: left out of \(reduced) accounts: providers, second factors or passkeys\n"
                    FileHandle.standardError.say(Data(text.utf8))
                }
                for file in files { print("\(file.accounts) accounts in \(file.file)") }
            }
        } catch let error as UserFileError {
            throw CommandFailure.failed("\(error)")
        }
    }
}
