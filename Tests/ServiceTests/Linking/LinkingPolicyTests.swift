import Development
import Domain
import Postgres
import Projects
import Testing
import TestKit

@Suite("The project's word on linking", .database, .testProvider, .serialized)
struct LinkingPolicyTests {
    @Test(
        "T-A6, T-A12: with `confirm` a proven address links nothing until the person signed in",
        arguments: HeldAccount.all
    )
    func confirm(held: HeldAccount) async throws {
        try await LinkingWorld.run({ $0.linking = .confirm }) { world in
            // What the account holds came to be while everything was linked.
            try await world.set(.auto)
            let owner = try await held.make(world)
            try await world.set(.confirm)
            let before = try await world.service.account(owner)
            let reply = try await world.acme(world.person())
            reply.expectConflict(with: owner, providers: held.providers)
            #expect(try await world.service.account(owner) == before)
            guard let way = held.ways.first, !held.disabled else { return }
            let user = try await way.tryIt(world)
            user.expectSignedIn(as: owner)
            let linked = try await world.resume(reply.pendingToken, idToken: user.idToken)
            linked.expectSignedIn(as: owner)
            #expect(linked["emailRecycled"] == nil)
            try await world.acme(world.person()).expectSignedIn(as: owner)
        }
    }

    @Test("with `never` an address that is taken is refused, and nothing is kept to resume", arguments: HeldAccount.all)
    func never(held: HeldAccount) async throws {
        try await LinkingWorld.run { world in
            let owner = try await held.make(world)
            try await world.set(.never)
            let before = try await world.service.account(owner)
            for verified in [true, false] {
                for more in [[:], ["autoCreate": false]] as [JSON] {
                    let reply = try await world.acme(world.person(verified: verified), more)
                    reply.expectRefused("EMAIL_EXISTS")
                    #expect(reply.pendingToken == nil && reply.localID == nil)
                }
            }
            #expect(try await world.service.account(owner) == before)
            let kept = try await TestDatabase.current.client.query(
                "SELECT true FROM pending_credentials WHERE project = \(world.service.project.id.rawValue)"
            ) { try $0.next(Bool.self) }
            #expect(kept.isEmpty)
            // Who is signed in may link.
            guard let way = held.ways.first, !held.disabled else { return }
            let user = try await way.tryIt(world)
            try await world.acme(world.person(), idToken: user.idToken).expectSignedIn(as: owner)
            try await world.acme(world.person()).expectSignedIn(as: owner)
        }
    }

    @Test("T-A12: an address that the provider gave to another person takes over no account under `confirm`")
    func recycled() async throws {
        try await LinkingWorld.run({ $0.linking = .confirm }) { world in
            let ada = try await world.acme(world.person("ada-of-old"))
            ada.expectSignedIn(new: true)
            let successor = try await world.acme(world.person("successor"))
            successor.expectConflict(with: ada.localID, providers: ["oidc.acme"])
            let stranger = try await world.service.signUp("eve@example.com")
            try await world.resume(successor.pendingToken, idToken: stranger.idToken).expectLinkRefused("EMAIL_EXISTS")
            try await world.acme(world.person("ada-of-old")).expectSignedIn(as: ada.localID)
            #expect(try await world.detached(ada.localID) == [])
        }
    }

    // MARK: What was lost

