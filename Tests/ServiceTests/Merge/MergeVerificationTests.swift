import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("Merges and the first verification", .database, .serialized, .timeLimit(.minutes(10)))
struct MergeVerificationTests {
    private static let google: JSON = ["providerUserInfo": [["providerId": "google.com", "rawId": "o1"]]]

    private func account(_ id: String, verified: Bool?, _ more: JSON = [:]) -> JSON {
        var user: JSON = ["localId": .string(id)]
        if let verified {
            user = user.merging(["email": .string("\(id)@example.com"), "emailVerified": .bool(verified)])
        }
        return user.merging(more)
    }

    private func update(_ id: String, _ members: JSON, _ service: TestService) async throws {
        let reply = try await service.admin("accounts:update", members.merging(["localId": .string(id)]))
        reply.expectOK()
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var survivor: (verified: Bool?, more: JSON)
        var merged: (verified: Bool?, more: JSON)
        /// The conflicts; empty for a merge that takes place.
        var conflicts: [String]
    }

    private static let password: JSON = ["rawPassword": "correct horse"]
    private static let github: JSON = ["providerUserInfo": [["providerId": "github.com", "rawId": "g1"]]]

    static let pairs = [
        Pair(
            testDescription: "a verified account into an unverified one",
            survivor: (false, password),
            merged: (true, google.merging(password)),
            conflicts: ["email", "password"]
        ),
        Pair(
            testDescription: "a verified account without a method",
            survivor: (false, password),
            merged: (true, [:]),
            conflicts: ["email"]
        ),
        Pair(
            testDescription: "an unverified account into an unverified one",
            survivor: (false, password),
            merged: (false, google),
            conflicts: ["email"]
        ),
        Pair(
            testDescription: "a phone into an unverified account",
            survivor: (false, password),
            merged: (nil, ["phoneNumber": .string(PhoneScene.number)]),
            conflicts: ["email"]
        ),
        Pair(
            testDescription: "an unverified email onto an account with a method",
            survivor: (nil, github),
            merged: (false, password),
            conflicts: ["email"]
        ),
        Pair(
            testDescription: "an unverified email onto an account without a method",
            survivor: (nil, [:]),
            merged: (false, password),
            conflicts: []
        ),
        Pair(
            testDescription: "nothing into an unverified account",
            survivor: (false, password),
            merged: (nil, [:]),
            conflicts: []
        ),
        Pair(
            testDescription: "a verified email onto an account with a method",
            survivor: (nil, github),
            merged: (true, password),
            conflicts: []
        ),
        Pair(
            testDescription: "an unverified account into a verified one",
            survivor: (true, password),
            merged: (false, google),
            conflicts: []
        ),
    ]

    @Test("T-A7: a merge that a later verification would undo for its users is refused", arguments: pairs)
    func refuses(_ pair: Pair) async throws {
        try await MergeScene.run { service in
            try await service.upload(
                account("grace", verified: pair.survivor.verified, pair.survivor.more),
                account("ada", verified: pair.merged.verified, pair.merged.more)
            )
            let preview = try await service.merge("ada", into: "grace", ["validateOnly": true])
            let conflicts = preview["conflicts"]?.array?.compactMap { $0["providerId"]?.string } ?? []
            #expect(conflicts == pair.conflicts, "\(preview)")
            guard !pair.conflicts.isEmpty else {
                try await service.merge("ada", into: "grace").expectOK()
                return try await service.expectConsistentClaims()
            }
            #expect(preview["conflicts"]?[0] == ["providerId": "email", "reason": "emailNotVerified"])
            let before = try await (service.account("grace"), service.account("ada"))
            let refused = try await service.merge("ada", into: "grace", dropping: pair.conflicts)
            refused.expectRefused("MERGE_CONFLICT : email")
            #expect(try await (service.account("grace"), service.account("ada")) == before)
            // Once the email is verified, nothing is at stake.
            let owner = pair.survivor.verified == nil ? "ada" : "grace"
            try await update(owner, ["emailVerified": true], service)
            try await service.merge("ada", into: "grace", dropping: pair.conflicts).expectOK()
        }
    }

