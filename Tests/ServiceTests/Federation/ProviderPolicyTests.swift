import Development
import Domain
import Projects
import StrictJSON
import Testing
import TestKit

@Suite("A project's settings apply to every kind of provider", .database, .testProvider)
struct ProviderPolicyTests {
    typealias Kind = ProviderScene.Kind

    /// A verified account that has Ada's address.
    private func owner(_ scene: ProviderScene) async throws -> String {
        let made = try await scene.service.admin(
            "accounts",
            ["email": JSON(scene.ada.email), "emailVerified": true, "password": "correct horse"]
        )
        return try #require(made.localID, "\(made)")
    }

    @Test("several accounts per email: an address links nothing, and is no account's own", arguments: Kind.allCases)
    func duplicates(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.service.settings.allowDuplicateEmails = true
        try await ProviderScene.run(kind, options) { scene in
            let owner = try await owner(scene)
            let reply = try await scene.signIn()
            reply.expectSignedIn(new: true)
            #expect(reply.localID != owner)
            #expect(reply["email"]?.string == scene.ada.email && reply.claims["email"] == nil)
            try await scene.signIn().expectSignedIn(as: reply.localID)
            let account = try #require(try await scene.service.account(reply.localID))
            #expect(account["email"] == nil && account.providers == [kind.rawValue])
            #expect(try await scene.service.account(owner)?.providers == ["password"])
        }
    }

    @Test(
        "T-C14: `definition.emailTrust` decides whose address counts, also against `strict`",
        arguments: Kind.allCases
    )
    func emailTrust(_ kind: Kind) async throws {
        for trusts in [true, false] {
            var options = ProviderScene.Options()
            options.service.settings.strictEmailTrust = true
            options.definition = ["emailTrust": trusts ? "always" : "never"]
            try await ProviderScene.run(kind, options) { scene in
                let owner = try await owner(scene)
                let reply = try await scene.signIn()
                if trusts {
                    reply.expectSignedIn(as: owner)
                    #expect(
                        try await scene.service.account(owner)?.providers.sorted()
                            == [kind.rawValue, "password"].sorted()
                    )
                } else {
                    #expect(reply["needConfirmation"] == true, "\(reply)")
                    #expect(try await scene.service.account(owner)?.providers == ["password"])
                }
            }
        }
    }

    @Test(
        "T-C17: an address that the provider calls unverified takes no account, even where every address is trusted",
        // Facebook says nothing of its addresses: they are never trusted by default.
        arguments: Kind.allCases.filter { $0 != .facebook },
        [false, true]
    )
    func unverifiedAddress(_ kind: Kind, always: Bool) async throws {
        var options = ProviderScene.Options()
        if always { options.definition = ["emailTrust": "always"] }
        options.personality = { personality in
            let no: JSONObject = ["email_verified": false]
            let (claims, profile) = (personality.claims, personality.profile)
            personality.claims = { claims($0, $1).changed(set: no) }
            personality.profile = { profile($0, $1).changed(set: no) }
        }
        try await ProviderScene.run(kind, options) { scene in
            var managed = scene.ada
            managed.emailVerified = false
            scene.tenant.everyLogin(scene.tenant.addUser(managed))
            let owner = try await owner(scene)
            let reply = try await scene.signIn()
            #expect(reply.localID != owner && reply["emailVerified"] != true, "\(reply)")
            let account = try #require(try await scene.service.account(owner))
            #expect(account.providers == ["password"])
        }
    }

    @Test(
        "`emailTrust: strict` trusts only addresses of the provider's own domains",
        arguments: Kind.allCases
    )
    func strict(_ kind: Kind) async throws {
        var options = ProviderScene.Options()
        options.service.settings.strictEmailTrust = true
        try await ProviderScene.run(kind, options) { scene in
            let owner = try await owner(scene)
            let reply = try await scene.signIn()
            // Apple proves what it hands out.
            let believed = kind.rawValue == "apple.com"
            #expect(reply["needConfirmation"] == (believed ? nil : true), "\(reply)")
            #expect(try await scene.service.account(owner)?.providers.count == (believed ? 2 : 1))
        }
    }
}
