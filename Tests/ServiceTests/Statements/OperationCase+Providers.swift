import Development
import Domain
import Testing
import TestKit

extension OperationCase {
    static let providers: [OperationCase] = [
        OperationCase("signInWithIdp, a known identity") { world in
            _ = try await world.acme(world.person())
            return { try await world.acme(world.person()) }
        },
        OperationCase("signInWithIdp, a new identity") { world in
            _ = try await world.acme(world.person("other", email: "other@example.com"))
            return { try await world.acme(world.person()) }
        },
        OperationCase("signInWithIdp, a known identity by a code") { world in
            world.acme.everyLogin(world.person())
            _ = try await world.service.signIn(through: LinkingWorld.acmeID)
            let flow = try await world.service.startFlow(through: LinkingWorld.acmeID)
            let visit = try await ScriptedBrowser().open(flow.authURI, until: ["http://localhost/callback"])
            return { try await world.service.finishFlow(at: visit.url, sessionID: flow.sessionID) }
        },
        OperationCase("signInWithIdp, linked by the address") { world in
            _ = try await world.acme(world.person("other", email: "other@example.com"))
            _ = try await world.account(["email": .string(ada), "emailVerified": true])
            return { try await world.acme(world.person()) }
        },
        OperationCase("signInWithIdp, a take-over") { world in
            _ = try await world.acme(world.person("other", email: "other@example.com"))
            _ = try await world.service.signUp(ada)
            return { try await world.acme(world.person()) }
        },
        OperationCase("signInWithIdp, a conflict") { world in
            _ = try await world.acme(world.person("other", email: "other@example.com"))
            _ = try await world.service.signUp(ada)
            return { try await world.acme(world.person(verified: false)) }
        },
        OperationCase("signInWithIdp, a conflict's end") { world in
            let user = try await world.service.signUp(ada)
            let conflict = try await world.acme(world.person(verified: false))
            return { try await world.resume(conflict.pendingToken, idToken: user.idToken) }
        },
        OperationCase("signInWithIdp, linked to the signed-in account") { world in
            _ = try await world.acme(world.person("other", email: "other@example.com"))
            let user = try await world.service.signUp(ada)
            return { try await world.acme(world.person(), idToken: user.idToken) }
        },
        OperationCase("createAuthUri, the beginning of a flow") { world in
            _ = try await world.service.startFlow(through: LinkingWorld.acmeID)
            return { try await world.service.startFlow(through: LinkingWorld.acmeID).reply }
        },
        OperationCase("createAuthUri, an address's methods") { world in
            let body: JSON = ["identifier": .string(ada), "continueUri": "http://localhost"]
            return { try await world.service.call("accounts:createAuthUri", body) }
        },
        OperationCase("providerToken, one that is good") { world in
            let user = try await world.keepingTokens()
            let body: JSON = ["idToken": JSON(user.idToken), "providerId": "oidc.acme"]
            return { try await world.service.call("accounts:providerToken", body) }
        },
        OperationCase("providerToken, one that is renewed") { world in
            let user = try await world.keepingTokens()
            world.service.clock.advance(by: 3590)
            let body: JSON = ["idToken": JSON(user.idToken), "providerId": "oidc.acme"]
            return { try await world.service.call("accounts:providerToken", body) }
        },
        OperationCase("revokeToken") { world in
            let person = world.googlePerson()
            let user = try await world.google(person)
            let token = world.google.mintAccessToken(for: person, client: "client")
            let body: JSON = [
                "providerId": "google.com", "tokenType": "ACCESS_TOKEN", "token": .string(token),
                "idToken": JSON(user.idToken),
            ]
            return { try await world.service.callV2("accounts:revokeToken", body) }
        },
    ]
}

extension LinkingWorld {
    /// Ada signs in through Acme, whose tokens are kept.
    func keepingTokens() async throws -> Reply {
        let kept = try await service.admin(
            "oauthIdpConfigs/oidc.acme?updateMask=definition.keepTokens",
            ["definition": ["keepTokens": true]],
            method: "PATCH",
            version: "v2"
        )
        kept.expectOK()
        acme.everyLogin(person())
        let reply = try await service.signIn(through: Self.acmeID)
        reply.expectOK()
        return reply
    }
}
