import Foundation
import Postgres
import Projects
import TestKit
import Testing

@Suite("accounts:batchCreate", .database)
struct UploadAccountsTests {
    private func upload(_ service: TestService, _ users: [JSON], _ members: [String: JSON] = [:]) async throws -> Reply
    {
        try await service.admin(
            "accounts:batchCreate",
            .object(members.merging(["users": .array(users)]) { own, _ in own })
        )
    }

    @Test("brings accounts in as they were, and each signs in")
    func bringsIn() async throws {
        try await TestService.run { service in
            let ada: JSON = [
                "localId": "ada", "email": "Ada@Example.com", "emailVerified": true, "displayName": "Ada",
                "photoUrl": "https://example.com/ada.png", "phoneNumber": "+15555550101",
                "createdAt": "1476235905000", "lastLoginAt": "1476235906000", "disabled": false,
                "customAttributes": #"{"admin":true}"#, "rawPassword": "correct horse",
                "providerUserInfo": [
                    ["providerId": "google.com", "rawId": "g1", "email": "ada@gmail.com", "displayName": "A. L."],
                    ["providerId": "github.com", "federatedId": "42"],
                    ["providerId": "phone", "rawId": "+15555550101"],
                ],
                "mfaInfo": [
                    [
                        "mfaEnrollmentId": "e1", "phoneInfo": "+15555550102", "displayName": "Work",
                        "enrolledAt": "2016-10-12T01:31:45Z",
                    ]
                ],
            ]
            let users: [JSON] = [ada, ["localId": "guest"], ["localId": "bob", "phoneNumber": "+15555550103"]]
            let uploaded = try await upload(service, users)
            #expect(
                uploaded["kind"] == "identitytoolkit#UploadAccountResponse" && uploaded["error"] == nil,
                "\(uploaded)"
            )
            let found = try #require(try await service.account("ada"))
            #expect(found["email"] == "ada@example.com" && found["emailVerified"] == true && found["disabled"] == false)
            #expect(found["createdAt"] == "1476235905000" && found["lastLoginAt"] == "1476235906000")
            #expect(found["customAttributes"] == #"{"admin":true}"# && found["phoneNumber"] == "+15555550101")
            let providers = found["providerUserInfo"]?.array ?? []
            #expect(providers.map { $0["providerId"] } == ["github.com", "google.com", "phone", "password"])
            #expect(providers.first?["rawId"] == "42" && providers.dropFirst().first?["displayName"] == "A. L.")
            #expect(found["mfaInfo"]?[0]?["mfaEnrollmentId"] == "e1" && found["mfaInfo"]?[0]?["displayName"] == "Work")
            #expect(found["passwordHash"] == "UkVEQUNURUQ=" && found["passwordUpdatedAt"]?.number != nil)
            let seconds = Int64(service.clock.now().timeIntervalSince1970)
            #expect(found["validSince"]?.string == String(seconds))
            #expect(try await service.account("guest")?["localId"] == "guest")
            #expect(try await service.account("bob")?["phoneNumber"] == "+15555550103")
            #expect(try await service.signInWithPassword("ada@example.com", "wrong").status == 400)
        }
    }

    @Test(
        "T-E12: an odd provider ID keeps no other account out",
        arguments: ["x\u{d4e}\"", "\"\u{301}", "\u{d4e}\\", "{,}"]
    )
    func oddProvider(_ provider: String) async throws {
        try await TestService.run { service in
            let odd: JSON = [
                "localId": "odd", "providerUserInfo": [["providerId": .string(provider), "rawId": "1"]],
            ]
            let uploaded = try await upload(service, [odd, ["localId": "other"]])
            uploaded.expectOK()
            #expect(try await service.account("other") != nil)
            let refused = uploaded["error"]?.array ?? []
            let linked = try await service.account("odd")?["providerUserInfo"]?[0]?["providerId"]?.string
            #expect(linked == provider || refused.count == 1, "\(uploaded)")
        }
    }

    @Test("what is wrong with one account keeps no other out, and is said by its index")
    func refusesEach() async throws {
        try await TestService.run { service in
            try await service.admin("accounts", ["localId": "there", "email": "there@example.com"])
            let factor: JSON = ["phoneInfo": "+15555550102"]
            let cases: [(user: JSON, message: String?)] = [
                (["email": "a@example.com"], "localId is missing"),
                (["localId": ""], "localId is missing"),
                (["localId": .string(String(repeating: "x", count: 129))], "localId is invalid"),
                (["localId": "a", "email": "not an address"], "email is invalid"),
                (["localId": "b", "email": "there@example.com"], "email exists in other account in database"),
                (["localId": "c", "phoneNumber": "+1error"], "phone number format is invalid"),
                (["localId": "d", "tenantId": "t"], "Tenant id in userInfo does not match the tenant id in request."),
                (
                    ["localId": "e", "providerUserInfo": [["providerId": "google.com"]]],
                    "federatedId or (providerId & rawId) is required"
                ),
                (["localId": "f", "customAttributes": "no JSON"], "Invalid custom claims provided."),
                (
                    ["localId": "g", "customAttributes": .string(#"{"a":"\#(String(repeating: "x", count: 1000))"}"#)],
                    "Custom claims provided are too large."
                ),
                (
                    ["localId": "h", "customAttributes": #"{"iss":"x"}"#],
                    "Custom claims provided include a reserved claim."
                ),
                (["localId": "i", "mfaInfo": [factor]], "Second factor account requires email to be presented."),
                (
                    ["localId": "j", "email": "j@example.com", "mfaInfo": [factor]],
                    "Second factor account requires email to be verified."
                ),
                (
                    [
                        "localId": "l", "email": "l@example.com", "emailVerified": true,
                        "mfaInfo": [["displayName": "x"]],
                    ],
                    "Second factor not supported."
                ),
                (
                    [
                        "localId": "m", "email": "m@example.com", "emailVerified": true,
                        "mfaInfo": [["phoneInfo": "garbage"]],
                    ],
                    "Phone number format is invalid."
                ),
                (
                    [
                        "localId": "n", "email": "n@example.com", "emailVerified": true,
                        "mfaInfo": [
                            ["mfaEnrollmentId": "1", "phoneInfo": "+15555550102"],
                            ["mfaEnrollmentId": "1", "phoneInfo": "+15555550103"],
                        ],
                    ],
                    "Enrollment id already exists."
                ),
                (
                    ["localId": "o", "passwordHash": "YWJj", "salt": "YQ"],
                    "passwordHash or salt does not fit hashAlgorithm"
                ),
                (["localId": "fine", "email": "fine@example.com"], nil),
                (["localId": "p", "email": "fine@example.com"], "email exists in other account in database"),
                (
                    ["localId": "fine2", "providerUserInfo": [["providerId": "google.com", "rawId": "1"]]],
                    nil
                ),
                (
                    ["localId": "q", "providerUserInfo": [["providerId": "google.com", "rawId": "1"]]],
                    "raw id exists in other account in database"
                ),
                (["localId": "fine3", "phoneNumber": "+15555550199"], nil),
                (
                    ["localId": "r", "phoneNumber": "+1 (555) 555-0199"],
                    "phone number exists in other account in database"
                ),
            ]
            let uploaded = try await upload(service, cases.map(\.user), ["hashAlgorithm": "SHA256", "rounds": 1])
            uploaded.expectOK()
            let errors = uploaded["error"]?.array ?? []
            let expected = cases.enumerated().compactMap { index, each -> JSON? in
                each.message.map { ["index": .number(Double(index)), "message": .string($0)] }
            }
            #expect(errors.count == expected.count)
            for (error, expected) in zip(errors, expected) { #expect(error == expected) }
            let listed = try await service.admin("accounts:batchGet?maxResults=100")["users"]?.array ?? []
            #expect(listed.map { $0["localId"] } == ["fine", "fine2", "fine3", "there"])
            #expect(try await Self.orphans(of: service) == 0)
        }
    }

    /// Claims and details of accounts that do not exist.
    static func orphans(of service: TestService) async throws -> Int64? {
        let project = service.project.id.rawValue
        return try await TestDatabase.current.client.query(
            """
            SELECT count(*) FROM (
                SELECT project, account FROM account_emails UNION ALL
                SELECT project, account FROM account_phones UNION ALL
                SELECT project, account FROM credential_subjects UNION ALL
                SELECT project, account FROM linked_credentials UNION ALL
                SELECT project, account FROM account_activity
            ) c WHERE c.project = \(project)
                AND NOT EXISTS (SELECT FROM accounts a WHERE a.project = c.project AND a.account = c.account)
            """
        ) { try $0.next(Int64.self) }.first
    }

    @Test("is refused as a whole for what no account of it is to blame for")
    func refusesAll() async throws {
        try await TestService.run { service in
            let one: JSON = ["localId": "one", "email": "one@example.com"]
            let hashed: JSON = ["localId": "one", "passwordHash": "YWJj"]
            let identity: JSON = ["providerId": "google.com", "rawId": "1"]
            let cases: [([JSON], [String: JSON], String)] = [
                ([], [:], "MISSING_USER_ACCOUNT"),
                (
                    [one, ["localId": "two", "email": "ONE@example.com"]], ["sanityCheck": true],
                    "DUPLICATE_EMAIL : one@example.com"
                ),
                (
                    [
                        ["localId": "one", "providerUserInfo": [identity]],
                        ["localId": "two", "providerUserInfo": [identity]],
                    ],
                    ["sanityCheck": true], "DUPLICATE_RAW_ID : Provider id(google.com), Raw id(1)"
                ),
                ([one, one], ["allowOverwrite": false], "DUPLICATE_LOCAL_ID : one"),
                ([hashed], [:], "MISSING_HASH_ALGORITHM"),
                ([one], ["hashAlgorithm": "ROT13"], "INVALID_HASH_ALGORITHM : ROT13"),
                ([one], ["hashAlgorithm": "HMAC_"], "INVALID_HASH_ALGORITHM : HMAC_"),
                ([one], ["hashAlgorithm": "SHA256"], "INVALID_HASH_PARAMETER : rounds must be 1 to 8192"),
                ([one], ["hashAlgorithm": "HMAC_SHA1"], "INVALID_HASH_PARAMETER : signerKey must be 1 to 1024 bytes"),
                (
                    [one], ["hashAlgorithm": "SCRYPT", "signerKey": "YQ", "rounds": 9, "memoryCost": 14],
                    "INVALID_HASH_PARAMETER : rounds must be 1 to 8, memoryCost 1 to 14, saltSeparator at most 64 bytes"
                ),
                (
                    [one], ["hashAlgorithm": "SCRYPT", "signerKey": "YQ", "rounds": 8, "memoryCost": 14],
                    "INVALID_HASH_PARAMETER : signerKey must be 64 bytes"
                ),
                ([one], ["hashAlgorithm": "ARGON2"], "INVALID_HASH_PARAMETER : argon2Parameters is missing"),
                (
                    [one], ["hashAlgorithm": "ARGON2", "argon2Parameters": ["parallelism": 1]],
                    "INVALID_HASH_PARAMETER : argon2Parameters.hashType is missing"
                ),
                (
                    (0...1000).map { ["localId": .string("u\($0)")] }, [:],
                    "INVALID_ARGUMENT : users must not contain more than 1000 accounts."
                ),
            ]
            for (users, members, message) in cases {
                let reply = try await upload(service, users, members)
                #expect(reply.status == 400 && reply.error == message, "\(reply)")
            }
            let broken = try await upload(service, [["localId": "one", "passwordHash": "not base64!"]])
            #expect(
                broken.error?.hasPrefix("Invalid value at 'users[0].password_hash' (TYPE_BYTES)") == true,
                "\(broken)"
            )
            #expect(broken.error?.contains("not base64!") == false)
            #expect(try await service.admin("accounts:batchGet")["users"] == nil)
        }
    }

    @Test("without allowOverwrite, who is there stays as they are")
    func keeps() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let again: JSON = ["localId": JSON(user.localID), "email": "other@example.com"]
            let reply = try await upload(service, [again, ["localId": "new"]], ["allowOverwrite": false])
            #expect(
                reply["error"] == [
                    ["index": 0, "message": "localId belongs to an existing account - can not overwrite."]
                ],
                "\(reply)"
            )
            #expect(try await service.signInWithPassword("ada@example.com").localID == user.localID)
            #expect(try await service.account("new") != nil)
        }
    }

    @Test("replaces who is there: nothing of the old account is left, its sessions, codes and addresses included")
    func replaces() async throws {
        try await TestService.run { service in
            try await service.admin(
                "accounts",
                [
                    "localId": "ada", "email": "ada@example.com", "password": "correct horse",
                    "phoneNumber": "+15555550101",
                ]
            )
            try await service.admin(
                "accounts:update",
                ["localId": "ada", "linkProviderUserInfo": ["providerId": "google.com", "rawId": "g1"]]
            )
            let before = try await service.signInWithPassword("ada@example.com")
            before.expectOK()
            try await service.call(
                "accounts:sendOobCode",
                ["requestType": "PASSWORD_RESET", "email": "ada@example.com"]
            )
            service.clock.advance(by: 5)
            // Its address goes to another account of the same upload.
            let reply = try await upload(
                service,
                [
                    ["localId": "bob", "email": "ada@example.com", "phoneNumber": "+15555550101"],
                    ["localId": "ada", "email": "lovelace@example.com", "validSince": "1", "displayName": "Ada"],
                ]
            )
            #expect(reply["error"] == nil, "\(reply)")
            let ada = try #require(try await service.account("ada"))
            #expect(ada["email"] == "lovelace@example.com" && ada["phoneNumber"] == nil && ada["passwordHash"] == nil)
            #expect(ada["providerUserInfo"] == nil && ada["lastLoginAt"] == nil)
            // Resource servers that look learn that the old ID tokens are revoked.
            #expect(ada["validSince"]?.string == String(Int64(service.clock.now().timeIntervalSince1970)))
            #expect(try await service.refresh(before.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.lookUp(before.idToken).status == 400)
            #expect(try await service.signInWithPassword("ada@example.com").error == "INVALID_LOGIN_CREDENTIALS")
            let codes = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM oob_codes WHERE project = \(service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(codes == [0])
            #expect(try await Self.orphans(of: service) == 0)
            let version = try await TestDatabase.current.client.query(
                """
                SELECT version FROM accounts WHERE project = \(service.project.id.rawValue) AND account = \("ada")
                """
            ) { try $0.next(Int64.self) }
            #expect((version.first ?? 0) > 2, "who decided on the old account must not take this one for it")
        }
    }

    @Test("of two of one id, the last stays")
    func lastWins() async throws {
        try await TestService.run { service in
            let users: [JSON] = (0..<5).map { ["localId": "ada", "displayName": .string("\($0)")] }
            let reply = try await upload(service, users)
            #expect(reply["error"] == nil, "\(reply)")
            #expect(try await service.account("ada")?["displayName"] == "4")
        }
    }

    @Test("a change that was decided on the account before it was replaced does not apply to the new one", .twoNodes)
    func staleDecision() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let id = JSON(user.localID)
            let replies = try await inParallel(8) { number -> Reply in
                number.isMultiple(of: 2)
                    ? try await upload(service, [["localId": id, "email": "ada@example.com", "displayName": "new"]])
                    : try await service.call("accounts:update", ["idToken": JSON(user.idToken), "displayName": "old"])
            }
            #expect(replies.allSatisfy { $0.status == 200 || $0.status == 400 }, "\(replies.map(\.description))")
            #expect(try await service.account(user.localID)?["displayName"] == "new")
            #expect(try await Self.orphans(of: service) == 0)
        }
    }

    @Test("what Firebase and its emulator export without a secret costs no account, and is named in `warnings`")
    func leavesOut() async throws {
        try await TestService.run { service in
            let users: [JSON] = [
                ["localId": "a", "email": "a@example.com", "emailVerified": true, "mfaInfo": [["totpInfo": [:]]]],
                ["localId": "b", "passkeyInfo": [["credentialId": "AAAA", "name": "Key"]]],
                [
                    "localId": "c", "email": "c@example.com", "emailVerified": true,
                    "mfaInfo": [["emailInfo": ["emailAddress": "c@example.net"]], ["phoneInfo": "+15555550102"]],
                ],
                ["localId": "d", "email": "d@example.com", "mfaInfo": [["totpInfo": [:]]]],
            ]
            let uploaded = try await upload(service, users)
            #expect(
                uploaded["error"] == [["index": 3, "message": "Second factor account requires email to be verified."]],
                "\(uploaded)"
            )
            let factor: JSON = "mfaInfo: an authenticator app without its secret, or an email, is left out"
            let passkey: JSON = "passkeyInfo: a passkey without its public key is left out"
            #expect(
                uploaded["warnings"] == [
                    ["index": 0, "message": factor], ["index": 1, "message": passkey],
                    ["index": 2, "message": factor],
                ]
            )
            let factors = try await service.account("c")?["mfaInfo"]?.array
            #expect(factors?.map { $0["phoneInfo"] } == ["+15555550102"])
            let (a, b) = (try await service.account("a"), try await service.account("b"))
            #expect(a != nil && a?["mfaInfo"] == nil && b != nil && b?["passkeyInfo"] == nil)
        }
    }

    @Test(
        "T-D12: an account that replaces itself keeps its authenticator app, which a download shows without its secret"
    )
    func keepsApps() async throws {
        var options = TestService.Options()
        options.settings.offerApps()
        try await TestService.run(options) { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let shown = try #require(try await service.account(user.localID)?["mfaInfo"])
            #expect(shown[0]?["totpInfo"] == [:])
            let again: JSON = [
                "localId": JSON(user.localID), "email": "ada@example.com", "emailVerified": true, "mfaInfo": shown,
                "rawPassword": "correct horse",
            ]
            let uploaded = try await upload(service, [again])
            #expect(uploaded["error"] == nil && uploaded["warnings"] == nil, "\(uploaded)")
            service.clock.advance(by: 60)
            try await app.signIn(try await service.signInWithPassword("ada@example.com"))
                .expectSecondFactor(app.enrollment, provider: "password", of: user.localID)
            let other = again.merging(["mfaInfo": [["mfaEnrollmentId": "other", "totpInfo": [:]]]])
            #expect(try await upload(service, [other])["warnings"] == nil, "there is one app at most")
            #expect(try await service.account(user.localID)?["mfaInfo"]?[0]?["totpInfo"] == [:])
            // A file that says nothing of factors takes them away.
            #expect(try await upload(service, [again.merging(["mfaInfo": []])])["error"] == nil)
            #expect(try await service.account(user.localID)?["mfaInfo"] == nil)
        }
    }

    @Test("flags may be text, as `firebase auth:import` sends those of a CSV; times may be in seconds, but not in 1970")
    func loose() async throws {
        try await TestService.run { service in
            let users: [JSON] = [
                [
                    "localId": "a", "email": "a@example.com", "emailVerified": "true", "disabled": "true",
                    "createdAt": "1508255889", "lastLoginAt": 1_525_515_073, "photoUrl": .null, "unknown": [1],
                ],
                ["localId": "b", "disabled": "false", "createdAt": 1_508_255_889_000, "lastLoginAt": "0"],
                ["localId": "c", "createdAt": "0"],
            ]
            let uploaded = try await upload(service, users)
            #expect(uploaded.status == 200 && uploaded["error"] == nil, "\(uploaded)")
            let a = try #require(try await service.account("a"))
            #expect(a["emailVerified"] == true && a["disabled"] == true)
            #expect(a["createdAt"] == "1508255889000" && a["lastLoginAt"] == "1525515073000")
            let b = try #require(try await service.account("b"))
            #expect(b["disabled"] == false && b["createdAt"] == "1508255889000" && b["lastLoginAt"] == nil)
            #expect(try await service.account("c")?["createdAt"]?.string?.hasPrefix("\(service.clock.seconds)") == true)
            for wrong: JSON in [
                ["createdAt": "1508255"], ["createdAt": "1508255889000000"], ["createdAt": "-1"], ["disabled": "yes"],
                ["disabled": "TRUE"],
            ] {
                #expect(try await upload(service, [wrong.merging(["localId": "d"])]).status == 400, "\(wrong)")
            }
            let update: JSON = ["localId": "a", "createdAt": "1525515073", "lastLoginAt": "1525515074"]
            try await service.admin("accounts:update", update).expectOK()
            let changed = try await service.account("a")
            #expect(changed?["createdAt"] == "1525515073000" && changed?["lastLoginAt"] == "1525515074000")
        }
    }

    @Test("of accounts that want each other's claims, those that can be written all are, whoever else is refused")
    func swaps() async throws {
        try await TestService.run { service in
            let before: [JSON] = ["a", "b", "c", "d"].map {
                ["localId": .string($0), "email": .string("\($0)@example.com")]
            }
            _ = try await upload(service, before + [["localId": "other", "email": "other@example.com"]])
            let after: [JSON] = [
                // These two swap.
                ["localId": "a", "email": "b@example.com"], ["localId": "b", "email": "a@example.com"],
                // The third keeps its email, because it cannot have the new one; so the fourth cannot have it either.
                ["localId": "d", "email": "c@example.com"], ["localId": "c", "email": "other@example.com"],
                ["localId": "e", "email": "e@example.com"], ["localId": "f", "email": "e@example.com"],
            ]
            let taken: JSON = "email exists in other account in database"
            let reply = try await upload(service, after)
            let expected: [JSON] = [2, 3, 5].map { ["index": .number(Double($0)), "message": taken] }
            #expect(reply["error"]?.array == expected, "\(reply)")
            for (id, email) in ["a": "b", "b": "a", "c": "c", "d": "d", "e": "e", "other": "other"] {
                #expect(try await service.account(id)?["email"]?.string == "\(email)@example.com")
            }
            #expect(try await service.account("f") == nil)
            #expect(try await Self.orphans(of: service) == 0)
        }
    }

    @Test("asks a number of statements that does not depend on how many accounts are taken", .database)
    func statements() async throws {
        try await TestService.run { service in
            func users(_ letter: String) -> [JSON] {
                (0..<1000).map {
                    ["localId": .string("\(letter)\($0)"), "email": .string("u\($0)@example.com")]
                }
            }
            #expect(try await upload(service, users("u"))["error"] == nil)
            for replaces in [false, true] {
                var again = users("v")
                again[700] = ["localId": "free"]
                let (count, reply) = try await StatementCount.during { [again] in
                    try await upload(service, again, ["allowOverwrite": .bool(replaces)])
                }
                let refused = (0..<1000).filter { $0 != 700 }.map { Double($0) }
                #expect(reply["error"]?.array?.map { $0["index"]?.number } == refused)
                #expect(count.total < 40, "\(count)")
            }
            #expect(try await service.account("free") != nil)
        }
    }

    @Test("uploads of the same accounts at once leave each whole", .twoNodes)
    func together() async throws {
        try await TestService.run { service in
            let replies = try await inParallel(6) { number in
                let users: [JSON] = (0..<40).map { index in
                    [
                        "localId": .string("u\(index)"), "email": .string("u\((index + number) % 40)@example.com"),
                        "providerUserInfo": [["providerId": "google.com", "rawId": .string("g\(index)")]],
                    ]
                }
                return try await upload(service, number.isMultiple(of: 2) ? users : users.reversed())
            }
            #expect(replies.allSatisfy { $0.status == 200 }, "\(replies.map(\.description))")
            #expect(try await Self.orphans(of: service) == 0)
            let listed = try await service.admin("accounts:batchGet?maxResults=100")["users"]?.array ?? []
            #expect(!listed.isEmpty && listed.allSatisfy { $0["email"] != nil && $0["providerUserInfo"] != nil })
        }
    }

    @Test("takes 16 MiB, and no other operation more than one")
    func bodies() async throws {
        try await TestService.run { service in
            let path = "/v1/projects/\(service.project.id)/accounts"
            // White space, as reading that of a million values takes a debug build a while.
            let send = { (operation: String, body: String, length: Int) in
                let space = [UInt8](repeating: UInt8(ascii: " "), count: length - body.utf8.count)
                return try await service.send(
                    "POST",
                    "\(path):\(operation)",
                    headers: [("Authorization", "Bearer \(service.adminToken)"), ("Content-Type", "application/json")],
                    body: Array(body.utf8) + space
                )
            }
            let users = #"{"users": [{"localId": "u1", "displayName": "Ada"}]}"#
            let whole = try await send("batchCreate", users, 16 << 20)
            #expect(whole.status == 200 && whole["error"] == nil, "\(whole)")
            #expect(try await service.account("u1")?["displayName"] == "Ada")
            let tooMuch = try await send("batchCreate", users, (16 << 20) + 1)
            #expect(tooMuch.status == 413, "\(tooMuch)")
            let elsewhere = try await send("update", #"{"localId": "u1"}"#, (1 << 20) + 1)
            #expect(elsewhere.status == 413, "\(elsewhere)")
        }
    }
}
