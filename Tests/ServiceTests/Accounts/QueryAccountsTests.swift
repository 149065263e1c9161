import Projects
import Secrets
import Storage
import TestKit
import Testing

@Suite("accounts:query", .database)
struct QueryAccountsTests {
    /// In the order of their ids, and in no other one.
    private static let users: [JSON] = [
        [
            "localId": "a", "email": "zoe@example.com", "displayName": "Carl", "createdAt": "1000000003000",
            "lastLoginAt": "1000000020000", "phoneNumber": "+15555550101",
        ],
        ["localId": "b", "displayName": "Ada", "createdAt": "1000000001000", "lastLoginAt": "1000000040000"],
        ["localId": "c", "email": "Ada@Example.com", "createdAt": "1000000002000", "rawPassword": "correct horse"],
        [
            "localId": "d", "email": "bob@example.com", "displayName": "Bob", "createdAt": "1000000003000",
            "lastLoginAt": "1000000030000",
        ],
    ]

    private func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        try await TestService.run { service in
            let uploaded = try await service.admin("accounts:batchCreate", ["users": .array(Self.users)])
            #expect(uploaded["error"] == nil, "\(uploaded)")
            try await body(service)
        }
    }

    @Test(
        "orders accounts by everything that Firebase names, those that lack it first, and back",
        arguments: [
            (nil, 0, "abcd"), ("USER_ID", 1, "abcd"), ("NAME", 2, "cbda"), ("CREATED_AT", 3, "bcad"),
            ("LAST_LOGIN_AT", 4, "cadb"), ("USER_EMAIL", 5, "bcda"),
        ] as [(String?, Int, String)]
    )
    func orders(_ name: String?, _ number: Int, _ ids: String) async throws {
        try await run { service in
            let expected = ids.map { String($0) }
            for spelling in [JSON(name), JSON.number(Double(number)), JSON(String(number))] {
                for (order, expected) in [
                    (.null, expected), ("ASC", expected), (1, expected), ("DESC", expected.reversed()),
                    ("2", expected.reversed()),
                ] as [(JSON, [String])] {
                    for member in ["sortBy", "sort_by"] {
                        let found = try await service.query([member: spelling, "order": order])
                        #expect(found.ids == expected, "\(spelling) \(order): \(found)")
                    }
                }
            }
        }
    }

    @Test("gives a range of them with the number of those that it gives, or the number of all")
    func ranges() async throws {
        try await run { service in
            for (body, ids) in [
                (["limit": 2], "ab"), (["limit": "2", "offset": "1"], "bc"), (["offset": 3], "d"), (["offset": 4], ""),
                (["limit": 501], "abcd"), (["limit": 0], ""), (["limit": .null, "returnUserInfo": true], "abcd"),
                (["sortBy": "CREATED_AT", "offset": 1, "limit": 2], "ca"),
                (["sortBy": "LAST_LOGIN_AT", "order": "DESC", "offset": 2], "ac"),
            ] as [(JSON, String)] {
                let found = try await service.query(body)
                #expect(found.ids == ids.map { String($0) }, "\(body): \(found)")
                #expect(found["recordsCount"]?.string == String(ids.count))
                #expect(found["nextPageToken"] == nil)
                let other = try await service.admin(":queryAccounts", body)
                #expect(other.json == found.json)
            }
            let ada = try await service.query(["offset": 2])["userInfo"]?[0]
            let lookedUp = try await service.account("c")
            #expect(ada == lookedUp && ada?["passwordHash"] == "UkVEQUNURUQ=", "as lookup shows it")
            for body in [[:], ["limit": 1, "offset": 3], ["pageSize": 1]] as [JSON] {
                let count = try await service.query(body.merging(["returnUserInfo": false]))
                #expect(count.json == ["recordsCount": "4"], "\(body): \(count)")
            }
        }
    }

    @Test("finds the one that an expression names: the first expression, and its first member")
    func expressions() async throws {
        try await run { service in
            for (expression, id) in [
                ([["email": "ADA@example.com"]], "c"), ([["userId": "b"]], "b"),
                ([["phoneNumber": "+1 555 555 0101"]], "a"),
                ([["user_id": "d"], ["userId": "a"]], "d"), ([["email": "bob@example.com", "userId": "a"]], "d"),
                ([["phoneNumber": "+15555550101", "userId": "b"]], "a"), ([["email": "", "userId": "b"]], "b"),
                ([["email": "nobody@example.com"]], nil), ([["userId": "nobody"]], nil),
                ([["phoneNumber": "+15555550199"]], nil), ([], "abcd"),
            ] as [(JSON, String?)] {
                let found = try await service.query(["expression": expression])
                #expect(found.ids == (id ?? "").map { String($0) }, "\(expression): \(found)")
                #expect(found["recordsCount"]?.string == String(found.ids.count))
                let page = try await service.query(["expression": expression, "pageSize": 10, "hasSession": false])
                #expect(page.ids == found.ids && page["nextPageToken"] == nil, "\(expression): \(page)")
            }
        }
    }

    @Test(
        "refuses what makes no sense",
        arguments: [
            (["limit": -1], "INVALID_PAGE_SELECTION"), (["offset": "-1"], "INVALID_PAGE_SELECTION"),
            (["pageSize": 0], "INVALID_PAGE_SELECTION"), (["pageSize": -1], "INVALID_PAGE_SELECTION"),
            (["pageToken": "nonsense"], "INVALID_PAGE_SELECTION"), (["pageToken": "AAAA"], "INVALID_PAGE_SELECTION"),
            (["limit": "many"], "Invalid value at 'limit' (TYPE_INT64), \"many\""),
            (["limit": .number(1.5)], "Invalid value at 'limit' (TYPE_INT64), 1.5"),
            (["offset": true], "Invalid value at 'offset' (TYPE_INT64), true"),
            (["sortBy": "AGE"], "Invalid value at 'sort_by' (TYPE_ENUM), \"AGE\""),
            (["sortBy": 6], "Invalid value at 'sort_by' (TYPE_ENUM), 6"),
            (["order": "UP"], "Invalid value at 'order' (TYPE_ENUM), \"UP\""),
            (["returnUserInfo": "no"], "Invalid value at 'return_user_info' (TYPE_BOOL), \"no\""),
            (
                ["expression": [:]],
                "Invalid value at 'expression' (TYPE_LIST), {}"
            ),
            (["expression": [[:]]], "INVALID_ARGUMENT : An expression must have an email, a phoneNumber or a userId."),
            (["expression": [["email": "ada"]]], "INVALID_EMAIL"),
            (["expression": [["phoneNumber": "0170"]]], "INVALID_PHONE_NUMBER : Invalid format."),
            (["emailDomain": "a@example.com"], "INVALID_ARGUMENT : emailDomain is not a domain."),
            (["lastUsedBefore": "yesterday"], "Invalid value at 'last_used_before' (TYPE_INT64), \"yesterday\""),
            (["disabled": "yes"], "Invalid value at 'disabled' (TYPE_BOOL), \"yes\""),
            (["pageSize": 1, "limit": 1], "INVALID_ARGUMENT : pageSize and pageToken exclude limit and offset."),
            (
                ["pageSize": 1, "sortBy": "NAME"],
                "INVALID_ARGUMENT : Pages are sorted by USER_ID, CREATED_AT or USER_EMAIL."
            ),
            (
                ["pageSize": 1, "sortBy": "LAST_LOGIN_AT"],
                "INVALID_ARGUMENT : Pages are sorted by USER_ID, CREATED_AT or USER_EMAIL."
            ),
        ] as [(JSON, String)]
    )
    func refuses(_ body: JSON, _ error: String) async throws {
        try await TestService.run { service in
            let refused = try await service.query(body)
            #expect(refused.status == 400 && refused.error == error, "\(refused)")
        }
    }

    @Test("T-D13: who may read accounts may ask, and gets no hash to guess at; others may not")
    func scopes() async throws {
        try await run { service in
            for (scope, status) in [(AdminScope.readAccounts, 200), (.manageConfiguration, 403)] {
                let (_, token) = try await service.stores.configuration.createAdminCredential(
                    name: "asker",
                    project: service.project.id,
                    scopes: [scope],
                    expiresAt: nil
                )
                for (method, path) in [
                    ("POST", "/accounts:query"), ("POST", ":queryAccounts"), ("GET", "/providers:stats"),
                ] {
                    let reply = try await service.send(
                        method,
                        "/v1/projects/\(service.project.id)\(path)",
                        headers: [("Authorization", "Bearer \(token.reveal())")]
                    )
                    #expect(reply.status == status, "\(path): \(reply)")
                    #expect(!reply.response.text.contains("salt"))
                }
            }
        }
    }
}

extension TestService {
    func query(_ body: JSON) async throws -> Reply { try await admin("accounts:query", body) }
}

extension Reply {
    /// Of the accounts of `accounts:query`.
    var ids: [String] { self["userInfo"]?.array?.compactMap { $0["localId"]?.string } ?? [] }
}
