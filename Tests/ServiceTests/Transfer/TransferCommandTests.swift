import Foundation
import Postgres
import Projects
import TestKit
import Testing

/// `identity import firebase` and `identity export`, as operators run them.
@Suite("Moving in and out by command", .database, .timeLimit(.minutes(10)))
struct TransferCommandTests {
    /// On the projects of ``TestService``.
    private static var environment: [String: String] {
        [
            "IDENTITY_DATABASE_URL": TestDatabase.current.conninfo,
            "IDENTITY_ENCRYPTION_KEYS": "test:" + Data(repeating: 7, count: 32).base64EncodedString(),
        ]
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
    }

    private func write(_ text: String, to file: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }

    private func users(_ users: [JSON]) -> String { JSON.object(["users": .array(users)]).text }

    /// Everything that an account can have, as `firebase auth:export` and beyond.
    private static let ada: JSON = [
        "localId": "ada", "email": "Ada.Lovelace@Example.com", "emailVerified": true, "displayName": "Ada \"L\", A.",
        "photoUrl": "https://example.com/ada.png", "lastSignedInAt": "1476235906123", "createdAt": "1476235905000",
        "phoneNumber": "+15555550101", "disabled": false, "customAttributes": #"{"admin":true,"n":[1,"x"]}"#,
        "providerUserInfo": [
            ["providerId": "google.com", "rawId": "g1", "email": "ada@gmail.com", "displayName": "A. L."],
            ["providerId": "oidc.acme", "rawId": "s|1", "screenName": "ada"],
            ["providerId": "apple.com", "rawId": "apple|1"],
            ["providerId": "password", "email": "ada@example.com"],
        ],
        "initialEmail": "first@example.com", "emailLinkSignin": true, "customAuth": true, "language": "en",
        "validSince": "1476235907", "lastRefreshAt": "2016-10-12T01:31:46.789Z",
        "mfaInfo": [
            [
                "mfaEnrollmentId": "e1", "phoneInfo": "+15555550102", "displayName": "Work",
                "enrolledAt": "2016-10-12T01:31:45.000Z",
            ],
            [
                "mfaEnrollmentId": "e2", "enrolledAt": "2016-10-12T01:31:45.500Z",
                "totpInfo": ["sharedSecretKey": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"],
            ],
        ],
        "passkeyInfo": [
            [
                "credentialId": "+/8BAg==", "name": "Key", "userHandle": "AQID", "publicKey": .string(publicKey),
                "signCount": 7, "userVerified": true, "backupEligible": true, "backedUp": false,
                "transports": ["internal", "hybrid"], "aaguid": "AAAAAAAAAAAAAAAAAAAAAA==", "attestation": "none",
                "enrolledAt": "2016-10-12T01:31:45.000Z", "lastUsedAt": "2016-10-12T01:31:46.000Z",
            ]
        ],
    ]

    /// Of a passkey, in COSE.
    private static let publicKey = """
        pQECAyYgASFYIE3vaYwgQshvN98yEVQm2rhlKh38wD4Hwxp0Skj5OSoPIlgg\
        xb/jPuQtRt7Sy0UmpiAFvZjPJ/rJjzjCbIk59gWcwj0=
        """

    @Test("an export can be imported and exports to the same bytes; passwords stay valid")
    func outAndIn() async throws {
        try await TestService.run { one in
            try await TestService.run { two in
                try await withUserFiles { folder in
                    try await fill(one, folder)
                    let out = try await run("export", "\(folder)/one", "--project", one.project.id.rawValue)
                    #expect(out.status == 0, "\(out)")
                    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/one").sorted()
                    let kinds = names.map { $0.replacing(/-[0-9a-f]{8}/, with: "") }
                    #expect(
                        kinds == [
                            "accounts-md5.hash-config.json", "accounts-md5.json", "accounts-scrypt.hash-config.json",
                            "accounts-scrypt.json", "accounts-scrypt.hash-config.json", "accounts-scrypt.json",
                            "accounts.json",
                        ],
                        "\(names)"
                    )
                    for name in names where !name.hasSuffix(".hash-config.json") {
                        let file = "\(folder)/one/\(name)"
                        let result = try await run("import", "firebase", file, "--project", two.project.id.rawValue)
                        #expect(result.status == 0 && result.output.isEmpty, "\(result)")
                        #expect(!FileManager.default.fileExists(atPath: file + ".progress"))
                    }
                    let again = try await run("export", "\(folder)/two", "--project", two.project.id.rawValue)
                    #expect(again.output == out.output.replacing("\(folder)/one", with: "\(folder)/two"), "\(again)")
                    for name in names {
                        let contents = try ["one", "two"].map {
                            try Data(contentsOf: URL(filePath: "\(folder)/\($0)/\(name)"))
                        }
                        #expect(contents[0] == contents[1], "\(name): \(String(decoding: contents[0], as: UTF8.self))")
                        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/two/\(name)")
                        #expect(attributes[.posixPermissions] as? Int == 0o600)
                    }
                }
                #expect(try await two.signInWithPassword("m@example.com", ImportedHash.md5.password).localID == "m")
                #expect(
                    try await two.signInWithPassword("f@example.com", ImportedHash.firebase.password).localID == "f"
                )
                let ada = try #require(try await two.account("ada"))
                #expect(ada["validSince"] == "1476235907" && ada["lastLoginAt"] == "1476235906123", "\(ada)")
                #expect(ada["mfaInfo"]?[1]?["totpInfo"] != nil && ada["mfaInfo"]?[0]?["phoneInfo"] == "+15555550102")
                #expect(ada["passkeyInfo"] == [["credentialId": "+/8BAg==", "name": "Key"]], "\(ada)")
            }
        }
    }

    /// Accounts without a password, with one of the project's own, and with two from elsewhere.
    private func fill(_ service: TestService, _ folder: String) async throws {
        try write(users([Self.ada, ["localId": "guest"]]), to: "\(folder)/ada.json")
        let result = try await run("import", "firebase", "\(folder)/ada.json", "--project", service.project.id.rawValue)
        #expect(result.status == 0 && result.errors.contains("imported 2 of 2 accounts"), "\(result)")
        #expect(result.errors.contains(/, in \d+ s$/), "\(result)")
        for (id, hash) in [("m", ImportedHash.md5), ("f", ImportedHash.firebase)] {
            let reply = try await service.admin(
                "accounts:batchCreate",
                hash.upload([hash.account(id, email: "\(id)@example.com")])
            )
            #expect(reply["error"] == nil, "\(reply)")
        }
        _ = try await service.signUp("own@example.com", "correct horse")
    }

    @Test("each row that does not land is named with its reason, the others land, and a trial writes nothing")
    func refusals() async throws {
        try await TestService.run { service in
            try await service.admin("accounts", ["localId": "there", "email": "there@example.com"])
            try await withUserFiles { folder in
                let file = "\(folder)/users.json"
                try write(
                    users([
                        ["localId": "good"], ["localId": "x", "email": "no address"], 7, ["localId": "there"],
                        ["localId": "y\n\u{1B}[2J", "email": "there@example.com"],
                        ["localId": "z", "passwordHash": "aGFzaA=="],
                        ["localId": "w", "emailVerified": "yes"],
                    ]),
                    to: file
                )
                let arguments = ["import", "firebase", file, "--project", service.project.id.rawValue]
                let lines = [
                    #"row 2 ("x"): email is invalid"#, "row 3: is not a JSON object",
                    #"row 5 ("y\n\u{1B}[2J"): email exists in other account in database"#,
                    #"row 6 ("z"): has a password hash without hash parameters (--hash-config)"#,
                    #"row 7 ("w"): "#,
                ]
                func check(_ result: Program.Result, _ verb: String) {
                    let said = result.output.split(separator: "\n").map { String($0) }
                    #expect(said.count == lines.count && zip(said, lines).allSatisfy { $0.hasPrefix($1) }, "\(result)")
                    #expect(result.status == 1 && !FileManager.default.fileExists(atPath: file + ".progress"))
                    #expect(
                        result.errors.contains("\(verb) of 7 accounts, 1 already existed, 5 refused"),
                        "\(result)"
                    )
                }
                let trial = try await Program.run(
                    IdentityProgram.path,
                    arguments + ["--dry-run"],
                    environment: Self.environment
                )
                check(trial, "would import 1")
                #expect(try await service.account("good") == nil)
                check(
                    try await Program.run(IdentityProgram.path, arguments, environment: Self.environment),
                    "imported 1"
                )
                #expect(try await service.account("good") != nil)
                #expect(try await service.account("there")?["email"] == "there@example.com")

                let json = try await Program.run(
                    IdentityProgram.path,
                    arguments + ["--json", "--overwrite"],
                    environment: Self.environment
                )
                let first = try JSON(parsing: Array((json.output.split(separator: "\n").first ?? "").utf8))
                #expect(first == ["row": 2, "localId": "x", "reason": "email is invalid"], "\(json)")
                #expect(try await service.account("there")?["email"] == nil, "replaced")
            }
        }
    }

    @Test("killed in the middle, it goes on where it was, and each account is there once")
    func killed() async throws {
        try await TestService.run { service in
            try await withUserFiles { folder in
                let file = "\(folder)/users.json"
                let count = 8_000
                try write(users((0..<count).map { ["localId": .string("u\($0)")] }), to: file)
                let arguments = ["import", "firebase", file, "--project", service.project.id.rawValue]
                try await Program.with(IdentityProgram.path, arguments, environment: Self.environment) { program in
                    try await waitUntil { FileManager.default.fileExists(atPath: file + ".progress") }
                    program.crash()
                    _ = await program.result()
                }
                let kept = try JSON(parsing: Array(try Data(contentsOf: URL(filePath: file + ".progress"))))
                let landed = try #require(kept["counts"]?["rows"]?.number.map { Int($0) })
                try #require(landed >= 1000 && landed < count, "\(kept)")
                let before = try await service.admin("accounts:batchGet?maxResults=1000")["users"]?.array?.count
                #expect(before == 1000)

                let other = try await run("import", "firebase", file, "--project", "no-such-project")
                #expect(other.status == 1 && other.errors.contains("does not exist"), "\(other)")
                let result = try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
                #expect(result.status == 0 && result.output.isEmpty, "\(result)")
                #expect(result.errors.contains("continuing after row \(landed)"), "\(result)")
                let rows = try await TestDatabase.current.client.query(
                    "SELECT count(*) FROM accounts WHERE project = \(service.project.id.rawValue)"
                ) { try $0.next(Int64.self) }
                #expect(rows == [Int64(count)])
                #expect(!FileManager.default.fileExists(atPath: file + ".progress"))
            }
        }
    }

    @Test("a file that is cut off lands up to there, says where, and a changed file is not taken for the old one")
    func cutOff() async throws {
        try await TestService.run { service in
            try await withUserFiles { folder in
                let file = "\(folder)/users.json"
                let arguments = ["import", "firebase", file, "--project", service.project.id.rawValue]
                let rows = (0..<1500).map { #"{"localId":"u\#($0)"}"# }.joined(separator: ",\n")
                try write("{\"users\":[\(rows)", to: file)
                let cut = try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
                #expect(cut.status == 1 && cut.errors.contains("stopped after row 1500"), "\(cut)")
                #expect(cut.errors.contains("is not valid JSON of users, at byte "), "\(cut)")
                #expect(try await service.account("u1499") != nil)

                try write("{\"users\":[\(rows),{\"localId\":\"last\"}]}", to: file)
                let changed = try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
                #expect(changed.status == 1 && changed.errors.contains("delete it to start over"), "\(changed)")
                try FileManager.default.removeItem(atPath: file + ".progress")
                let whole = try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
                #expect(whole.status == 0, "\(whole)")
                #expect(whole.errors.contains("imported 1 of 1501 accounts, 1500 already existed"), "\(whole)")
            }
        }
    }

    @Test("the CSV of Firebase comes in and goes out")
    func csv() async throws {
        try await TestService.run { service in
            try await withUserFiles { folder in
                let line =
                    #"ada,ada@example.com,true,\#(ImportedHash.md5.hash),YQ==,"Love, A.",,g1,g@example.com,G,,,,,,,,,,,,,,1476235905000,1476235906000,+15555550101,true,"{""a"":1}","#
                try write(line + "\n", to: "\(folder)/users.csv")
                try write(JSON.object(ImportedHash.md5.members).text, to: "\(folder)/hashing")
                let result = try await run(
                    "import",
                    "firebase",
                    "\(folder)/users.csv",
                    "--project",
                    service.project.id.rawValue,
                    "--hash-config",
                    "\(folder)/hashing"
                )
                #expect(result.status == 0, "\(result)")
                let out = try await run(
                    "export",
                    "\(folder)/out",
                    "--project",
                    service.project.id.rawValue,
                    "--format",
                    "csv"
                )
                #expect(out.status == 0, "\(out)")
                let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/out").filter {
                    $0.hasPrefix("accounts-md5")
                }
                let csv = try #require(files.first { $0.hasSuffix(".csv") })
                // Since firebase-tools 15.19 there are six more providers.
                let written = try String(contentsOfFile: "\(folder)/out/\(csv)", encoding: .utf8)
                #expect(written == "\"ada\"" + line.dropFirst(3) + String(repeating: ",", count: 24) + "\n")
            }
        }
    }

    @Test("T-A16: no name forges a row of the CSV")
    func forgedRows() async throws {
        let row = "victim,boss@corp.example,true,,,x,,9,m@evil.example" + String(repeating: ",", count: 19)
        let names = ["\u{d4e}\",,\n\(row)\n", "\"\u{301},,\n\(row)\n", "\u{d4e},\u{d4e}\n\(row)\n\u{d4e}\""]
        let accounts = names.enumerated().map { number, name -> JSON in
            ["localId": .string("user\(number)"), "displayName": .string(name)]
        }
        try await TestService.run { first in
            try await first.admin("accounts:batchCreate", ["users": .array(accounts)]).expectOK()
            try await TestService.run { second in
                try await withUserFiles { folder in
                    let out = try await run(
                        "export",
                        "\(folder)/out",
                        "--project",
                        first.project.id.rawValue,
                        "--format",
                        "csv"
                    )
                    #expect(out.status == 0, "\(out)")
                    let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/out")
                    let file = try #require(files.first { $0.hasSuffix(".csv") }, "\(files)")
                    let result = try await run(
                        "import",
                        "firebase",
                        "\(folder)/out/\(file)",
                        "--project",
                        second.project.id.rawValue
                    )
                    #expect(result.status == 0, "\(result)")
                }
                #expect(try await second.account("victim") == nil)
                for (number, name) in names.enumerated() {
                    #expect(try await second.account("user\(number)")?["displayName"]?.string == name)
                }
            }
        }
    }

    @Test("accounts that firebase auth:import would refuse can be left out")
    func portable() async throws {
        try await TestService.run { service in
            try await withUserFiles { folder in
                try write(users([Self.ada]), to: "\(folder)/ada.json")
                _ = try await run("import", "firebase", "\(folder)/ada.json", "--project", service.project.id.rawValue)
                let out = try await run(
                    "export",
                    "\(folder)/out",
                    "--project",
                    service.project.id.rawValue,
                    "--portable"
                )
                #expect(out.status == 0, "\(out)")
                let file = try JSON(parsing: Array(try Data(contentsOf: URL(filePath: "\(folder)/out/accounts.json"))))
                let user = try #require(file["users"]?[0])
                let taken: Set = [
                    "localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl", "createdAt",
                    "lastSignedInAt", "providerUserInfo", "phoneNumber", "disabled", "customAttributes", "mfaInfo",
                ]
                #expect(Set((user.object ?? [:]).keys).isSubset(of: taken), "\(user)")
                #expect(user["providerUserInfo"]?.array?.map { $0["providerId"] } == ["apple.com", "google.com"])
                #expect(user["mfaInfo"]?.array?.map { $0["phoneInfo"] } == ["+15555550102"])
                #expect(out.errors.contains("left out of 1 account"), "\(out)")
                let csv = ["export", "\(folder)/csv", "--project", service.project.id.rawValue, "--format", "csv"]
                let columns = try await Program.run(IdentityProgram.path, csv, environment: Self.environment)
                #expect(columns.status == 0 && columns.errors.contains("left out of 1 account"), "\(columns)")
                let rows = try String(contentsOfFile: "\(folder)/csv/accounts.csv", encoding: .utf8)
                #expect(
                    rows.contains(",apple|1,")
                        && rows.split(separator: ",", omittingEmptySubsequences: false).count > 52
                )
            }
        }
    }

    @Test("what a file has without its secret is named, and the account is imported")
    func warnings() async throws {
        try await TestService.run { service in
            try await withUserFiles { folder in
                let file = "\(folder)/users.json"
                try write(
                    "\u{feff}"
                        + users([
                            [
                                "localId": "a", "email": "a@example.com", "emailVerified": "true",
                                "mfaInfo": [["totpInfo": [:]]],
                                "passkeyInfo": [["credentialId": "AAAA", "name": "Key"]],
                                "createdAt": "1508255889",
                            ], ["localId": "b"],
                        ]),
                    to: file
                )
                let arguments = ["import", "firebase", file, "--project", service.project.id.rawValue]
                let lines = [
                    #"row 1 ("a"): imported, but mfaInfo: an authenticator app without its secret"#,
                    #"row 1 ("a"): imported, but passkeyInfo: a passkey without its public key is left out"#,
                ]
                let result = try await Program.run(
                    IdentityProgram.path,
                    arguments,
                    environment: Self.environment
                )
                let said = result.output.split(separator: "\n").map { String($0) }
                #expect(said.count == 2 && zip(said, lines).allSatisfy { $0.hasPrefix($1) }, "\(result)")
                #expect(
                    result.status == 0 && result.errors.contains("imported 2 of 2 accounts, 2 warnings"),
                    "\(result)"
                )
                #expect(try await service.account("a")?["createdAt"] == "1508255889000")
                let json = try await Program.run(
                    IdentityProgram.path,
                    arguments + ["--json", "--overwrite"],
                    environment: Self.environment
                )
                let first = try JSON(parsing: Array((json.output.split(separator: "\n").first ?? "").utf8))
                #expect(first["row"] == 1 && first["localId"] == "a" && first["reason"] == nil, "\(json)")
                #expect(first["warning"]?.string?.hasPrefix("mfaInfo: ") == true)
            }
        }
    }

    private static let withTenants: TestService.Options = {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        return options
    }()

    @Test("a tenant's accounts come in and go out by themselves, also into a tenant of another id")
    func tenants() async throws {
        try await TestService.run(Self.withTenants) { service in
            let project = service.project.id.rawValue
            let one = try await service.makeTenant("Northwind", ["allowPasswordSignup": true])
            let two = try await TestService.run(Self.withTenants) { other in
                let two = try await other.makeTenant("Southwind", ["allowPasswordSignup": true])
                try await withUserFiles { folder in
                    try write(users([Self.ada, ["localId": "guest"]]), to: "\(folder)/ada.json")
                    let ada = ["import", "firebase", "\(folder)/ada.json", "--project", project, "--tenant", one]
                    let result = try await Program.run(IdentityProgram.path, ada, environment: Self.environment)
                    #expect(result.status == 0 && result.errors.contains("imported 2 of 2 accounts"), "\(result)")
                    _ = try await service.admin("accounts", ["localId": "of-the-project"])
                    let hash = ImportedHash.md5
                    let uploaded = try await service.admin(
                        "tenants/\(one)/accounts:batchCreate",
                        hash.upload([hash.account("own", email: "own@example.com")])
                    )
                    #expect(uploaded["error"] == nil, "\(uploaded)")

                    let out = try await run("export", "\(folder)/one", "--project", project, "--tenant", one)
                    #expect(out.status == 0, "\(out)")
                    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/one").sorted()
                    #expect(names.count == 3, "\(names)")
                    let target = ["--project", other.project.id.rawValue, "--tenant", two]
                    for name in names where !name.hasSuffix(".hash-config.json") {
                        let file = ["import", "firebase", "\(folder)/one/\(name)"]
                        let result = try await Program.run(
                            IdentityProgram.path,
                            file + target,
                            environment: Self.environment
                        )
                        #expect(result.status == 0 && result.output.isEmpty, "\(result)")
                    }
                    let again = try await Program.run(
                        IdentityProgram.path,
                        ["export", "\(folder)/two"] + target,
                        environment: Self.environment
                    )
                    #expect(again.status == 0, "\(again)")
                    for name in names {
                        let contents = try ["one", "two"].map {
                            try String(contentsOfFile: "\(folder)/\($0)/\(name)", encoding: .utf8)
                        }
                        #expect(contents[0] == contents[1] && !contents[0].contains("of-the-project"), "\(name)")
                    }
                    let whole = try await run("export", "\(folder)/whole", "--project", project)
                    #expect(whole.output == "1 accounts in \(folder)/whole/accounts.json", "\(whole)")
                }
                let signIn: JSON = [
                    "email": "own@example.com", "password": .string(ImportedHash.md5.password),
                    "tenantId": .string(two),
                ]
                #expect(try await other.call("accounts:signInWithPassword", signIn).localID == "own")
                #expect(try await other.account("ada") == nil)
                return two
            }
            #expect(one != two)
            #expect(try await service.account("ada") == nil)
            let found = try await service.admin("tenants/\(one)/accounts:lookup", ["localId": ["ada"]])
            #expect(found["users"]?[0]?["tenantId"]?.string == one, "\(found)")
        }
    }

    @Test("accounts of another tenant are refused at import; whose IDs they have there says nothing here")
    func otherTenants() async throws {
        try await TestService.run(Self.withTenants) { service in
            let one = try await service.makeTenant("Northwind")
            let two = try await service.makeTenant("Southwind")
            _ = try await service.admin("tenants/\(two)/accounts", ["localId": "taken"])
            _ = try await service.admin("tenants/\(one)/accounts", ["localId": "there"])
            try await withUserFiles { folder in
                let file = "\(folder)/users.json"
                try write(
                    users([
                        ["localId": "a", "tenantId": .string(one)], ["localId": "b", "tenantId": .string(two)],
                        ["localId": "taken"], ["localId": "there"], ["localId": "c"],
                    ]),
                    to: file
                )
                let arguments = ["import", "firebase", file, "--project", service.project.id.rawValue]
                for trial in [["--dry-run"], []] {
                    let result = try await Program.run(
                        IdentityProgram.path,
                        arguments + ["--tenant", one] + trial,
                        environment: Self.environment
                    )
                    let lines = result.output.split(separator: "\n")
                    #expect(lines.count == 1 && lines.first?.hasPrefix(#"row 2 ("b"): Tenant id"#) == true, "\(result)")
                    #expect(result.errors.contains("3 of 5 accounts, 1 already existed, 1 refused"), "\(result)")
                }
                let outside = try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
                #expect(outside.output.split(separator: "\n").count == 2 && outside.status == 1, "\(outside)")

                // What broke off in one tenant does not go on in another, or in the project.
                try write(
                    "{\"users\":[\((0..<1000).map { #"{"localId":"u\#($0)"}"# }.joined(separator: ","))",
                    to: file
                )
                let cut = try await Program.run(
                    IdentityProgram.path,
                    arguments + ["--tenant", one],
                    environment: Self.environment
                )
                #expect(cut.status == 1 && cut.errors.contains("stopped after row 1000"), "\(cut)")
                for place in [[], ["--tenant", two]] {
                    let other = try await Program.run(
                        IdentityProgram.path,
                        arguments + place,
                        environment: Self.environment
                    )
                    #expect(other.status == 1 && other.errors.contains("another project or tenant"), "\(other)")
                }
                for command in [arguments, ["export", "\(folder)/out", "--project", service.project.id.rawValue]] {
                    for name in ["nobody-x1y2z", "", "\(one) "] {
                        let none = try await Program.run(
                            IdentityProgram.path,
                            command + ["--tenant", name],
                            environment: Self.environment
                        )
                        #expect(none.status == 1 && none.errors.contains("has no tenant '\(name)'"), "\(none)")
                    }
                }
                #expect(!FileManager.default.fileExists(atPath: "\(folder)/out"))
            }
        }
    }

    @Test("what cannot be begun says why in one line, and a disk that is full leaves no half export")
    func bad() async throws {
        try await TestService.run { service in
            try await withUserFiles { folder in
                let project = service.project.id.rawValue
                try write(users((0..<2000).map { ["localId": .string("u\($0)")] }), to: "\(folder)/users.json")
                try write("nonsense", to: "\(folder)/hashing")
                let cases: [([String], Int32, String)] = [
                    (["import", "firebase", "\(folder)/none.json", "--project", project], 1, "cannot be read"),
                    (["import", "firebase", "\(folder)/users", "--project", project], 64, "--format"),
                    (["import", "firebase", "\(folder)/users.json"], 64, "--project"),
                    (
                        [
                            "import", "firebase", "\(folder)/users.json", "--project", project, "--hash-config",
                            "\(folder)/hashing",
                        ], 1, "does not contain hashAlgorithm"
                    ),
                    (["import", "nowhere", "\(folder)/users.json"], 64, "nowhere"),
                    (["export", folder, "--project", project], 1, "is not empty"),
                    (["export", "\(folder)/users.json", "--project", project], 1, "cannot be written"),
                    (["export", "\(folder)/x", "--project", project, "--format", "xml"], 64, "format"),
                ]
                for (arguments, status, text) in cases {
                    let result = try await Program.run(IdentityProgram.path, arguments, environment: Self.environment)
                    #expect(result.status == status && result.errors.contains(text), "\(arguments): \(result)")
                    #expect(result.output.isEmpty && result.errors.split(separator: "\n").count == 1, "\(result)")
                }
                let filled = try await run("import", "firebase", "\(folder)/users.json", "--project", project)
                #expect(filled.status == 0, "\(filled)")
                // A file may not become larger than 8 kB.
                let full = try await Program.run(
                    "/bin/bash",
                    [
                        "-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"", IdentityProgram.path, "export",
                        "\(folder)/full", "--project", project,
                    ],
                    environment: Self.environment
                )
                #expect(full.status == 1 && full.errors.contains("accounts.json: cannot be written: "), "\(full)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/full").isEmpty)
            }
        }
    }
}
