import Foundation

/// A short program, run to its end; blocks, so not for a cooperative thread.
enum Command {
    struct Answer {
        let succeeded: Bool
        /// What it wrote on both streams.
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

    /// A program in the root folder, as its user may not enter ours, without the settings of our environment.
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
