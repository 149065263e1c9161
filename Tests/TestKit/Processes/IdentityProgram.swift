package import Foundation

/// The program `identity`, as people run it.
package enum IdentityProgram {
    /// The root of the repository.
    package static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The release program of `IDENTITY_PROGRAM`, as it is packaged; else the one built beside the tests that run.
    package static var path: String {
        if let path = ProcessInfo.processInfo.environment["IDENTITY_PROGRAM"], !path.isEmpty { return path }
        let bundle = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "identity")
        if let bundle, FileManager.default.isExecutableFile(atPath: bundle.path) { return bundle.path }
        return repository.appending(path: ".build/debug/identity").path
    }

    /// 32 bytes of no secret.
    package static let encryptionKey = "k1:" + Data(repeating: 9, count: 32).base64EncodedString()

    /// Runs a command to its end.
    package static func run(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program.run(path, arguments, environment: environment)
    }

    /// All commands of the program.
    package static func commands() async throws -> Set<String> {
        let help = try await run("--experimental-dump-help")
        func leaves(of command: JSON, after path: [String]) -> [String] {
            let below = (command["subcommands"]?.array ?? []).filter { $0["commandName"] != "help" }
            guard !below.isEmpty else { return [path.joined(separator: " ")] }
            return below.flatMap { leaves(of: $0, after: path + [$0["commandName"]?.string ?? ""]) }
        }
        let root = try JSON(parsing: Array(help.output.utf8))["command"] ?? [:]
        return Set(leaves(of: root, after: []))
    }

    /// What a command on the database needs to know; a node listens on a free port of loopback.
    package static func environment(_ conninfo: String) -> [String: String] {
        [
            "IDENTITY_DATABASE_URL": conninfo, "IDENTITY_ENCRYPTION_KEYS": encryptionKey,
            "IDENTITY_HTTP_BIND": "127.0.0.1:0",
        ]
    }

    /// Runs `identity serve`, on a free port of loopback if `environment` names none; afterwards it has ended.
    package static func serve<R>(
        _ environment: [String: String],
        arguments: [String] = ["serve"],
        _ body: (Program, RemoteService) async throws -> R
    ) async throws -> R {
        let environment = ["IDENTITY_HTTP_BIND": "127.0.0.1:0"].merging(environment) { $1 }
        return try await Program.with(path, arguments, environment: environment) { program in
            let line = try await program.line { $0.contains(#""message":"Serving""#) }
            let port = try JSON(parsing: Array(line.utf8))["http.port"]?.string ?? ""
            return try await body(program, RemoteService(baseURL: "http://127.0.0.1:\(port)"))
        }
    }

    /// Runs `identity dev` on free ports; afterwards it has ended.
    package static func dev<R>(
        _ arguments: String...,
        environment: [String: String] = [:],
        body: (Program, RemoteService) async throws -> R
    ) async throws -> R {
        try await dev(arguments, environment: environment, body: body)
    }

    package static func dev<R>(
        _ arguments: [String],
        environment: [String: String] = [:],
        body: (Program, RemoteService) async throws -> R
    ) async throws -> R {
        try await Program.with(path, ["dev", "--port", "0"] + arguments, environment: environment) { program in
            let line = try await program.line(beginningWith: "ready ")
            var service = RemoteService(baseURL: String(line.dropFirst("ready ".count)))
            service.adminToken = "owner"
            return try await body(program, service)
        }
    }
}
