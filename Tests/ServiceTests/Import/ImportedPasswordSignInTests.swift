import Postgres
import Projects
import Secrets
import TestKit
import Testing

/// Accounts whose passwords were hashed elsewhere.
@Suite("Sign-in with imported passwords", .database, .serialized)
struct ImportedPasswordSignInTests {
    private func parameters(_ service: TestService, _ localID: String = "ada") async throws -> String? {
        try await TestDatabase.current.client.query(
            """
            SELECT password_parameters FROM accounts
            WHERE project = \(service.project.id.rawValue) AND account = \(localID)
            """
        ) { row in try row.next(String?.self) }.first ?? nil
    }

    @Test("the right one signs in, once by its own hash and from then on by the project's", arguments: ImportedHash.all)
    func signsIn(_ each: ImportedHash) async throws {
        try await TestService.run { service in
            let uploaded = try await service.admin("accounts:batchCreate", each.upload())
            #expect(uploaded.status == 200 && uploaded["error"] == nil, "\(uploaded)")
            #expect(try await parameters(service)?.hasPrefix("import:") == true)
            // The project's parameters do not describe it.
            let listed = try await service.admin("accounts:batchGet")["users"]?[0]
            #expect(listed?["passwordHash"] == "" && listed?["salt"] == "", "\(listed ?? .null)")

            for wrong in ["x" + each.password, each.password + each.salt + "y", each.hash] {
                let reply = try await service.signInWithPassword("ada@example.com", wrong)
                #expect(reply.error == "INVALID_LOGIN_CREDENTIALS", "\(reply)")
            }
            #expect(try await parameters(service)?.hasPrefix("import:") == true)
            let (count, signedIn) = try await StatementCount.during {
                try await service.signInWithPassword("ada@example.com", each.password)
            }
            #expect(signedIn.localID == "ada", "\(signedIn)")
            #expect(count.total == 9, "\(count)")
            #expect(try await parameters(service) == "scrypt:8:14:7")
            #expect(try await service.signInWithPassword("ada@example.com", each.password).localID == "ada")
            let wrong = try await service.signInWithPassword("ada@example.com", "x" + each.password)
            #expect(wrong.error == "INVALID_LOGIN_CREDENTIALS", "\(wrong)")
            let after = try await service.admin("accounts:batchGet")["users"]?[0]
            #expect(after?["passwordHash"]?.string?.count == 88, "\(after ?? .null)")
            #expect(after?["passwordUpdatedAt"] == listed?["passwordUpdatedAt"])
        }
    }

    @Test("hashes of the project's own algorithm and key are its own, as they are")
    func ownHashes() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com", "correct horse")
            let listed = try #require(try await service.admin("accounts:batchGet")["users"]?[0])
            let key = service.project.passwordSignerKey.reveal()
            let upload: JSON = [
                "hashAlgorithm": "SCRYPT", "signerKey": .string(key), "saltSeparator": "Bw", "rounds": 8,
                "memoryCost": "14",
                "users": [
                    [
                        "localId": JSON(user.localID), "email": "ada@example.com",
                        "passwordHash": listed["passwordHash"] ?? .null, "salt": listed["salt"] ?? .null,
                    ]
                ],
            ]
            let uploaded = try await service.admin("accounts:batchCreate", upload)
            #expect(uploaded.status == 200 && uploaded["error"] == nil, "\(uploaded)")
            #expect(try await parameters(service, user.localID ?? "") == "scrypt:8:14:7")
            #expect(try await service.signInWithPassword("ada@example.com").localID == user.localID)
            let configurations = try await TestDatabase.current.client.query(
                "SELECT id FROM password_configurations WHERE project = \(service.project.id.rawValue)"
            ) { try $0.next(String.self) }
            #expect(configurations == [])
        }
    }

    @Test("one configuration is one row however often it is imported, and its key is readable nowhere")
    func configurations() async throws {
        try await TestService.run { service in
            let hmac = try #require(ImportedHash.all.first { $0.testDescription.hasPrefix("HMAC_SHA256") })
            for (number, each) in [hmac, hmac, .md5, .firebase, .firebase, .md5].enumerated() {
                let users = [each.account("user\(number)", email: "user\(number)@example.com")]
                let uploaded = try await service.admin("accounts:batchCreate", each.upload(users))
                #expect(uploaded["error"] == nil, "\(uploaded)")
            }
            let rows = try await TestDatabase.current.client.query(
                """
                SELECT id, algorithm, sealed_key FROM password_configurations
                WHERE project = \(service.project.id.rawValue)
                """
            ) { row in
                (id: try row.next(String.self), text: try row.next(String.self), key: try row.next([UInt8]?.self))
            }
            #expect(rows.count == 3)
            let keys = rows.compactMap(\.key)
            #expect(keys.count == 2 && !keys.contains { String(decoding: $0, as: UTF8.self).contains("Jefe") })
            #expect(!rows.contains { "\($0.id)\($0.text)".contains("Jefe") })
            let used = try await TestDatabase.current.client.query(
                """
                SELECT DISTINCT password_parameters FROM accounts WHERE project = \(service.project.id.rawValue)
                """
            ) { try $0.next(String.self) }
            #expect(Set(used) == Set(rows.map(\.id)))
        }
    }

    @Test("T-A2: a new password is not undone by a sign-in with the imported one that was about to replace its hash")
    func newPasswordWins() async throws {
        try await TestService.run { service in
            try await service.admin("accounts:batchCreate", ImportedHash.md5.upload())
            let reply = try await Race.run(
                service,
                hold: {
                    try await $0.execute(
                        "UPDATE accounts SET password_hash = \([1] as [UInt8]) WHERE account = \("ada")"
                    )
                },
                { try await service.signInWithPassword("ada@example.com", "bc") }
            )
            #expect(reply.error == "INVALID_LOGIN_CREDENTIALS", "\(reply)")
        }
    }
}