    @Test("T-A1: the sign-in methods that a takeover removed are recorded for admins, and deleted with the account")
    func recordsATakeOver() async throws {
        try await LinkingWorld.run { world in
            let attacker = try await world.service.signUp("ada@example.com")
            let linkedAt = world.service.clock.seconds
            let eve = world.githubPerson("666", email: "eve@example.com")
            try await world.github(eve, idToken: attacker.idToken).expectSignedIn(as: attacker.localID)
            try await world.update(attacker.localID, ["phoneNumber": "+491701234567"])
            world.service.clock.advance(by: 60)
            #expect(try await world.detached(attacker.localID) == [])
            try await world.acme(world.person()).expectSignedIn(as: attacker.localID)
            let at = JSON.string("\(world.service.clock.seconds)000")
            let by: JSON = ["providerId": "oidc.acme", "rawId": "R"]
            let common: JSON = ["reason": "takeOver", "detachedAt": at, "detachedBy": by]
            let lost = try await world.detached(attacker.localID)
            #expect(
                lost == [
                    common.merging([
                        "providerId": "github.com", "rawId": "666", "email": "eve@example.com",
                        "displayName": "Ada of GitHub", "linkedAt": .string("\(linkedAt)000"),
                    ]),
                    common.merging([
                        "providerId": "password", "rawId": "ada@example.com", "email": "ada@example.com",
                    ]),
                    common.merging(["providerId": "phone", "rawId": "+491701234567"]),
                ]
            )
            let records =
                "SELECT true FROM detached_credentials WHERE project = \(world.service.project.id.rawValue)" as SQL
            #expect(try await TestDatabase.current.client.query(records) { try $0.next(Bool.self) }.count == 3)
            #expect(
                try await world.service.admin("accounts:delete", ["localId": JSON(attacker.localID)]).status == 200
            )
            #expect(try await TestDatabase.current.client.query(records) { try $0.next(Bool.self) }.isEmpty)
        }
    }

    @Test("T-A12: every loss of a recycled address is recorded on the identity")
    func recordsARecycledAddress() async throws {
        try await LinkingWorld.run { world in
            let ada = try await world.acme(world.person("first"))
            try await world.google(world.googlePerson(), idToken: ada.idToken).expectSignedIn(as: ada.localID)
            for subject in ["second", "first", "third"] {
                let reply = try await world.acme(world.person(subject))
                reply.expectSignedIn(as: ada.localID)
                #expect(reply["emailRecycled"] == true)
            }
            let lost = try await world.detached(ada.localID)
            #expect(lost.map { $0["rawId"] } == ["first", "second", "first"])
            #expect(lost.map { $0["detachedBy"]?["rawId"] } == ["third", "first", "second"])
            #expect(lost.allSatisfy { $0["reason"] == "emailRecycled" && $0["providerId"] == "oidc.acme" })
            #expect(try await world.service.account(ada.localID)?.providers == ["google.com", "oidc.acme"])
            for (body, error) in [([:], "MISSING_LOCAL_ID"), (["localId": "nobody"], "USER_NOT_FOUND")]
                as [(JSON, String)]
            {
                try await world.service.admin("accounts:listDetachedCredentials", body).expectRefused(error)
            }
        }
    }

    // MARK: The dry run

    @Test("an explanation says what the sign-in then does, and writes nothing", arguments: HeldAccount.all)
    func explains(held: HeldAccount) async throws {
        try await LinkingWorld.run { world in
            let owner = try await held.make(world)
            let before = try await world.service.account(owner)
            // The one that writes comes last.
            for mode in [LinkingMode.never, .confirm, .auto] {
                for verified in [false, true] {
                    try await world.set(mode)
                    let explanation = try await world.explain(verified: verified)
                    explanation.expectOK()
                    let (row, decision) = Self.expected(held, mode, verified)
                    #expect(explanation["row"]?.string == row)
                    #expect(explanation["decision"]?.string == decision)
                    #expect(explanation["emailProven"] == .bool(verified))
                    #expect(explanation["emailTrust"] == "claim")
                    #expect(explanation["identityOwner"] == nil)
                    #expect(explanation["emailOwner"]?["localId"]?.string == owner)
                    #expect(explanation["emailOwner"]?["emailVerified"] == before?["emailVerified"])
                    #expect(explanation["reason"]?.string?.isEmpty == false)
                    #expect(try await world.service.account(owner) == before)
                    let reply = try await world.acme(world.person(verified: verified))
                    #expect(reply["needConfirmation"] == (decision == "conflict" ? true : nil), "\(reply)")
                    #expect((reply.idToken != nil) == ["link", "takeOver"].contains(decision), "\(reply)")
                    #expect(explanation["errorMessage"]?.string == reply.error)
                    #expect(explanation["verifiedProvider"] == reply["verifiedProvider"])
                    #expect(explanation["localId"]?.string == reply.localID)
                    #expect((explanation["replacedRawId"] != nil) == (reply["emailRecycled"] == true))
                }
            }
            guard !held.disabled else { return }
            let now = try await world.explain()
            #expect(now["row"] == "S1" && now["identityOwner"]?["localId"]?.string == owner, "\(now)")
        }
    }

    private static func expected(
        _ held: HeldAccount,
        _ mode: LinkingMode,
        _ proven: Bool
    ) -> (row: String, decision: String) {
        switch mode {
        case .never: ("S13", "refuse")
        case _ where !proven: ("S9", "conflict")
        case .confirm: ("S12", "conflict")
        case .auto where held.disabled: ("S8", "refuse")
        case .auto where !held.verified: ("S7", "takeOver")
        case .auto: (held.recycled ? "S6" : "S5", "link")
        }
    }

    @Test("an explanation of newcomers, of owners, and of what cannot be explained")
    func explainsOthers() async throws {
        try await LinkingWorld.run { world in
            let new = try await world.explain()
            #expect(new["row"] == "S4" && new["decision"] == "signUp" && new["localId"] == nil, "\(new)")
            #expect(try await world.explain(["autoCreate": false])["row"] == "S10")
            #expect(try await world.explain(["email": nil])["row"] == "S3")
            #expect(try await world.service.admin("accounts:batchGet")["users"] == nil)
            let owner = try await world.acme(world.person())
            #expect(try await world.explain()["decision"] == "signIn")
            try await world.update(owner.localID, ["disableUser": true])
            let disabled = try await world.explain()
            #expect(disabled["row"] == "S2" && disabled["errorMessage"] == "USER_DISABLED", "\(disabled)")
            let bad: [(JSON, String)] = [
                (["providerId": ""], "MISSING_IDENTIFIER : providerId & rawId are both required for provider linking"),
                (["rawId": ""], "MISSING_IDENTIFIER : providerId & rawId are both required for provider linking"),
                (["providerId": "password"], Messages.unsupportedProvider), (["email": "nonsense"], "INVALID_EMAIL"),
                (
                    ["providerId": "oidc.other"],
                    "OPERATION_NOT_ALLOWED : The identity provider configuration is not found."
                ),
            ]
            for (change, error) in bad { try await world.explain(change).expectRefused(error) }
        }
    }
}

extension LinkingWorld {
    fileprivate func set(_ mode: LinkingMode) async throws {
        let reply = try await service.admin(
            "config?updateMask=identity.linking",
            ["identity": ["linking": .string(mode.rawValue)]],
            method: "PATCH",
            version: "v2"
        )
        #expect(reply["identity"]?["linking"]?.string == mode.rawValue, "\(reply)")
    }

    fileprivate func detached(_ localID: String?) async throws -> [JSON] {
        let reply = try await service.admin("accounts:listDetachedCredentials", ["localId": JSON(localID)])
        return try #require(reply["detachedCredentials"]?.array, "\(reply)")
    }

    /// What would become of the person R.
    fileprivate func explain(_ change: JSON = [:], verified: Bool = true) async throws -> Reply {
        let request: JSON = [
            "providerId": "oidc.acme", "rawId": "R", "email": "ada@example.com", "emailVerified": .bool(verified),
        ]
        return try await service.admin("accounts:explainSignIn", request.merging(change))
    }
}
