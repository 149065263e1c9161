import Foundation
import TestKit
import Testing

/// `identity dev --import DIR --export-on-exit`, as the emulators' command line has it.
@Suite("identity dev with the emulator's folder", .timeLimit(.minutes(10)))
struct DevExchangeTests {
    private func stop(_ program: Program) async throws -> Program.Result {
        program.interrupt()
        let result = await program.result()
        #expect(result.status == 0, "\(result)")
        return result
    }

    @Test("starts with its accounts and writes them back at the end, passwords included")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.copyItem(atPath: EmulatorFolderTests.fixture, toPath: folder)
            try await IdentityProgram.dev("--ephemeral", "--import", folder, "--export-on-exit") { program, service in
                #expect(
                    try await service.signInWithPassword("ada@example.com").localID == "1Ada2byron3lovelace4countess"
                )
                try await service.signUp("new@example.com", "battery staple").expectOK()
                let result = try await stop(program)
                #expect(result.output.contains("imported 7 accounts from \(folder)\n"), "\(result)")
                #expect(result.output.contains("exported 8 accounts to \(folder)\n"), "\(result)")
            }
            // `--ephemeral` begins with nothing but the folder.
            try await IdentityProgram.dev("--ephemeral", "--import=\(folder)") { _, service in
                let ada = try await service.signInWithPassword("ada@example.com")
                let new = try await service.signInWithPassword("new@example.com", "battery staple")
                #expect(ada.status == 200 && new.status == 200, "\(ada) \(new)")
            }
            try await IdentityProgram.dev("--ephemeral") { _, service in
                let new = try await service.signInWithPassword("new@example.com", "battery staple")
                #expect(new.status == 400, "\(new)")
            }
        }
    }

    @Test("begins with nothing when the folder is yet to be, and keeps it with the next start's accounts")
    func firstStart() async throws {
        try await withTemporaryFolder { folder in
            let data = folder + "/data"
            let seed = folder + "/seed"
            for count in [1, 2] {
                try await IdentityProgram.dev("--data", data, "--import", seed, "--export-on-exit") {
                    program,
                    service in
                    try await service.signUp("user\(count)@example.com").expectOK()
                    let result = try await stop(program)
                    #expect(result.output.contains("exported \(count) account"), "\(result)")
                    #expect(
                        result.output.contains(count == 1 ? "nothing to import yet" : "1 already existed"),
                        "\(result)"
                    )
                }
            }
            // Nothing is written without being asked for.
            let before = try String(contentsOfFile: seed + "/auth_export/accounts.json", encoding: .utf8)
            try await IdentityProgram.dev("--data", data, "--import", seed) { program, service in
                try await service.signUp("user3@example.com").expectOK()
                _ = try await stop(program)
            }
            #expect(try String(contentsOfFile: seed + "/auth_export/accounts.json", encoding: .utf8) == before)
        }
    }

    @Test("refuses at once what it could not read or write, and never writes over what it left out")
    func refusals() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.copyItem(atPath: EmulatorFolderTests.fixture, toPath: folder)
            let accounts = folder + "/auth_export/accounts.json"
            let cases: [(arguments: [String], status: Int32, words: String)] = [
                (["--import", folder + "/nothing"], 78, "is missing: this is not a folder that emulators exported"),
                (["--export-on-exit"], 64, "--export-on-exit requires a folder, or --import"),
                (["--export-on-exit", folder + "/auth_export"], 78, "contains other files than an export"),
                (["--export-on-exit=\(accounts)"], 78, "is not a folder"),
            ]
            for refused in cases {
                let arguments = ["dev", "--port", "0", "--ephemeral"] + refused.arguments
                let result = try await Program.run(IdentityProgram.path, arguments)
                #expect(result.status == refused.status, "\(result)")
                #expect(result.errors.contains(refused.words), "\(result)")
            }
            let text = #"{"users":[{"localId":"a"},{"localId":"b","email":"none"}]}"#
            try text.write(toFile: accounts, atomically: false, encoding: .utf8)
            let result = try await Program.run(
                IdentityProgram.path,
                ["dev", "--port", "0", "--ephemeral", "--import", folder, "--export-on-exit"]
            )
            #expect(result.status == 78, "\(result)")
            #expect(
                result.output.contains(#"not imported: \#(accounts): users[1] (localId "b"): email is invalid"#),
                "\(result)"
            )
            #expect(result.errors.contains("that were not imported"), "\(result)")
            #expect(try String(contentsOfFile: accounts, encoding: .utf8) == text)
        }
    }
}
