import ArgumentParser
import Foundation
import Passwords

struct PasswordsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwords",
        abstract: "Prepare what passwords are compared with.",
        subcommands: [BuildFilter.self]
    )

    struct BuildFilter: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "build-filter",
            abstract: "Make the file of passwords.leaked from lists of SHA-1 hashes.",
            discussion: """
                A list has one hash in hexadecimal digits per line, alone or as HASH:COUNT, like the downloads of Have I Been \
                Pwned. The file needs two bytes for each password, and so does this command in memory.
                """
        )
        @Argument(help: "The lists.") var lists: [String]
        @Option(name: .shortAndLong, help: "The file to write.") var output: String
        @Option(help: "Leaves out passwords that were found less often.") var minimumCount: UInt64 = 1

        func run() async throws {
            if let list = lists.first(where: { !FileManager.default.isReadableFile(atPath: $0) }) {
                throw CommandFailure.failed("\(list) cannot be read")
            }
            do {
                let count = try LeakedPasswordFilter.build(from: lists, minimumCount: minimumCount, at: output)
                print("\(output): \(count) passwords")
            } catch let error as LeakedPasswordFilter.InvalidList {
                throw CommandFailure.failed("\(error.path), line \(error.line): not a SHA-1 in 40 hexadecimal digits")
            } catch let error as CocoaError {
                throw CommandFailure.failed("\(output) cannot be written: \(error.localizedDescription)")
            }
        }
    }
}
