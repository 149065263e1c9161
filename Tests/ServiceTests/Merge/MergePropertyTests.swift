import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

/// Two accounts that look like anybody's, the same for the same seed.
private struct MadeUpPair {
    let first: MadeUpAccount
    let second: MadeUpAccount

    init(seed: UInt64) {
        var random = SplitMix(seed: seed)
        first = MadeUpAccount("\(seed)a", Int(seed) * 20, &random)
        second = MadeUpAccount("\(seed)b", Int(seed) * 20 + 10, &random)
    }
}

private struct MadeUpAccount: Sendable {
    let id: String
    var email: String?
    var verified = false
    var password: String?
    var emailLink = false
    var phone: String?
    var subjects: [String: String] = [:]
    /// Numbers by their enrolments.
    var factors: [String: String] = [:]
    var members: [String: JSON] = [:]
    var lostBefore = false

    /// - Parameter digits: of phone numbers, with nine after them that are this account's too.
    init(_ id: String, _ digits: Int, _ random: inout SplitMix) {
        self.id = id
        func coin(_ sides: Int = 2) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
        if !coin(4) {
            email = "\(id)@example.com"
            verified = coin()
        }
        if email != nil, coin() { password = "correct horse \(id)" }
        // Whoever signs in by the link of an address that nobody proved takes the account over (T-A7).
        if verified, coin() { emailLink = true }
        if coin() { phone = "+491555\(1_000_000 + digits)" }
        for provider in ["google.com", "github.com", "facebook.com"] where coin() {
            subjects[provider] = "\(provider) \(id)"
        }
        if verified {
            for number in 0..<Int.random(in: 0..<4, using: &random) where coin() {
                let shared = coin(3)
                factors["\(coin(3) ? "same" : id)-\(number)"] =
                    "+491556\(1_000_000 + (shared ? 0 : digits + number + 1))"
            }
        }
        for name in ["displayName", "photoUrl", "screenName", "language", "timeZone", "dateOfBirth"] where coin() {
            members[name] = .string("\(name) of \(id)")
        }
        if coin(3) { members["customAttributes"] = #"{"of":"x"}"# }
        if coin(3) { members["disabled"] = false }
        lostBefore = coin(3)
    }

    var upload: JSON {
        var user = members
        user["localId"] = .string(id)
        user["email"] = JSON(email)
        user["emailVerified"] = .bool(verified)
        user["rawPassword"] = JSON(password)
        user["emailLinkSignin"] = .bool(emailLink)
        user["phoneNumber"] = JSON(phone)
        user["providerUserInfo"] = .array(
            subjects.sorted { $0.key < $1.key }.map { ["providerId": .string($0.key), "rawId": .string($0.value)] }
        )
        user["mfaInfo"] = .array(
            factors.sorted { $0.key < $1.key }
                .map { ["mfaEnrollmentId": .string($0.key), "phoneInfo": .string($0.value)] }
        )
        return .object(user)
    }

    /// Ways in that should open something.
    var methods: [String] {
        var methods = subjects.keys.sorted()
        if phone != nil, factors.isEmpty { methods.append("phone") }
        if password != nil { methods.append("password") }
        if emailLink { methods.append("emailLink") }
        return methods
    }
}

@Suite("Merges of accounts that look like anybody's", .database, .serialized, .timeLimit(.minutes(RaceRounds.minutes)))
struct MergePropertyTests {
    /// Signs in by a method of an account as it was made; a second factor is proved as well.
    ///
    /// - Parameter email: where the address is by now.
    /// - Returns: whose session it is; the code of a refusal.
    private func signIn(
        _ method: String,
        of account: MadeUpAccount,
        email: String?,
        numbers: [String: String],
        _ service: TestService
    ) async throws -> String? {
        let reply: Reply
        switch method {
        case "password": reply = try await service.signInWithPassword(email ?? "", account.password ?? "")
        case "phone": reply = try await service.signInByPhone(account.phone ?? "")
        case "emailLink":
            let sent = try await service.sendCode(.emailSignIn, ["email": JSON(email)])
            guard sent.status == 200 else { return sent.code }
            let code = try await service.mail(.emailSignIn, to: email ?? "").code
            reply = try await service.signInWithLink(email ?? "", code)
        default: reply = try await service.identity(method, account.subjects[method] ?? "")
        }
        guard let pending = reply["mfaPendingCredential"]?.string else {
            return reply.claims["sub"]?.string ?? reply.code
        }
        let enrollment = try #require(reply["mfaInfo"]?[0]?["mfaEnrollmentId"]?.string)
        let started = try await service.startSecondFactor(pending, enrollment)
        let session = try #require(started["phoneResponseInfo"]?["sessionInfo"]?.string, "\(started)")
        let code = try await service.smsCode(to: try #require(numbers[enrollment]))
        let finished = try await service.finishWithSMS(pending, SentCode(session: session, code: code))
        return finished.claims["sub"]?.string ?? finished.code
    }

    @Test("no way in is lost, no value belongs to two accounts, and an undo restores both")
    func mergeAndUndo() async throws {
        try await MergeScene.run { service in
            var (conflicted, endangered) = (0, 0)
            var moved: Set<String> = []
            for seed in 0..<UInt64(RaceRounds.count) {
                let pair = MadeUpPair(seed: seed)
                var (ada, eda) = (pair.first, pair.second)
                try await service.upload(ada.upload, eda.upload)
                for lost in [ada, eda] where lost.lostBefore { try await recordLoss(of: lost.id, service) }
                var before = try await (service.account(ada.id), service.account(eda.id))

                // What is in conflict refuses the merge, which then changes nothing.
                var first = try await service.merge(eda.id, into: ada.id, ["validateOnly": true])
                if first["conflicts"]?[0]?["providerId"] == "email" {
                    endangered += 1
                    let refused = try await service.merge(eda.id, into: ada.id)
                    #expect(refused.error?.hasPrefix("MERGE_CONFLICT : email") == true, "seed \(seed): \(refused)")
                    #expect(try await (service.account(ada.id), service.account(eda.id)) == before, "seed \(seed)")
                    let owner = ada.email == nil ? eda.id : ada.id
                    if ada.email == nil { eda.verified = true } else { ada.verified = true }
                    let proved: JSON = ["localId": .string(owner), "emailVerified": true]
                    #expect(try await service.admin("accounts:update", proved).status == 200, "seed \(seed)")
                    before = try await (service.account(ada.id), service.account(eda.id))
                    first = try await service.merge(eda.id, into: ada.id, ["validateOnly": true])
                }
                let conflicts = first["conflicts"]?.array?.compactMap { $0["providerId"]?.string } ?? []
                if !conflicts.isEmpty {
                    conflicted += 1
                    let refused = try await service.merge(eda.id, into: ada.id)
                    refused.expectRefused("MERGE_CONFLICT : \(conflicts.joined(separator: ", "))")
                    #expect(try await (service.account(ada.id), service.account(eda.id)) == before, "seed \(seed)")
                }
                let shared = Set(ada.subjects.keys).intersection(eda.subjects.keys)
                #expect(shared.isSubset(of: conflicts), "seed \(seed)")
                let preview = try await service.merge(eda.id, into: ada.id, dropping: conflicts, ["validateOnly": true])
                let merge = try await service.merge(eda.id, into: ada.id, dropping: conflicts)
                #expect(merge.status == 200, "seed \(seed): \(merge)")
                #expect(merge.json.without("mergeId", "undoableUntil") == preview.json, "seed \(seed)")
                let user = try #require(merge["user"])
                #expect(try await service.account(eda.id) == user, "seed \(seed)")
                let verified = (ada.email == nil ? eda.verified : ada.verified)
                #expect(user["emailVerified"] == (ada.email ?? eda.email).map { _ in .bool(verified) }, "seed \(seed)")
                try await service.expectConsistentClaims()

                // Every way in of both leads to the one, but for what was given up.
                let named = Set(merge["movedProviders"]?.array?.compactMap(\.string) ?? [])
                moved.formUnion(named)
                let given = Set(merge["droppedProviders"]?.array?.compactMap(\.string) ?? [])
                let own = Set(eda.methods)
                #expect(named.union(given).isSuperset(of: own), "seed \(seed)")
                #expect(given.isSubset(of: conflicts), "seed \(seed)")
                let numbers = ada.factors.merging(eda.factors) { own, _ in own }
                for method in ada.methods {
                    let who = try await signIn(method, of: ada, email: ada.email, numbers: numbers, service)
                    #expect(who == ada.id, "seed \(seed), own \(method)")
                }
                for method in eda.methods {
                    let email = given.contains(method) ? eda.email : user["email"]?.string
                    let who = try await signIn(method, of: eda, email: email, numbers: numbers, service)
                    if given.contains(method) {
                        #expect(who == "USER_DISABLED", "seed \(seed), \(method)")
                    } else {
                        #expect(who == ada.id, "seed \(seed), \(method)")
                    }
                }

                let undone = try await service.undo(merge)
                #expect(undone.status == 200 && undone["leftProviders"] == nil, "seed \(seed): \(undone)")
                try await service.expectConsistentClaims()
                let after = try await (service.account(ada.id), service.account(eda.id))
                #expect(after.0?.lasting == before.0?.lasting, "seed \(seed)")
                #expect(after.1?.lasting == before.1?.lasting, "seed \(seed)")
                for account in [ada, eda] {
                    let losses = try await service.admin(
                        "accounts:listDetachedCredentials",
                        ["localId": .string(account.id)]
                    )
                    #expect(losses["detachedCredentials"]?.array?.count == (account.lostBefore ? 1 : 0), "seed \(seed)")
                    for method in account.methods {
                        let who = try await signIn(
                            method,
                            of: account,
                            email: account.email,
                            numbers: account.factors,
                            service
                        )
                        #expect(who == account.id, "seed \(seed), after: \(method)")
                    }
                }
            }
            // The generator makes what the rules speak of.
            #expect(endangered > 0)
            #expect(conflicted > 5 && conflicted < RaceRounds.count)
            #expect(
                moved.isSuperset(of: ["google.com", "github.com", "facebook.com", "password", "phone", "emailLink"])
            )
        }
    }

    private func recordLoss(of account: String, _ service: TestService) async throws {
        try await service.stores.database.execute(
            """
            INSERT INTO detached_credentials (project, account, version, provider, tenant, subject, reason, by_provider,
                by_subject, detached_at)
            VALUES (\(service.project.id.rawValue), \(account), 1, 'oidc.old', '', 'x', 'takeOver', 'google.com', 'y',
                \(service.clock.current))
            """
        )
    }
}
