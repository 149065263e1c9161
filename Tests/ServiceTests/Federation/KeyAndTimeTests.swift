import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit

@Suite("Keys and times of ID tokens", .database, .testProvider)
struct KeyAndTimeTests {
    // MARK: Keys

    @Test("T-C7: new keys are found by one fetch an interval, and keys that went are trusted no more")
    func rotation() async throws {
        try await ProviderScene.run(.oidc) { scene in
            func signIn() async throws -> Reply {
                try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada))
            }
            let old = try scene.tenant.mintIDToken(for: scene.ada)
            try await signIn().expectOK()
            #expect(scene.tenant.requests(.keys).count == 1)
            // The first unknown key id fetches at once.
            try scene.tenant.rotateKeys(keepOld: true)
            try await signIn().expectOK()
            #expect(scene.tenant.requests(.keys).count == 2)
            #expect(try await scene.signIn(idToken: old).status == 200, "both are published")
            // The next one within the interval has to wait for it.
            try scene.tenant.rotateKeys(keepOld: true)
            try await scene.refuses(Messages.badSignature) { try await signIn() }
            #expect(scene.tenant.requests(.keys).count == 2)
            scene.service.clock.advance(by: 60)
            try await signIn().expectOK()
            #expect(scene.tenant.requests(.keys).count == 3)
            // A key is taken back: once its absence has been seen, its tokens are worth nothing.
            try scene.tenant.rotateKeys(keepOld: false)
            scene.service.clock.advance(by: 60)
            try await signIn().expectOK()
            try await scene.refuses(Messages.badSignature) { try await scene.signIn(idToken: old) }
        }
    }

    @Test("T-C7: a flood of unknown key ids asks for keys once in an interval")
    func keyFlood() async throws {
        try await ProviderScene.run(.oidc) { scene in
            try await scene.signIn().expectOK()
            let before = scene.tenant.requests(.keys).count
            for interval in 1...2 {
                let replies = try await withThrowingTaskGroup(of: Int.self) { group in
                    for index in 0..<100 {
                        let token = try scene.tenant.mintIDToken(
                            for: scene.ada,
                            changes: IDTokenChanges(header: ["kid": .string("flood-\(interval)-\(index)")])
                        )
                        group.addTask { try await scene.signIn(idToken: token).status }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(replies == [400])
                #expect(scene.tenant.requests(.keys).count == before + interval)
                scene.service.clock.advance(by: 60)
            }
        }
    }

    @Test("T-C7: a key that is used before it is published is accepted once it is")
    func lateKey() async throws {
        try await ProviderScene.run(.oidc) { scene in
            try await scene.signIn().expectOK()
            let first = try scene.tenant.signingKey()
            let key = try scene.tenant.rotateKeys(keepOld: true, publish: false)
            let token = try scene.tenant.mintIDToken(for: scene.ada)
            try await scene.refuses(Messages.badSignature) { try await scene.signIn(idToken: token) }
            scene.tenant.publishKeys(only: [first.kid, key.kid])
            scene.service.clock.advance(by: 60)
            try await scene.signIn(idToken: token).expectOK()
        }
    }

    // MARK: Times

    @Test(
        "T-C8: exp and iat are required, with a minute of skew",
        arguments: [
            ("now", "now+1", true), ("now+60", "now+3600", true), ("now-3600", "now-59", true),
            ("now-3600", "now-60", false),
            ("now+61", "now+3600", false), ("now", nil, false), (nil, "now+3600", false), (nil, nil, false),
            ("now", #""now+3600""#, false), (#""now""#, "now+3600", false), ("now", "true", false),
            ("now", "null", false),
            ("now", "-1", false), ("now", "1e300", false), ("now.5", "now+3600.5", true), ("1e300", "1e300", false),
        ] as [(String?, String?, Bool)]
    )
    func times(issued: String?, expires: String?, isGood: Bool) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let now = scene.service.clock.seconds
            func resolve(_ text: String) -> String {
                guard let at = text.firstRange(of: "now") else { return text }
                let rest = text[at.upperBound...]
                let sum = rest.prefix { "+-0123456789".contains($0) }
                return text[..<at.lowerBound] + String(now + (Int64(sum.drop { $0 == "+" }) ?? 0))
                    + rest.dropFirst(sum.count)
            }
            var changes = IDTokenChanges(remove: ["iat", "exp"])
            if let issued { changes.set["iat"] = .raw(resolve(issued)) }
            if let expires { changes.set["exp"] = .raw(resolve(expires)) }
            let token = try scene.tenant.mintIDToken(for: scene.ada, changes: changes.setAfterRemove)
            guard isGood else {
                let reply = try await scene.refuses(nil) { try await scene.signIn(idToken: token) }
                #expect(reply.error?.hasPrefix("INVALID_IDP_RESPONSE : ID Token issued at ") == true, "\(reply)")
                #expect(reply.error?.hasSuffix(" is stale to sign-in.") == true, "\(reply)")
                return
            }
            let reply = try await scene.signIn(idToken: token)
            reply.expectOK()
        }
    }

    @Test("T-C8: a token dies while the clock moves on, in production's words")
    func expiry() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let now = scene.service.clock.seconds
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: [
                    "iat": .integer(now), "exp": .integer(now + 600), "nbf": .integer(now + 500),
                ])
            )
            #expect(try await scene.signIn(idToken: token).status == 200, "nbf is not looked at")
            scene.service.clock.advance(by: 659)
            try await scene.signIn(idToken: token).expectOK()
            scene.service.clock.advance(by: 1)
            try await scene.refuses("INVALID_IDP_RESPONSE : ID Token issued at \(now) is stale to sign-in.") {
                try await scene.signIn(idToken: token)
            }
        }
    }
}
