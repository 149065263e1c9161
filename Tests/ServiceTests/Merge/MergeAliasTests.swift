import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("Ids of merged accounts", .database, .serialized, .timeLimit(.minutes(10)))
struct MergeAliasTests {
    private func merged(_ service: TestService) async throws -> Reply {
        try await service.upload(
            ["localId": "ada", "email": "ada@example.com", "emailVerified": true],
            [
                "localId": "eda", "email": "eda@example.com", "emailVerified": true,
                "providerUserInfo": [["providerId": "google.com", "rawId": "o1"]],
            ]
        )
        let reply = try await service.merge("eda", into: "ada")
        reply.expectOK()
        return reply
    }

    @Test("the old id leads to the account that stayed, for admins and for custom tokens")
    func leadsOn() async throws {
        try await MergeScene.run { service in
            _ = try await merged(service)
            let found = try await service.admin("accounts:lookup", ["localId": ["eda", "nobody", "ada"]])
            #expect(found["users"]?.array?.map { $0["localId"] } == ["ada"], "\(found)")
            let user = try await service.identity("google.com", "o1")
            let sessions = try await service.admin("accounts:listSessions", ["localId": "eda"])
            #expect(sessions["sessions"]?.array?.count == 1)
            let updated = try await service.admin("accounts:update", ["localId": "eda", "displayName": "Ada"])
            #expect(updated["localId"] == "ada" && updated["displayName"] == "Ada", "\(updated)")
            let backEnd = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let token = try backEnd.sign(backEnd.payload(uid: "eda", at: service.clock.seconds))
            let signedIn = try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
            #expect(signedIn.claims["sub"] == "ada" && signedIn["isNewUser"] == false, "\(signedIn)")
            try await service.admin("accounts:signOut", ["localId": "eda"]).expectOK()
            #expect(try await service.lookUp(user.idToken).error == "TOKEN_EXPIRED")
            let listed = try await service.admin("accounts:batchGet")
            #expect(listed["users"]?.array?.map { $0["localId"] } == ["ada"])
            #expect(try await service.admin("accounts:query", ["returnUserInfo": false])["recordsCount"] == "1")
            let rows = try await service.admin("accounts:query", [:])["userInfo"]?.array
            #expect(rows?.map { $0["localId"] } == ["ada"])
        }
    }

    @Test(
        "T-D6: `checkRevoked` refuses the tokens of the account that went, and those of the other one no more than before"
    )
    func endsTokens() async throws {
        try await MergeScene.run { service in
            let stays = try await service.signUp("ada@example.com")
            let goes = try await service.call("accounts:signUp", [:])
            service.clock.advance(by: 5)
            let reply = try await service.merge(goes.localID, into: stays.localID)
            reply.expectOK()
            func validSince(_ id: String?) async throws -> Int64 {
                let found = try await service.admin("accounts:lookup", ["localId": [JSON(id)]])
                return try #require(found["users"]?[0]?["validSince"]?.string.flatMap { Int64($0) }, "\(found)")
            }
            let ofMerged = try await validSince(goes.localID)
            #expect(ofMerged == service.clock.seconds)
            let signedInAt = try #require(goes.claims["auth_time"]?.number)
            #expect(Int64(signedInAt) < ofMerged)
            #expect(try await validSince(stays.localID) == ofMerged - 5)
        }
    }

    @Test("no other account gets the id, not even by an upload")
    func isTaken() async throws {
        try await MergeScene.run { service in
            _ = try await merged(service)
            try await service.admin("accounts", ["localId": "eda"]).expectRefused("DUPLICATE_LOCAL_ID")
            for overwrite in [true, false] {
                let reply = try await service.admin(
                    "accounts:batchCreate",
                    ["users": [["localId": "eda", "email": "new@example.com"]], "allowOverwrite": .bool(overwrite)]
                )
                let problem = "localId belongs to an existing account - can not overwrite."
                #expect(reply["error"] == [["index": 0, "message": .string(problem)]], "\(reply)")
            }
            #expect(try await service.account("eda")?["localId"] == "ada")
            try await service.expectConsistentClaims()
        }
    }

