import TestKit
import Testing

@Suite("Deleting many accounts", .database)
struct BatchDeleteTests {
    @Test("deletes with everything that they have; disabled ones alone unless forced; unknown ids are no error")
    func deletes() async throws {
        try await TestService.run { service in
            var users: [Reply] = []
            for number in 0..<7 { users.append(try await service.signUp("ada\(number)@example.com")) }
            let ids = users.compactMap { $0["localId"] }
            _ = try await service.admin("accounts:update", ["localId": ids[1], "disableUser": true])
            let careful = try await service.admin(
                "accounts:batchDelete",
                ["localIds": .array(["nobody", ids[0], ids[1], ids[2]])]
            )
            let message: JSON = "NOT_DISABLED : Disable the account before batch deletion."
            #expect(
                careful["errors"] == [
                    ["index": 1, "localId": ids[0], "message": message],
                    ["index": 3, "localId": ids[2], "message": message],
                ],
                "\(careful)"
            )
            #expect(try await service.account(ids[0].string) != nil)
            #expect(try await service.account(ids[1].string) == nil)

            let forced = try await service.admin(
                "accounts:batchDelete",
                ["localIds": .array(Array(ids[..<6]) + [ids[0]]), "force": true]
            )
            #expect(forced.status == 200 && forced["errors"] == nil, "\(forced)")
            let left = try await service.admin("accounts:batchGet")
            #expect(left["users"]?.array?.compactMap { $0["localId"] } == [ids[6]])
            // Their addresses are free, their sessions over.
            #expect(try await service.refresh(users[2].refreshToken).status == 400)
            try await service.signUp("ada2@example.com").expectOK()
        }
    }

    @Test("takes one to a thousand ids")
    func limits() async throws {
        try await TestService.run { service in
            for count in [0, 1_001] {
                let ids = (0..<count).map { JSON.string("u\($0)") }
                try await service.admin("accounts:batchDelete", ["localIds": .array(ids), "force": true])
                    .expectRefused("LOCAL_ID_LIST_EXCEEDS_LIMIT")
            }
            let ids = (0..<1_000).map { JSON.string($0 == 0 ? "" : "u\($0)") }
            try await service.admin("accounts:batchDelete", ["localIds": .array(ids)]).expectOK()
        }
    }
}
