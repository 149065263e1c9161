import Foundation

/// The user that runs the server: our own, or `postgres` when we are root, as the server refuses to run as root.
enum ServerUser {
    static var isOther: Bool { getuid() == 0 }

    private static let become = ["--reuid=postgres", "--regid=postgres", "--init-groups"]

    /// The command line that runs a program as that user.
    static func commandLine(_ program: String, _ arguments: [String]) -> (program: String, arguments: [String]) {
        guard isOther else { return (program, arguments) }
        return ("/usr/bin/env", ["setpriv"] + become + ["--", program] + arguments)
    }

    /// The same for a program that the kernel interrupts when the thread that started it ends for any reason.
    static func dependentCommandLine(
        _ program: String,
        _ arguments: [String]
    ) -> (program: String, arguments: [String]) {
        #if os(Linux)
        let options = ["--pdeathsig", "INT"] + (isOther ? become : [])
        return ("/usr/bin/env", ["setpriv"] + options + ["--", program] + arguments)
        #else
        return commandLine(program, arguments)
        #endif
    }

    static func canEnter(_ folder: String) throws -> Bool {
        let (program, arguments) = commandLine("/usr/bin/env", ["test", "-w", folder, "-a", "-x", folder])
        return try Command.run(program, arguments).succeeded
    }

    /// Creates a folder that only that user and root can enter.
    static func makeFolder(_ path: String) throws {
        let answer = try Command.run(
            "/usr/bin/env",
            ["install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", path]
        )
        guard answer.succeeded else {
            throw PrivateClusterError.unusableFolder(
                path,
                reason: answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
            )
        }
    }
}
