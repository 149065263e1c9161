import ArgumentParser
import Foundation
import IdentityService

/// The command line: `identity dev`, `identity serve`, and commands that manage a deployment.
@main
struct Identity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "A self-hosted identity federation service that speaks the Firebase Auth wire protocol.",
        version: Release.version,
        subcommands: [
            Dev.self, Serve.self, Migrate.self, ProjectsCommand.self, APIKeysCommand.self, AdminKeysCommand.self,
            AdminsCommand.self,
            KeysCommand.self, ServiceAccountsCommand.self, WorkloadsCommand.self,
            OAuthClientsCommand.self, UsersCommand.self,
            ProvidersCommand.self, ImportCommand.self,
            ExportCommand.self, AuditCommand.self, CheckCommand.self, RestoredCommand.self,
            WebhooksCommand.self,
        ]
    )

    /// Errors are one line on standard error; the exit code is 64 for the command line, 75 while the database is away or
    /// a port is taken, 78 for the configuration.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            LogWriter.flush()
        } catch let failure as CommandFailure {
            end(failure.code, failure.message)
        } catch {
            let code = exitCode(for: error)
            guard code != .success, !(error is CleanExit) else { exit(withError: error) }
            let message = message(for: error)
            end(code, message.isEmpty ? "\(error)" : message)
        }
    }

    private static func end(_ code: ExitCode, _ message: String) -> Never {
        LogWriter.flush()
        var line = message.split(separator: "\n").first.map { String($0) } ?? "failed"
        if code == .validationFailure { line += " (see `identity --help`)" }
        FileHandle.standardError.say(Data("identity: \(line)\n".utf8))
        Foundation.exit(code.rawValue)
    }
}

/// Why a command failed, in one line for its user.
struct CommandFailure: Error {
    var message: String
    var code: ExitCode

    init(message: String, code: ExitCode) { (self.message, self.code) = (message, code) }

    /// The command line is wrong (EX_USAGE).
    static func usage(_ message: String) -> CommandFailure {
        CommandFailure(message: message, code: ExitCode(64))
    }

    /// The configuration, or something it refers to, is wrong (EX_CONFIG).
    static func configuration(_ message: String) -> CommandFailure {
        CommandFailure(message: message, code: ExitCode(78))
    }

    /// Something that the command needs is away, and may come back (EX_TEMPFAIL).
    static func unavailable(_ message: String) -> CommandFailure {
        CommandFailure(message: message, code: ExitCode(75))
    }

    /// An address at which nothing can listen, and what to do about it; another program may go away.
    init(_ error: HTTPServer.Address.Unusable, _ advice: String) {
        let message = "\(error)\(advice)"
        self = error.reason == .taken ? .unavailable(message) : .configuration(message)
    }

    /// Refuses an address at which nothing can listen, before anything starts.
    static func require(_ address: HTTPServer.Address, _ advice: String) throws {
        do throws(HTTPServer.Address.Unusable) { try address.requireUsable() } catch {
            throw CommandFailure(error, advice)
        }
    }

    /// Values in the database need keys that are missing.
    static func missingKeys(_ ids: [String]) -> CommandFailure {
        configuration(
            "encryption.keys lacks \(ids.joined(separator: ", ")), but values in the database are encrypted with it: add it "
                + "at the end of the list, and see `identity keys list --encryption`"
        )
    }

    /// The request cannot be carried out now.
    static func failed(_ message: String) -> CommandFailure {
        CommandFailure(message: message, code: ExitCode(1))
    }
}
