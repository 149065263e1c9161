import Foundation

/// Runs a short program to its end; blocks, so do not use it on a cooperative thread.
enum Command {
    struct Answer {
        let succeeded: Bool
        /// The output of both streams.
        let output: String
    }

    static func run(_ program: String, _ arguments: [String]) throws -> Answer {
        let process = process(program, arguments)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Answer(succeeded: process.terminationStatus == 0, output: String(decoding: output, as: UTF8.self))
    }

    /// A program that runs in the root folder, as its user may not be allowed into ours, and without our environment's
    /// settings.
    static func process(_ program: String, _ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
