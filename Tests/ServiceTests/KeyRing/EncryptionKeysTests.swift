import Foundation
import TestKit
import Testing

/// Encryption keys from where a key-management system puts them.
@Suite("Encryption keys from files and commands", .database, .timeLimit(.minutes(10)))
struct EncryptionKeysTests {
    private func run(_ environment: [String: String], _ arguments: String...) async throws -> Program.Result {
        try await Program.run(
            IdentityProgram.path,
            arguments.isEmpty ? ["keys", "list", "--encryption"] : arguments,
            environment: environment.merging(["IDENTITY_DATABASE_URL": TestDatabase.current.conninfo]) { $1 }
        )
    }

    private static let second = "k2:" + Data(repeating: 5, count: 32).base64EncodedString()

    @Test("come line by line or with commas, from a file, a command, or the configuration alone")
    func sources() async throws {
        try await withTemporaryFolder { path in
            let folder = URL(filePath: path)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let file = folder.appending(path: "keys")
            for text in [
                "\(IdentityProgram.encryptionKey)\n\n \(Self.second)\r\n",
                "\(IdentityProgram.encryptionKey),\(Self.second)",
            ] {
                try Data(text.utf8).write(to: file)
                for environment in [
                    ["IDENTITY_ENCRYPTION_KEYS_FILE": file.path],
                    ["IDENTITY_ENCRYPTION_KEYS_COMMAND": "/bin/cat, \(file.path)"],
                ] {
                    let listed = try await run(environment)
                    #expect(listed.status == 0, "\(listed)")
                    let ids = listed.output.split(separator: "\n").dropFirst().map { $0.prefix(2) }
                    #expect(ids == ["k1", "k2"], "\(listed)")
                }
            }
        }
    }

    @Test("each mistake is named, and nothing of a key is said")
    func mistakes() async throws {
        try await withTemporaryFolder { path in
            let folder = URL(filePath: path)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            func file(_ name: String, _ text: String) throws -> String {
                let url = folder.appending(path: name)
                try Data(text.utf8).write(to: url)
                return url.path
            }
            let (name, command) = ("IDENTITY_ENCRYPTION_KEYS_FILE", "IDENTITY_ENCRYPTION_KEYS_COMMAND")
            let secret = Data(repeating: 6, count: 31).base64EncodedString()
            let short = try file("short", "k1:\(secret)")
            let cases: [(environment: [String: String], says: String)] = [
                ([:], "encryption.keys is missing"),
                ([name: path + "/none"], "encryption.keysFile: the file cannot be read"),
                ([name: try file("empty", "")], "encryption.keysFile: the file cannot be read or is empty"),
                ([name: try file("blank", " \n")], "encryption.keysFile: at least one encryption key is required"),
                (
                    [name: try file("long", String(repeating: "x", count: 65_537))],
                    "encryption.keysFile: the file is too long"
                ),
                ([name: try file("bare", secret)], "encryption.keysFile: each key must be id:base64, with 32 bytes"),
                ([name: short], "encryption.keysFile: key k1 must have 32 bytes"),
                ([command: "/bin/cat,\(short)"], "encryption.keysCommand: key k1 must have 32 bytes"),
                ([command: "\(path)/none"], "encryption.keysCommand: cannot run \(path)/none"),
                ([command: "/bin/cat,\(path)/none"], "encryption.keysCommand: /bin/cat exited with 1"),
                ([command: "/usr/bin/yes,\(secret)"], "encryption.keysCommand: /usr/bin/yes printed too much"),
                ([command: "/bin/sleep,60"], "encryption.keysCommand: /bin/sleep took longer than 10 seconds"),
                ([name: short, command: "/bin/cat"], "set only one of encryption.keys, encryption.keysFile"),
            ]
            for each in cases {
                let refused = try await run(each.environment)
                #expect(refused.status == 78 && refused.errors.contains(each.says), "\(each.says): \(refused)")
                #expect(!refused.errors.contains(secret.prefix(8)), "\(refused)")
            }
        }
    }
}
