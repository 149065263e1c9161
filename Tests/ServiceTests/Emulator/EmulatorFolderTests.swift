import Accounts
import Development
import Foundation
import IdentityService
import Projects
import Secrets
import Storage
import StrictJSON
import TestKit
import Testing

/// Folders that Firebase's emulators export, in and out (`identity dev --import`, `--export-on-exit`).
///
/// `Export/` is one of firebase-tools 13.29.1, with an account of every kind.
@Suite("The emulator's folder", .database)
struct EmulatorFolderTests {
    static let fixture = IdentityProgram.repository.appending(path: "Tests/ServiceTests/Emulator/Export").path

    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options, body)
    }

    private func bringIn(_ folder: String, _ service: TestService) async throws -> EmulatorFolder.Imported {
        try #require(
            try await EmulatorFolder(path: folder)
                .importAccounts(into: service.project, service.stores, service.assembly.accounts)
        )
    }

    private func export(to folder: String, _ service: TestService) async throws {
        let project = try #require(service.stores.configuration.snapshot.project(service.project.id))
        try await EmulatorFolder(path: folder).export(project, service.stores, service.assembly.accounts)
    }

    private func files(of folder: String) throws -> [String: String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) }
        )
    }

    /// A folder with these files besides, or instead of, the fixture's.
    private func withFolder<R>(_ changes: [String: String?], _ body: (String) async throws -> R) async throws -> R {
        try await withTemporaryFolder { folder in
            try FileManager.default.copyItem(atPath: Self.fixture, toPath: folder)
            for (name, text) in changes {
                let path = "\(folder)/\(name)"
                try? FileManager.default.removeItem(atPath: path)
                try text?.write(toFile: path, atomically: false, encoding: .utf8)
            }
            return try await body(folder)
        }
    }

    @Test("its accounts are what they were: every way in, claims, factors, times")
    func bringsEverythingIn() async throws {
        try await run { service in
            let imported = try await bringIn(Self.fixture, service)
            #expect(imported.accounts == 7 && imported.knownAccounts == 0 && imported.refused == [])

            let ada = try await service.signInWithPassword("ada@example.com")
            #expect(ada.localID == "1Ada2byron3lovelace4countess", "\(ada)")
            #expect(ada.claims["role"] == "admin" && ada.claims["level"] == 3)
            #expect(ada.claims["email_verified"] == true && ada.claims["phone_number"] == "+15555550101")
            let google = #"id_token={"sub":"8094217736","email":"ada@example.com","email_verified":true}"#
            let federated = try await service.signInWithIdP(postBody: "providerId=google.com&\(google)")
            #expect(federated.localID == ada.localID && federated["isNewUser"] == nil, "\(federated)")

            let wrong = try await service.signInWithPassword("gone@example.com", "a:password=b: e")
            #expect(wrong.code == "INVALID_LOGIN_CREDENTIALS", "\(wrong)")
            let disabled = try await service.signInWithPassword("gone@example.com", "a:password=b: é🔑")
            #expect(disabled.code == "USER_DISABLED", "\(disabled)")

            let dave = try await service.signInWithPassword("dave@example.com", "mfa-password")
            #expect(dave.idToken == nil && dave["mfaInfo"]?.array?.count == 2, "\(dave)")
            let secret = try #require(Base32.decode("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"))
            let step = Int64(service.clock.now().timeIntervalSince1970) / 30
            let finished = try await service.post(
                "/v2/accounts/mfaSignIn:finalize?key=any",
                text: JSON.object([
                    "mfaPendingCredential": JSON(dave["mfaPendingCredential"]?.string),
                    "mfaEnrollmentId": "Ems7pfXzwMzGndKOP1ji3FiKlm2n",
                    "totpVerificationInfo": ["verificationCode": .string(TOTP(secret: secret).code(of: step))],
                ]).text
            )
            #expect(finished.idToken != nil, "\(finished)")

            let hacker = try await service.account("3Hacker000000000000000000000")
            #expect(hacker?["displayName"] == "</script><script>alert(1)</script>")
            #expect(hacker?["providerUserInfo"]?[0]?["rawId"] == "583231" && hacker?["disabled"] == false)
            let link = try await service.account("6Link00000000000000000000000")
            #expect(link?["initialEmail"] == "first@example.com" && link?["emailLinkSignin"] == true)
            #expect(link?["createdAt"] == "1730207700000" && link?["lastLoginAt"] == "1730207800000")
            #expect(link?["validSince"] == "1730207700" && link?["customAuth"] == true)
            let phone = try await service.account("4Phone0000000000000000000000")
            #expect(phone?["phoneNumber"] == "+819012345678")
            let config = try await service.send("GET", "/emulator/v1/projects/\(service.project.id)/config")
            #expect(config["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"] == true, "\(config)")
        }
    }

    @Test("hashes from elsewhere come through an export and an import, whatever made them")
    func keepsImportedHashes() async throws {
        let hashes = ImportedHash.all
        try await withTemporaryFolder { folder in
            try await run { service in
                for (number, each) in hashes.enumerated() {
                    let users = [each.account("user\(number)", email: "user\(number)@example.com")]
                    #expect(try await service.admin("accounts:batchCreate", each.upload(users))["error"] == nil)
                }
                try await export(to: folder, service)
            }
            try await run { service in
                let imported = try await bringIn(folder, service)
                #expect(imported.accounts == hashes.count && imported.refused == [], "\(imported.refused)")
                for (number, each) in hashes.enumerated() {
                    let reply = try await service.signInWithPassword("user\(number)@example.com", each.password)
                    #expect(reply.localID == "user\(number)", "\(each): \(reply)")
                }
            }
        }
    }

    @Test("an export of an import of an export is the same, byte by byte, and its passwords sign in")
    func isStable() async throws {
        try await withTemporaryFolder { folder in
            let (first, second) = (folder + "/first", folder + "/second")
            try await run { service in
                _ = try await bringIn(Self.fixture, service)
                try await export(to: first, service)
            }
            try await run { service in
                #expect(try await bringIn(first, service).refused == [])
                try await export(to: second, service)
                try await service.signInWithPassword("ada@example.com").expectOK()
                let disabled = try await service.signInWithPassword("gone@example.com", "a:password=b: é🔑")
                #expect(disabled.code == "USER_DISABLED", "\(disabled)")
            }
            let files = try files(of: first)
            #expect(
                Set(files.keys) == [
                    "firebase-export-metadata.json", "auth_export/accounts.json", "auth_export/config.json",
                    "auth_export/hash_config.json",
                ]
            )
            #expect(try self.files(of: second) == files)
            // What the emulator itself reads is in its own form.
            let users = try JSON(parsing: Array((files["auth_export/accounts.json"] ?? "").utf8))["users"]?.array ?? []
            let before =
                try JSON(
                    parsing: Array(
                        try String(contentsOfFile: Self.fixture + "/auth_export/accounts.json", encoding: .utf8).utf8
                    )
                )["users"]?.array ?? []
            #expect(users.count == before.count)
            for (after, before) in zip(users, before) {
                for name in [
                    "localId", "email", "phoneNumber", "customAttributes", "createdAt", "lastLoginAt", "validSince",
                    "displayName", "photoUrl", "disabled", "initialEmail", "lastRefreshAt", "passwordUpdatedAt",
                ] {
                    #expect(after[name] == before[name], "\(name) of \(before["localId"]?.string ?? "")")
                }
            }
            #expect(users[6]["mfaInfo"]?[1]?["emulatorTotpSecret"] == "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
            #expect(users[6]["mfaInfo"]?[0]?["phoneInfo"] == "+15555550102")
            let hashes = users.compactMap { $0["passwordHash"]?.string }
            #expect(hashes.count == 3 && hashes.allSatisfy { $0.count == 88 && !$0.contains("fakeHash") })
        }
    }

    struct BadFolder: CustomTestStringConvertible {
        var testDescription: String
        var changes: [String: String?]
        var file: String
        var reason: String

        init(_ name: String, _ changes: [String: String?], _ file: String, _ reason: String) {
            testDescription = name
            self.changes = changes
            self.file = file
            self.reason = reason
        }
    }

    private static let metadata = "firebase-export-metadata.json"
    private static let accounts = "auth_export/accounts.json"

    static let badFolders = [
        BadFolder("no metadata", [metadata: String?.none], metadata, "is missing"),
        BadFolder("metadata that is no JSON", [metadata: "{"], metadata, "ends too early"),
        BadFolder("metadata that is a list", [metadata: "[]"], metadata, "no JSON object"),
        BadFolder("auth that is no object", [metadata: #"{"auth":"13.0.0"}"#], metadata, "Invalid value at 'auth'"),
        BadFolder("no version", [metadata: #"{"auth":{"path":"auth_export"}}"#], metadata, "not a version"),
        BadFolder("a version that is none", [metadata: #"{"auth":{"version":"newest"}}"#], metadata, "not a version"),
        BadFolder("a version that is a number", [metadata: #"{"auth":{"version":13}}"#], metadata, "auth.version"),
        BadFolder(
            "a path that leads out",
            [metadata: #"{"auth":{"version":"13.29.1","path":"../../etc"}}"#],
            metadata,
            "leads out of the folder"
        ),
        BadFolder(
            "a path to the folder above",
            [metadata: #"{"auth":{"version":"13.29.1","path":".."}}"#],
            metadata,
            "leads out of the folder"
        ),
        BadFolder("no accounts", [accounts: String?.none], accounts, "is missing"),
        BadFolder("accounts that are no JSON", [accounts: #"{"users":[{"localId":"a"},]}"#], accounts, "byte 26"),
        BadFolder("a member that comes twice", [accounts: #"{"users":[],"users":[]}"#], accounts, "is repeated"),
        BadFolder("users that are no list", [accounts: #"{"users":{}}"#], accounts, "Invalid value at 'users'"),
        BadFolder("a user that is no object", [accounts: #"{"users":["ada"]}"#], accounts, "'users[0]'"),
        BadFolder(
            "a setting that is no flag",
            ["auth_export/config.json": #"{"signIn":{"allowDuplicateEmails":"yes"}}"#],
            "auth_export/config.json",
            "allow_duplicate_emails"
        ),
        BadFolder(
            "hashes of another algorithm",
            ["auth_export/hash_config.json": #"{"algorithm":"BCRYPT"}"#],
            "auth_export/hash_config.json",
            "Firebase's scrypt"
        ),
    ]

    @Test("that cannot be read is refused with file and reason, and nothing is written", arguments: badFolders)
    func refuses(_ bad: BadFolder) async throws {
        try await run { service in
            try await withFolder(bad.changes) { folder in
                let error = await #expect(throws: EmulatorFolderError.self) { try await bringIn(folder, service) }
                #expect(error?.file == "\(folder)/\(bad.file)")
                #expect(error?.reason.contains(bad.reason) == true, "\(error?.reason ?? "")")
            }
            #expect(try await service.admin("accounts:batchGet")["users"] == nil)
            let config = try await service.send("GET", "/emulator/v1/projects/\(service.project.id)/config")
            #expect(config["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"] == false, "\(config)")
        }
    }

    @Test("a row that cannot be is left out with its place and reason; all others land")
    func leavesRowsOut() async throws {
        let rows: [(row: String, reason: String?)] = [
            (#"{"localId":"ok","email":"one@example.com"}"#, nil),
            (#"{"localId":"same-email","email":"ONE@example.com"}"#, "email exists in other account in database"),
            (#"{"localId":"ok","email":"other@example.com"}"#, nil),
            (#"{"email":"nobody@example.com"}"#, "localId is missing"),
            (#"{"localId":"bad-email","email":"no address"}"#, "email is invalid"),
            (#"{"localId":"tenant","tenantId":"t1"}"#, "Tenant id in userInfo does not match"),
            (#"{"localId":"phone","phoneNumber":"123"}"#, "phone number format is invalid"),
            (#"{"localId":"late","createdAt":"yesterday"}"#, "created_at' (TYPE_INT64)"),
            (#"{"localId":"claims","customAttributes":"{\"sub\":1}"}"#, "reserved claim"),
            (#"{"localId":"claims2","customAttributes":"[1]"}"#, "Invalid custom claims"),
            (#"{"localId":"row","providerUserInfo":[{"providerId":"google.com"}]}"#, "rawId) is required"),
            (#"{"localId":"g1","providerUserInfo":[{"providerId":"google.com","rawId":"1"}]}"#, nil),
            (#"{"localId":"g2","providerUserInfo":[{"providerId":"google.com","rawId":"1"}]}"#, "raw id exists"),
            (
                #"{"localId":"g3","providerUserInfo":[{"providerId":"google.com","rawId":"2"},{"providerId":"google.com","rawId":"3"}]}"#,
                "names a provider twice"
            ),
            (#"{"localId":"mfa","mfaInfo":[{"phoneInfo":"123"}]}"#, "Phone number format is invalid"),
            (
                #"{"localId":"hash","email":"h@example.com","passwordHash":"c2NyeXB0","salt":"x"}"#,
                "not from the emulator"
            ),
            (
                #"{"localId":"empty","email":"e@example.com","passwordHash":"fakeHash:salt=s:password="}"#,
                "empty or too long"
            ),
            (#"{"localId":"x\nforged: line","email":"no address"}"#, #"(localId "x\nforged: line"): email is invalid"#),
        ]
        try await run { service in
            let text = #"{"users":["# + rows.map(\.row).joined(separator: ",") + "]}"
            try await withFolder([Self.accounts: text, "auth_export/accounts-tenant-a.json": "{}"]) { folder in
                let imported = try await bringIn(folder, service)
                #expect(imported.accounts == 2)
                // The third has the first one's id.
                #expect(imported.knownAccounts == 1)
                let expected = rows.enumerated().filter { $0.element.reason != nil }
                #expect(imported.refused.count == expected.count + 1, "\(imported.refused)")
                #expect(imported.refused.contains { $0.hasPrefix("\(folder)/auth_export/accounts-tenant-a.json: ") })
                for (index, row) in expected {
                    let place = "\(folder)/\(Self.accounts): users[\(index)]"
                    let line = imported.refused.first { $0.hasPrefix(place + " ") || $0.hasPrefix(place + ":") }
                    #expect(line?.contains(row.reason ?? "?") == true, "\(row.row): \(line ?? "nothing")")
                }
                #expect(imported.refused.allSatisfy { !$0.contains("\n") })
                let listed = try await service.admin("accounts:batchGet")["users"]?.array ?? []
                #expect(listed.map { $0["localId"]?.string } == ["g1", "ok"])
                #expect(listed[1]["email"] == "one@example.com")
            }
        }
    }

    @Test("what the emulator writes without a secret is named, and the account is imported")
    func leavesPartsOut() async throws {
        let text = #"""
            {"users": [
                {"localId": "a", "mfaInfo": [{"mfaEnrollmentId": "t", "totpInfo": {}}, {"phoneInfo": "+15555550103"}]},
                {"localId": "b", "passkeyInfo": [{"credentialId": "Y3JlZGVudGlhbC0x", "name": "Unnamed Passkey"}]}
            ]}
            """#
        try await run { service in
            try await withFolder([Self.accounts: "\u{feff}" + text]) { folder in
                let imported = try await bringIn(folder, service)
                #expect(imported.accounts == 2 && imported.refused == [])
                let lines = imported.incomplete
                #expect(lines.count == 2 && lines[0].contains("users[0] (localId \"a\"): mfaInfo: "), "\(lines)")
                #expect(lines[1].contains("users[1] (localId \"b\"): passkeyInfo: "), "\(lines)")
                #expect(try await service.account("a")?["mfaInfo"]?.array?.count == 1)
            }
        }
    }

    @Test("all that an admin can write, and a factor that a sign-up brought, is the same after an export and an import")
    func keepsWhatAdminsWrite() async throws {
        try await withTemporaryFolder { folder in
            let (first, second) = (folder + "/first", folder + "/second")
            try await run { service in
                let made = try await service.admin(
                    "accounts",
                    [
                        "localId": "ada", "email": "Ada@Example.com", "emailVerified": true,
                        "password": "correct horse",
                        "displayName": "Ada", "photoUrl": "https://example.com/a.png", "phoneNumber": "+15555550101",
                        "disabled": false, "mfaInfo": [["displayName": "Work", "phoneInfo": "+15555550102"]],
                    ]
                )
                made.expectOK()
                let updated = try await service.admin(
                    "accounts:update",
                    [
                        "localId": "ada", "email": "lovelace@example.com", "emailVerified": true, "disableUser": true,
                        "customAttributes": #"{"admin":true}"#, "validSince": "1476235907", "createdAt": "1476235905",
                        "lastLoginAt": "1476235906123",
                        "linkProviderUserInfo": ["providerId": "apple.com", "rawId": "a1"],
                        "mfa": [
                            "enrollments": [
                                [
                                    "mfaEnrollmentId": "e1", "phoneInfo": "+15555550103",
                                    "enrolledAt": "2016-10-12T01:31:45.678Z",
                                ]
                            ]
                        ],
                    ]
                )
                updated.expectOK()
                _ = try await service.admin("accounts", ["localId": "plain", "emailVerified": true])
                let user = try await service.call(
                    "accounts:signUp",
                    [
                        "email": "eve@example.com", "password": "correct horse",
                        "mfaInfo": [["phoneInfo": "+15555550104"]],
                    ]
                )
                user.expectOK()
                try await export(to: first, service)
            }
            try await run { service in
                let imported = try await bringIn(first, service)
                #expect(imported.refused == [] && imported.incomplete == [] && imported.accounts == 3)
                try await export(to: second, service)
                #expect(try await service.signInWithPassword("eve@example.com")["mfaPendingCredential"] != nil)
            }
            #expect(try files(of: second) == files(of: first))
        }
    }

    @Test("accounts that are there already stay as they are, and a refused row leaves nothing of itself")
    func keepsWhatIsThere() async throws {
        try await run { service in
            _ = try await service.admin(
                "accounts",
                ["localId": "4Phone0000000000000000000000", "displayName": "mine", "password": "something"]
            )
            _ = try await service.admin("accounts", ["localId": "taken", "phoneNumber": "+15555550101"])
            let imported = try await bringIn(Self.fixture, service)
            #expect(imported.accounts == 5 && imported.knownAccounts == 1)
            #expect(imported.refused.count == 1 && imported.refused[0].contains("phone number exists"))
            #expect(try await service.account("4Phone0000000000000000000000")?["displayName"] == "mine")
            // Neither the address nor the identity of the one that did not land is held by anybody.
            try await service.signUp("ada@example.com").expectOK()
            let google = #"id_token={"sub":"8094217736","email":"g@example.com"}"#
            #expect(try await service.signInWithIdP(postBody: "providerId=google.com&\(google)")["isNewUser"] == true)
            let again = try await bringIn(Self.fixture, service)
            #expect(again.accounts == 0 && again.knownAccounts == 6, "\(again)")
        }
    }

    @Test("hashes of another signer key are refused once the project has passwords of its own")
    func keepsItsKey() async throws {
        try await withTemporaryFolder { folder in
            try await run { service in
                _ = try await bringIn(Self.fixture, service)
                try await export(to: folder, service)
            }
            try await run { service in
                try await service.signUp("mine@example.com").expectOK()
                let imported = try await bringIn(folder, service)
                #expect(imported.accounts == 4 && imported.refused.count == 3)
                #expect(imported.refused.allSatisfy { $0.contains("another signer key") })
                try await service.signInWithPassword("mine@example.com").expectOK()
            }
        }
    }

    @Test("is written beside what other emulators exported, and over nothing else")
    func keepsOtherFiles() async throws {
        try await run { service in
            _ = try await service.admin("accounts", ["localId": "only", "displayName": "Only"])
            try await withFolder([:]) { folder in
                let other = folder + "/firestore_export"
                try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
                try "kept".write(toFile: other + "/all", atomically: false, encoding: .utf8)
                try await export(to: folder, service)
                #expect(try String(contentsOfFile: other + "/all", encoding: .utf8) == "kept")
                let metadata = try JSON(parsing: Array((try files(of: folder)[Self.metadata] ?? "").utf8))
                #expect(metadata["version"] == "13.29.1" && metadata["firestore"]?["path"] == "firestore_export")
                #expect(metadata["auth"]?["path"] == "auth_export")
                let accounts = try files(of: folder)[Self.accounts] ?? ""
                #expect(accounts.contains("Only") && !accounts.contains("Ada"))
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names == ["auth_export", Self.metadata, "firestore_export"].sorted())
                let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(Self.accounts)")[
                    .posixPermissions
                ]
                #expect(mode as? Int == 0o600)
            }
            try await withTemporaryFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                try "mine".write(toFile: folder + "/thesis.txt", atomically: false, encoding: .utf8)
                await #expect(throws: EmulatorFolderError.self) { try await export(to: folder, service) }
                await #expect(throws: EmulatorFolderError.self) {
                    try await export(to: folder + "/thesis.txt", service)
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["thesis.txt"])
            }
        }
    }
}
