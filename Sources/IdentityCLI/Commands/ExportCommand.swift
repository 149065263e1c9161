import Accounts
import ArgumentParser
import Foundation
import Linking
import Projects
import Storage
import Transfer

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract:
            "Write all accounts of a project, or of one of its tenants, into files, in the format of `firebase auth:export`.",
        discussion: """
            FOLDER gets one file for accounts without a password and one for each way in which passwords were hashed, \
            with a file beside it that says how; `identity import firebase` takes them in again. They hold password hashes \
            and their keys: keep them as you keep the database.
            """
    )
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The project.") var project: String
    @OptionGroup var tenant: TenantOption
    @Option(help: "json or csv, which has no room for other providers than Firebase's own four.")
    var format = UserFileFormat.json
    @Flag(help: "Leave out what `firebase auth:import` refuses: other providers, second factors and the like.")
    var portable = false
    @Argument(help: "A folder that is empty, or not there yet.") var folder: String

    func run() async throws {
        do {
            try await database.withAccounts { stores, accounts in
                let (project, scope) = try tenant.enter(try stores.project(project))
                let export = ExportUsers(
                    accounts.admin,
                    of: project,
                    scope.tenant,
                    as: format,
                    isPortable: portable
                )
                let files = try await export(to: folder) { count in
                    if count % 100_000 == 0, count > 0 {
                        FileHandle.standardError.say(Data("identity: \(count) accounts …\n".utf8))
                    }
                }
                for file in files { print("\(file.accounts) accounts in \(file.file)") }
            }
        } catch let error as UserFileError {
            throw CommandFailure.failed("\(error)")
        }
    }
}