    @Test("chains resolve; what is in their middle is undone last")
    func chains() async throws {
        try await MergeScene.run { service in
            let first = try await merged(service)
            try await service.upload(["localId": "zoe", "phoneNumber": .string(PhoneScene.number)])
            let second = try await service.merge("ada", into: "zoe")
            second.expectOK()
            for id in ["eda", "ada", "zoe"] { #expect(try await service.account(id)?["localId"] == "zoe") }
            #expect(try await service.identity("google.com", "o1").localID == "zoe")
            let refused = try await service.undo(first)
            #expect(refused.code == "MERGE_NOT_UNDOABLE" && refused.error?.contains("zoe") == true, "\(refused)")
            // By old ids, both of one account.
            try await service.merge("eda", into: "ada")
                .expectRefused("INVALID_ARGUMENT : localId and mergedLocalId are the same account.")
            #expect(try await service.undo(second)["restoredUser"]?["localId"] == "ada")
            #expect(try await service.account("eda")?["localId"] == "ada")
            #expect(try await service.undo(first)["restoredUser"]?["localId"] == "eda")
            #expect(try await service.identity("google.com", "o1").localID == "eda")
            try await service.expectConsistentClaims()
        }
    }

    @Test("an account that is deleted takes the ids with it that led to it, and what those still held")
    func deletion() async throws {
        try await MergeScene.run { service in
            let first = try await merged(service)
            try await service.upload(["localId": "zoe", "email": "zoe@example.com", "emailVerified": true])
            let second = try await service.merge("ada", into: "zoe")
            try await service.admin("accounts:delete", ["localId": "eda"]).expectOK()
            for id in ["eda", "ada", "zoe"] { #expect(try await service.account(id) == nil) }
            for merge in [first, second] { try await service.undo(merge).expectRefused("MERGE_NOT_FOUND") }
            for table in ["accounts", "account_emails", "linked_credentials", "credential_subjects", "account_merges"] {
                let rows = try await service.stores.database.query(
                    "SELECT count(*) FROM \(identifier: table) WHERE project = \(service.project.id.rawValue)"
                ) { try $0.next(Int64.self) }
                #expect(rows == [0], "\(table)")
            }
            try await service.signUp("eda@example.com").expectOK()
            try await service.admin("accounts", ["localId": "eda"]).expectOK()
        }
    }

    @Test("after a week the merged account's remaining values are free; its id still resolves", .database)
    func expiry() async throws {
        try await MergeScene.run { service in
            try await service.upload(
                [
                    "localId": "ada", "providerUserInfo": [["providerId": "google.com", "rawId": "o1"]],
                    "email": "ada@example.com",
                ],
                [
                    "localId": "eda", "email": "eda@example.com", "phoneNumber": .string(PhoneScene.number),
                    "providerUserInfo": [["providerId": "google.com", "rawId": "o2"]],
                ]
            )
            let merge = try await service.merge("eda", into: "ada", dropping: ["google.com", "phone"])
            service.clock.advance(by: 7 * 86_400 - 1)
            try await service.sweep()
            try await service.signUp("eda@example.com").expectRefused("EMAIL_EXISTS")
            service.clock.advance(by: 2)
            try await service.undo(merge).expectRefused("MERGE_NOT_UNDOABLE : The merge is older than a week.")
            try await service.sweep()
            try await service.undo(merge).expectRefused("MERGE_NOT_UNDOABLE : The merge is older than a week.")
            try await service.signUp("eda@example.com").expectOK()
            #expect(try await service.identity("google.com", "o2")["isNewUser"] == true)
            #expect(try await service.signInByPhone(PhoneScene.number)["isNewUser"] == true)
            #expect(try await service.account("eda")?["localId"] == "ada")
            try await service.admin("accounts", ["localId": "eda"]).expectRefused("DUPLICATE_LOCAL_ID")
            try await service.expectConsistentClaims()
        }
    }

    @Test("T-B19, T-D1: accounts and merges of another tenant or project are unknown here")
    func scopes() async throws {
        try await TestService.run(MergeScene.options { $0.allowsTenants = true }) { service in
            let tenant = try await service.makeTenant("first", TenantScene.everything)
            let other = try await service.makeTenant("second", TenantScene.everything)
            try await service.upload(["localId": "ada"], ["localId": "eda"])
            for id in ["t1", "t2"] {
                let made = try await service.admin("tenants/\(tenant)/accounts", ["localId": .string(id)])
                made.expectOK()
            }
            for (path, ids) in [
                ("accounts", ["ada", "t1"]), ("accounts", ["t1", "t2"]), ("tenants/\(tenant)/accounts", ["t1", "ada"]),
                ("tenants/\(other)/accounts", ["t1", "t2"]),
            ] {
                for pair in [ids, ids.reversed()] {
                    let body: JSON = ["localId": .string(pair[0]), "mergedLocalId": .string(pair[1])]
                    try await service.admin("\(path):merge", body).expectRefused("USER_NOT_FOUND")
                }
            }
            let body: JSON = ["localId": "t1", "mergedLocalId": "t2"]
            let merged = try await service.admin("tenants/\(tenant)/accounts:merge", body)
            #expect(merged["user"]?["tenantId"]?.string == tenant, "\(merged)")
            let id: JSON = ["mergeId": merged["mergeId"] ?? ""]
            try await service.admin("accounts:undoMerge", id).expectRefused("MERGE_NOT_FOUND")
            try await service.admin("tenants/\(other)/accounts:undoMerge", id).expectRefused("MERGE_NOT_FOUND")
            #expect(try await service.account("t2") == nil)
            try await TestService.run(MergeScene.options()) { stranger in
                try await stranger.admin("accounts:undoMerge", id).expectRefused("MERGE_NOT_FOUND")
                try await stranger.merge("eda", into: "ada").expectRefused("USER_NOT_FOUND")
            }
            let undone = try await service.admin("tenants/\(tenant)/accounts:undoMerge", id)
            #expect(undone["restoredUser"]?["localId"] == "t2", "\(undone)")
        }
    }
}
