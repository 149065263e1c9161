import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("Merges that meet something else", .database, .serialized, .timeLimit(.minutes(RaceRounds.minutes)))
struct MergeRaceTests {
    private func withTwoNodes(_ body: @Sendable (TestService, TestService) async throws -> Void) async throws {
        try await TestService.runPair(MergeScene.options()) { first, second in try await body(first, second) }
    }

    /// Runs both at once.
    private func together<A: Sendable, B: Sendable>(
        _ one: @escaping @Sendable () async throws -> A,
        _ other: @escaping @Sendable () async throws -> B
    ) async throws -> (A, B) {
        let barrier = Barrier(2)
        async let first: A = {
            await barrier.wait()
            return try await one()
        }()
        async let second: B = {
            await barrier.wait()
            return try await other()
        }()
        return try await (first, second)
    }

    @Test("of two merges in opposite directions one happens, and neither waits for the other for ever")
    func reversed() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<RaceRounds.count {
                let (ada, eda) = ("a\(round)", "e\(round)")
                try await first.upload(
                    [
                        "localId": .string(ada),
                        "providerUserInfo": [["providerId": "github.com", "rawId": .string(ada)]],
                    ],
                    [
                        "localId": .string(eda),
                        "providerUserInfo": [["providerId": "google.com", "rawId": .string(eda)]],
                    ]
                )
                let (one, other) = try await together(
                    { try await first.merge(eda, into: ada) },
                    { try await second.merge(ada, into: eda) }
                )
                #expect([one, other].count { $0.status == 200 } == 1, "\(one) \(other)")
                let lost = one.status == 200 ? other : one
                #expect(lost.code == "INVALID_ARGUMENT", "\(lost)")
                let survivor = one.status == 200 ? ada : eda
                #expect(try await first.identity("github.com", ada).localID == survivor)
                #expect(try await second.identity("google.com", eda).localID == survivor)
            }
            try await first.expectConsistentClaims()
        }
    }

    @Test("T-A13: a merge and the removal of the other account's last way in: the identity moves, or is gone")
    func unlink() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<RaceRounds.count {
                let ada = "a\(round)"
                try await first.upload(["localId": .string(ada)])
                let user = try await first.identity("google.com", "o\(round)")
                let (merge, removal) = try await together(
                    { try await first.merge(user.localID, into: ada) },
                    {
                        try await second.admin(
                            "accounts:update",
                            ["localId": JSON(user.localID), "deleteProvider": ["google.com"]]
                        )
                    }
                )
                #expect(merge.status == 200 && removal.status == 200, "\(merge) \(removal)")
                #expect(try await first.account(ada)?["providerUserInfo"] == nil)
                #expect(try await first.identity("google.com", "o\(round)")["isNewUser"] == true)
            }
            try await first.expectConsistentClaims()
        }
    }

    @Test("a person's own removal of the last way in comes too late, or the merge finds it gone; none is lost unasked")
    func ownUnlink() async throws {
        try await TestService.runPair(MergeScene.options { $0.keepLastSignInMethod = true }) { first, second in
            for round in 0..<RaceRounds.count {
                let ada = "a\(round)"
                try await first.upload(["localId": .string(ada)])
                let user = try await first.identity("google.com", "o\(round)")
                let body: JSON = ["idToken": JSON(user.idToken), "deleteProvider": ["google.com"]]
                let (merge, removal) = try await together(
                    { try await first.merge(user.localID, into: ada) },
                    { try await second.call("accounts:update", body) }
                )
                merge.expectOK()
                #expect(["OPERATION_NOT_ALLOWED", "USER_NOT_FOUND"].contains(removal.code), "\(removal)")
                #expect(try await first.identity("google.com", "o\(round)").localID == ada)
            }
        }
    }

    @Test("a sign-in that meets the merge ends in the account that stays, or its session is over")
    func signIn() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<RaceRounds.count {
                let ada = "a\(round)"
                try await first.upload(["localId": .string(ada)])
                let user = try await first.identity("google.com", "o\(round)")
                let (merge, reply) = try await together(
                    { try await first.merge(user.localID, into: ada) },
                    { try await second.identity("google.com", "o\(round)") }
                )
                #expect(merge.status == 200 && reply.status == 200, "\(merge) \(reply)")
                let lookUp = try await second.lookUp(reply.idToken)
                if reply.localID == ada {
                    lookUp.expectOK()
                } else {
                    lookUp.expectRefused("USER_NOT_FOUND")
                }
                let left = try await first.stores.database.query(
                    """
                    SELECT count(*) FROM sessions WHERE account = \(user.localID ?? "") AND revoked_at IS NULL
                    """
                ) { try $0.next(Int64.self) }
                #expect(left == [0])
            }
        }
    }

    @Test("a sign-in that waits for the merge is decided again")
    func signInWaits() async throws {
        try await MergeScene.run { service in
            let user = try await service.identity("google.com", "o1")
            try await service.upload(["localId": "ada"])
            let reply = try await Race.run(
                service,
                hold: { transaction in
                    // What a merge locks and writes, as far as this sign-in sees it.
                    try await transaction.execute(
                        """
                        UPDATE accounts SET version = version + 1, merged_into = 'ada', disabled = true
                        WHERE account = \(user.localID ?? "")
                        """
                    )
                    try await transaction.execute("UPDATE linked_credentials SET account = 'ada' WHERE subject = 'o1'")
                    try await transaction.execute("UPDATE credential_subjects SET account = 'ada' WHERE subject = 'o1'")
                },
                { try await service.identity("google.com", "o1") }
            )
            #expect(reply.localID == "ada", "\(reply)")
        }
    }

    @Test("a merge and the deletion of either account: both happen in some order, and nothing is left over")
    func deletion() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<RaceRounds.count {
                let (ada, eda) = ("a\(round)", "e\(round)")
                let google: JSON = [["providerId": "google.com", "rawId": .string(eda)]]
                try await first.upload(
                    ["localId": .string(ada), "email": .string("\(ada)@example.com"), "emailVerified": true],
                    ["localId": .string(eda), "email": .string("\(eda)@example.com"), "providerUserInfo": google]
                )
                let victim = round.isMultiple(of: 2) ? ada : eda
                let (merge, deletion) = try await together(
                    { try await first.merge(eda, into: ada) },
                    { try await second.admin("accounts:delete", ["localId": .string(victim)]) }
                )
                deletion.expectOK()
                #expect(merge.status == 200 || merge.error == "USER_NOT_FOUND", "\(merge)")
                #expect(try await first.account(victim) == nil)
                if merge.status == 200 { #expect(try await first.account(eda) == nil) }
            }
            try await first.expectConsistentClaims()
        }
    }

    @Test("an undo and a change of what moved: it goes back, or stays with the change")
    func undo() async throws {
        try await withTwoNodes { first, second in
            for round in 0..<RaceRounds.count {
                let (ada, eda) = ("a\(round)", "e\(round)")
                let google: JSON = [["providerId": "google.com", "rawId": .string(eda)]]
                try await first.upload(
                    ["localId": .string(ada)],
                    ["localId": .string(eda), "providerUserInfo": google]
                )
                let merge = try await first.merge(eda, into: ada)
                let body: JSON = ["localId": .string(ada), "deleteProvider": ["google.com"]]
                let (undone, removal) = try await together(
                    { try await first.undo(merge) },
                    { try await second.admin("accounts:update", body) }
                )
                #expect(undone.status == 200 && removal.status == 200, "\(undone) \(removal)")
                let goesBack = undone["leftProviders"] == nil
                #expect(undone["restoredUser"]?.providers == (goesBack ? ["google.com"] : []))
                let signedIn = try await first.identity("google.com", eda)
                if goesBack { #expect(signedIn.localID == eda) } else { #expect(signedIn["isNewUser"] == true) }
            }
            try await first.expectConsistentClaims()
        }
    }
}
