import Development
import Foundation
import Projects
import Secrets
import Storage
import StrictJSON
import TestKit
import Testing
import Text

/// Tokens that are not the workload's, or not any more.
@Suite("Threats to workloads", .database, .testProvider)
struct WorkloadThreatTests {
    @Test("T-D25: only the issuer's own keys sign its tokens, and only for this service")
    func issuerConfusion() async throws {
        try await WorkloadScene.run { scene in
            let attacker = try await TestProvider.tenant(.genericOIDC)
            // Trusted too, for something else.
            var second = scene.workload
            (second.issuer, second.claims) = (attacker.issuer, ["sub": "other"])
            _ = try await scene.service.stores.configuration.create(second)

            let own = try scene.token(of: attacker)
            try await scene.expectRefused(own, because: "workload.claims")
            let claimed = try scene.token(of: attacker, set: ["iss": .string(scene.platform.issuer)])
            try await scene.expectRefused(claimed, because: "idToken.unknownKey")
            let kid = try scene.platform.signingKey().kid
            let other = try TestSigningKey(kid: kid, kind: .rs256, number: 1)
            let named = try scene.token(of: attacker, set: ["iss": .string(scene.platform.issuer)]) {
                $0.key = other
                $0.header = ["jku": .string(attacker.base)]
            }
            try await scene.expectRefused(named, because: "idToken.signature")
            for issuer in [scene.platform.issuer + "/", scene.platform.issuer.uppercased(), "https://ci.example.com"] {
                let token = try scene.token(set: ["iss": .string(issuer)])
                try await scene.expectRefused(token, because: "workload.issuer")
            }
            try await scene.expectRefused(try scene.token(remove: ["iss"]), because: "workload.issuer")
            let audiences: [JSONValue] = [
                "https://other.example.com", ["https://other.example.com"], "https://id.example.com/", [], 1,
                [["https://id.example.com"]],
            ]
            for audience in audiences {
                let token = try scene.token(set: ["aud": audience])
                try await scene.expectRefused(token, because: "workload.audience")
            }
            try await scene.expectRefused(try scene.token(remove: ["aud"]), because: "workload.audience")
            let several = try scene.token(set: ["aud": ["https://other.example.com", "https://id.example.com"]])
            try await scene.exchange(several).expectOK()
        }
    }

    @Test("T-D25: unsigned, symmetric and other kinds of tokens are none")
    func kinds() async throws {
        try await WorkloadScene.run { scene in
            try await scene.expectRefused(
                try scene.token {
                    $0.header = ["alg": "none"]; $0.signature = .empty
                },
                because: "idToken.algorithm"
            )
            try await scene.expectRefused(
                try scene.token {
                    $0.header = ["alg": "HS256"]; $0.signature = .hmac([1, 2, 3])
                },
                because: "idToken.algorithm"
            )
            try await scene.expectRefused(
                try scene.token { $0.header = ["typ": "at+jwt"] },
                because: "idToken.header"
            )
            try await scene.expectRefused(try scene.token(set: ["events": [:]]), because: "workload.malformed")
            try await scene.expectRefused("a.b.c", because: "idToken.unparsable")
            let access = try await scene.accessToken()
            try await scene.expectRefused(access, because: "idToken.unparsable")
        }
    }

    @Test("T-D26: a token is exchanged once, at whatever node and for whatever workload", .database)
    func replay() async throws {
        try await WorkloadScene.runPair { scene, other in
            let token = try scene.token()
            let replies = try await withThrowingTaskGroup(of: Int.self) { group in
                for place in [scene, other, scene, other, scene, other] {
                    group.addTask { try await place.exchange(token, ["audience": .string(place.workload.id)]).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.filter { $0 == 200 }.count == 1, "\(replies)")
            try await scene.expectRefused(token, ["audience": .string(scene.workload.id)], because: "workload.used")
            try await other.expectRefused(token, ["audience": .string(other.workload.id)], because: "workload.used")
        }
        try await WorkloadScene.run { scene in
            let token = try scene.token()
            try await scene.exchange(token).expectOK()
            // Until nobody accepts the token any more, whatever is swept.
            scene.service.clock.advance(by: 300 + 59)
            try await scene.service.sweep()
            try await scene.expectRefused(token, because: "workload.used")
            scene.service.clock.advance(by: 1)
            try await scene.expectRefused(token, because: "workload.times")
        }
    }

    @Test("T-D26: another signature of the same token does not make it another token")
    func malleability() async throws {
        try await WorkloadScene.run { scene in
            let algorithms: JSONObject = ["id_token_signing_alg_values_supported": ["ES256"]]
            scene.platform.addFault(.members(set: algorithms), at: .discovery, call: nil)
            let key = scene.platform.addKey(try TestSigningKey(kid: "curve", kind: .es256))
            scene.platform.sign(with: key.kid)
            let token = try scene.token()
            let twin = try ECDSATwin.of(token)
            #expect(twin != token)
            try await scene.exchange(token).expectOK()
            try await scene.expectRefused(twin, because: "workload.used")
            let fresh = try ECDSATwin.of(try scene.token())
            try await scene.exchange(fresh).expectOK()
        }
    }

    @Test("T-D27: every condition holds, exactly")
    func conditions() async throws {
        try await WorkloadScene.run { scene in
            let others: [JSONObject] = [
                ["sub": "repo:acme/shop:environment:staging"], ["sub": "repo:acme/shop:environment:production2"],
                ["sub": "REPO:acme/shop:environment:production"], ["environment": "staging"],
                ["environment": ["production"]], ["environment": true], ["environment": ["a": "production"]],
            ]
            for claims in others {
                try await scene.expectRefused(try scene.token(set: claims), because: "workload.claims")
            }
            for name in ["sub", "environment"] {
                try await scene.expectRefused(try scene.token(remove: [name]), because: "workload.claims")
            }
        }
        try await WorkloadScene.run({ workload, _ in workload.claims = [:] }) { scene in
            try await scene.expectRefused(try scene.token(), because: "workload.claims")
        }
    }

    @Test("T-D27: a token counts only in its time, which is a day at most")
    func times() async throws {
        try await WorkloadScene.run { scene in
            let now = scene.service.clock.seconds
            let others: [JSONObject] = [
                ["exp": .integer(now - 60)], ["exp": .integer(now + 86_401)], ["exp": "9999999999"],
                ["iat": .integer(now + 61)], ["nbf": .integer(now + 61)], ["nbf": "0"],
            ]
            for claims in others {
                try await scene.expectRefused(try scene.token(set: claims), because: "workload.times")
            }
            for name in ["exp", "iat"] {
                try await scene.expectRefused(try scene.token(remove: [name]), because: "workload.times")
            }
            let late = try scene.token(set: ["iat": .integer(now - 300), "exp": .integer(now - 59)])
            try await scene.exchange(late).expectOK()
            let long = try scene.token(set: ["exp": .integer(now + 86_400)])
            try await scene.exchange(long).expectOK()
        }
    }
}
