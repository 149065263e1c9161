import TestKit
import Testing

@Suite("Download of accounts", .database)
struct AccountDownloadTests {
    @Test("gives pages by localId, with hashes, and a token as long as a page is full")
    func pages() async throws {
        try await TestService.run { service in
            for id in ["c", "a", "b"] {
                let made = try await service.admin("accounts", ["localId": .string(id), "password": "correct horse"])
                #expect(made["email"]?.string == "")
                #expect(made.localID == id)
            }
            let first = try await service.admin("accounts:batchGet?maxResults=2")
            #expect(first["users"]?.array?.map { $0["localId"]?.string } == ["a", "b"])
            let next = try #require(first["nextPageToken"]?.string)
            let hash = try #require(first["users"]?[0]?["passwordHash"]?.string)
            #expect(hash.utf8.count == 88)
            #expect(!hash.contains("+") && !hash.contains("/"))
            let second = try await service.admin("accounts:batchGet?maxResults=1&nextPageToken=\(next)")
            #expect(second["users"]?.array?.count == 1)
            let end = try #require(second["nextPageToken"]?.string, "the page is exactly full")
            let last = try await service.admin("accounts:batchGet?nextPageToken=\(end)")
            for other in ["b", "x%20y", "invalid", "e30", "NQ", "IiI", "bnVsbA"] {
                let refused = try await service.admin("accounts:batchGet?nextPageToken=\(other)")
                #expect(refused.error == "INVALID_PAGE_SELECTION", "\(other): \(refused)")
            }
            #expect(last.json == ["kind": "identitytoolkit#DownloadAccountResponse"])
            let zero = try await service.admin("accounts:batchGet?maxResults=0")
            #expect(zero["users"] == nil)
            #expect(try await service.admin("accounts:batchGet?maxResults=x").error == "INVALID_PAGE_SELECTION")
        }
    }

    @Test("looks accounts up by every selector, and answers without users when none matches")
    func lookUp() async throws {
        try await TestService.run { service in
            try await service.admin(
                "accounts",
                ["localId": "u", "email": "Ada@Example.com", "phoneNumber": "+12025550101"]
            )
            let link: JSON = ["localId": "u", "linkProviderUserInfo": ["providerId": "github.com", "rawId": "42"]]
            try await service.admin("accounts:update", link)
            for selector in [
                ["localId": ["u"]], ["email": ["ADA@example.com"]], ["phoneNumber": ["+12025550101"]],
                ["federatedUserId": [["providerId": "github.com", "rawId": "42"]]],
                ["localId": ["u", "x"], "email": ["ada@example.com"]],
            ] as [JSON] {
                let reply = try await service.admin("accounts:lookup", selector)
                #expect(reply["users"]?.array?.map { $0["localId"]?.string } == ["u"], "\(selector.text)")
            }
            let none = try await service.admin("accounts:lookup", ["localId": ["x"]])
            #expect(none.json == ["kind": "identitytoolkit#GetAccountInfoResponse"])
            #expect(try await service.admin("accounts:lookup", ["localId": [""]]).error == "MISSING_ID_TOKEN")
        }
    }
}
