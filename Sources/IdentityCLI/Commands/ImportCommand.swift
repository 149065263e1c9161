import Accounts
import ArgumentParser
import Domain
import Foundation
import Projects
import Storage
import Transfer

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import accounts.",
        subcommands: [Firebase.self]
    )

    struct Firebase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import a file from `firebase auth:export` or `identity export`.",
            usage: """
                identity import firebase FILE --project ID [--tenant ID] [--hash-config FILE] [--dry-run] [--overwrite]
                """,
            discussion: """
                Accounts keep their IDs, passwords, providers and times. Refused rows are printed with their reasons, and what \
                the file lacks, such as the secret of an authenticator app, is left out with a warning. An \
                account whose ID already exists is not changed, so you can repeat an import. FILE.progress stores the \
                position until the import is complete: the same command continues from there.
                """
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project.") var project: String
        @OptionGroup var tenant: TenantOption
        @Option(
            help: """
                A file with the password hash parameters: as Firebase's console shows them under "Password hash \
                parameters", or the members of an upload as JSON. Default: the file next to FILE, if it exists.
                """
        )
        var hashConfig: String?
        @Option(help: "json or csv; default: by the file's name.") var format: UserFileFormat?
        @Flag(help: "Print what would happen, and write nothing.") var dryRun = false
        @Flag(help: "Replace existing accounts that have the same IDs.") var overwrite = false
        @Flag(help: "Print refused rows and warnings as lines of JSON.") var json = false
        @Argument(help: "The file of accounts.") var file: String

        func run() async throws {
            guard let format = format ?? UserFileFormat(file: file) else {
                throw CommandFailure.usage("set --format to json or csv for \(file)")
            }
            var options = ImportUsers.Options()
            options.replaces = overwrite
            options.dryRun = dryRun
            do {
                options.hashing = try hashing()
                try await database.withAccounts { stores, accounts in
                    let project = try tenant.enter(try stores.project(project))
                    let users = ImportUsers(accounts.importAccounts, into: project, options)
                    do {
                        try await run(users, format, project.scope)
                    } catch {
                        await database.renewStatistics(of: stores)
                        throw error
                    }
                    await database.renewStatistics(of: stores)
                }
            } catch let error as UserFileError {
                throw CommandFailure.failed("\(error)")
            }
        }

        private func run(_ users: ImportUsers, _ format: UserFileFormat, _ scope: Scope) async throws {
            let kept = ImportProgress(of: file)
            let start = try ImportProgress.start(
                file,
                project: scope.project.rawValue,
                tenant: scope.tenant.rawValue
            )
            // A dry run has no position to continue from.
            var state = dryRun ? start : try kept.read(for: start) ?? start
            if state.counts.rows > 0 { Self.note("continuing after row \(state.counts.rows)") }
            let reader = try format.reader(of: file, from: state.end, after: state.counts.rows)
            let began = ContinuousClock.now
            let counts: ImportUsers.Counts
            var incomplete = 0
            do {
                counts = try await users(reader, after: state.counts) { refusal in
                    Self.say(
                        json
                            ? Self.json(Line(row: refusal.row, localId: refusal.localID, reason: refusal.reason))
                            : Self.line(refusal.row, refusal.localID, refusal.reason)
                    )
                } warned: { warning in
                    incomplete += 1
                    Self.say(
                        json
                            ? Self.json(Line(row: warning.row, localId: warning.localID, warning: warning.text))
                            : Self.line(warning.row, warning.localID, "imported, but \(warning.text)")
                    )
                } landed: { counts, end in
                    state.counts = counts
                    state.end = end
                    if !dryRun { try kept.write(state) }
                    if counts.rows % 10_000 == 0 { Self.note("\(counts.rows) rows …") }
                }
            } catch {
                // The printed and imported rows are recorded, so the same command continues there.
                Self.note("stopped after row \(state.counts.rows): \(Self.summary(state.counts, dryRun))")
                throw error
            }
            kept.remove()
            let seconds = (ContinuousClock.now - began).components.seconds
            let warnings = incomplete == 0 ? "" : ", \(incomplete) warning\(incomplete == 1 ? "" : "s")"
            Self.note("\(Self.summary(counts, dryRun))\(warnings), in \(seconds) s")
            guard counts.refused == 0 else {
                throw CommandFailure.failed("\(counts.refused) of \(counts.rows) rows were refused")
            }
        }

        private func hashing() throws -> PasswordHashing? {
            let beside = URL(filePath: file).deletingPathExtension().path + ExportUsers.hashingEnding
            let path = hashConfig ?? (FileManager.default.fileExists(atPath: beside) ? beside : nil)
            guard let path else { return nil }
            guard let data = FileManager.default.contents(atPath: path) else {
                throw UserFileError(file: path, reason: "cannot be read")
            }
            return try PasswordHashing(String(decoding: data, as: UTF8.self), file: path)
        }

        /// Unbuffered: a row that is reported before the process dies is not reported again.
        private static func say(_ line: String) { FileHandle.standardOutput.say(Data("\(line)\n".utf8)) }

        private static func note(_ line: String) { FileHandle.standardError.say(Data("identity: \(line)\n".utf8)) }

        private static func summary(_ counts: ImportUsers.Counts, _ dryRun: Bool) -> String {
            var parts = ["\(dryRun ? "would import" : "imported") \(counts.imported) of \(counts.rows) accounts"]
            if counts.known > 0 { parts.append("\(counts.known) already existed") }
            if counts.refused > 0 { parts.append("\(counts.refused) refused") }
            return parts.joined(separator: ", ")
        }

        /// IDs and reasons come from the file: they must not forge a line or move the cursor.
        private static func line(_ row: Int, _ localID: String?, _ text: String) -> String {
            let id = localID.map { " (\(String($0.prefix(128)).debugDescription))" } ?? ""
            let text = String(text.prefix(512)).debugDescription.dropFirst().dropLast()
            return "row \(row)\(id): \(text)"
        }

        private struct Line: Encodable {
            var row: Int
            var localId: String?
            var reason: String?
            var warning: String?
        }

        private static func json(_ line: Line) -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return (try? encoder.encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
    }
}

extension UserFileFormat: ExpressibleByArgument {}