    enum Path: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case reset = "PASSWORD_RESET"
        case emailLink = "EMAIL_SIGNIN"
        case provider
        var testDescription: String { rawValue }
    }

    /// Proves an email without having signed in as its account.
    private func prove(_ email: String, by path: Path, _ service: TestService) async throws -> Reply {
        guard path != .provider else {
            return try await service.signInWithIdP(
                postBody: MergeScene.identity("google.com", "taker", email: email)
            )
        }
        let mail = try await service.admin(
            "accounts:sendOobCode",
            [
                "requestType": .string(path.rawValue), "email": .string(email), "returnOobLink": true,
                "continueUrl": "http://localhost/", "canHandleCodeInApp": true,
            ]
        )
        let code = try #require(mail["oobCode"], "\(mail)")
        return path == .emailLink
            ? try await service.call("accounts:signInWithEmailLink", ["email": .string(email), "oobCode": code])
            : try await service.call("accounts:resetPassword", ["oobCode": code, "newPassword": "another horse"])
    }

    /// Ada with an email, Google, GitHub and a phone, merged into Grace, whose email is then another one that nobody
    /// proved.
    private func mergedBeforeTheProof(_ service: TestService) async throws -> Reply {
        let identities: JSON = [
            ["providerId": "google.com", "rawId": "o1"], ["providerId": "github.com", "rawId": "g1"],
        ]
        try await service.upload(
            account("grace", verified: true, Self.password),
            account(
                "ada",
                verified: true,
                ["providerUserInfo": identities, "phoneNumber": .string(PhoneScene.number)]
            )
        )
        let merge = try await service.merge("ada", into: "grace")
        #expect(merge["movedProviders"] == ["github.com", "google.com", "phone"], "\(merge)")
        service.clock.advance(by: 60)
        try await update("grace", ["email": "new@gmail.com", "emailVerified": false], service)
        return merge
    }

    @Test("T-A7: an undo returns what the first verification removed since", arguments: Path.allCases)
    func returnsDetached(_ path: Path) async throws {
        try await MergeScene.run { service in
            let merge = try await mergedBeforeTheProof(service)
            let proved = try await prove("new@gmail.com", by: path, service)
            proved.expectOK()
            let own: Set<String> = path == .provider ? ["google.com"] : path == .reset ? ["password"] : []
            let taken = try #require(try await service.account("grace"))
            #expect(Set(taken.providers).subtracting(["emailLink"]).isSubset(of: own.union(["password"])), "\(taken)")
            #expect(taken["phoneNumber"] == nil)
            let undone = try await service.undo(merge)
            #expect(undone.status == 200 && undone["leftProviders"] == nil, "\(undone)")
            #expect(undone["restoredUser"]?["email"] == "ada@example.com")
            #expect(Set(undone["restoredUser"]?.providers ?? []) == ["github.com", "google.com", "phone"])
            #expect(undone["user"]?.without("validSince") == taken.without("validSince"))
            #expect(try await service.identity("google.com", "o1").localID == "ada")
            #expect(try await service.identity("github.com", "g1").localID == "ada")
            #expect(try await service.signInByPhone(PhoneScene.number).localID == "ada")
            if path == .provider { #expect(try await service.identity("google.com", "taker").localID == "grace") }
            try await service.expectConsistentClaims()
        }
    }

    @Test("an undo leaves what another account has since")
    func leavesTaken() async throws {
        try await MergeScene.run { service in
            let merge = try await mergedBeforeTheProof(service)
            try await prove("new@gmail.com", by: .reset, service).expectOK()
            let again = try await service.identity("google.com", "o1")
            #expect(again["isNewUser"] == true, "\(again)")
            let undone = try await service.undo(merge)
            #expect(undone["leftProviders"] == ["google.com"], "\(undone)")
            #expect(undone["restoredUser"]?.providers == ["github.com", "phone"])
            #expect(try await service.identity("google.com", "o1").localID == again.localID)
            try await service.expectConsistentClaims()
        }
    }

    @Test("what an admin unlinked since does not come back with what was detached")
    func leavesUnlinked() async throws {
        try await MergeScene.run { service in
            let merge = try await mergedBeforeTheProof(service)
            try await update("grace", ["deleteProvider": ["google.com"]], service)
            try await prove("new@gmail.com", by: .reset, service).expectOK()
            let undone = try await service.undo(merge)
            #expect(undone["leftProviders"] == ["google.com"], "\(undone)")
            #expect(undone["restoredUser"]?.providers == ["github.com", "phone"])
            try await service.expectConsistentClaims()
        }
    }

    @Test("a chain of merges: what was detached from its end returns step by step")
    func chain() async throws {
        try await MergeScene.run { service in
            let first = try await mergedBeforeTheProof(service)
            try await update("grace", ["emailVerified": true], service)
            try await service.upload(account("zoe", verified: true))
            let second = try await service.merge("grace", into: "zoe")
            second.expectOK()
            try await update("zoe", ["email": "zoe@gmail.com", "emailVerified": false], service)
            try await prove("zoe@gmail.com", by: .emailLink, service).expectOK()
            let middle = try await service.undo(second)
            // The password is not stored any more; the email that can reset it is Grace's again.
            #expect(middle["leftProviders"] == ["password"], "\(middle)")
            #expect(middle["restoredUser"]?.providers == ["github.com", "google.com", "phone"])
            #expect(middle["restoredUser"]?["email"] == "new@gmail.com")
            let end = try await service.undo(first)
            #expect(end["leftProviders"] == nil && end["restoredUser"]?["localId"] == "ada", "\(end)")
            #expect(try await service.identity("google.com", "o1").localID == "ada")
            #expect(try await service.identity("github.com", "g1").localID == "ada")
            try await service.expectConsistentClaims()
        }
    }

    @Test("S6: an identity that another one of its provider replaced since returns to the merged account")
    func recycled() async throws {
        try await MergeScene.run { service in
            try await service.upload(
                ["localId": "grace", "email": "grace@gmail.com", "emailVerified": true],
                account("ada", verified: true, Self.google)
            )
            let merge = try await service.merge("ada", into: "grace")
            let owner = MergeScene.identity("google.com", "taker", email: "grace@gmail.com")
            let replaced = try await service.signInWithIdP(postBody: owner)
            #expect(replaced.localID == "grace" && replaced["emailRecycled"] == true, "\(replaced)")
            let undone = try await service.undo(merge)
            #expect(undone["leftProviders"] == nil, "\(undone)")
            #expect(try await service.identity("google.com", "o1").localID == "ada")
            #expect(try await service.identity("google.com", "taker").localID == "grace")
            try await service.expectConsistentClaims()
        }
    }
}
