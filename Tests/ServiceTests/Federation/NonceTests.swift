import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Tokens used twice", .database, .testProvider)
struct NonceTests {
    @Test("T-C4: a token with a nonce needs the raw one, whose SHA-256 in lower case it carries")
    func rawNonce() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let raw = "raw-nonce-0123456789"
            let hash = SecureHash.sha256Hex(raw)
            func token(_ claim: JSONValue) throws -> String {
                try scene.tenant.mintIDToken(for: scene.ada, changes: IDTokenChanges(set: ["nonce": claim]))
            }
            let good = try token(.string(hash))
            try await scene.refuses(Messages.noNonce) { try await scene.signIn(idToken: good) }
            for wrong in ["", hash, raw + "x", raw.uppercased()] {
                let message = wrong.isEmpty ? Messages.noNonce : Messages.otherNonce
                try await scene.refuses(message) { try await scene.signIn(idToken: good, nonce: wrong) }
            }
            for claim in [.string(raw), .string(hash.uppercased()), "", 1, [.string(hash)], [:]] as [JSONValue] {
                let token = try token(claim)
                try await scene.refuses(Messages.otherNonce) { try await scene.signIn(idToken: token, nonce: raw) }
            }
            let reply = try await scene.signIn(idToken: good, nonce: raw)
            reply.expectOK()
            #expect(reply["nonce"]?.string == raw)
            let plain = try scene.tenant.mintIDToken(for: scene.ada)
            #expect(try await scene.signIn(idToken: plain, nonce: raw).status == 200, "a nonce for a token without one")
        }
    }

    @Test("T-C4: a native token with a nonce is taken once; one without as often as it lives")
    func nonceReplay() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let raw = "raw-nonce-0123456789"
            let token = try scene.tenant.mintIDToken(for: scene.ada, nonce: SecureHash.sha256Hex(raw))
            let first = try await scene.signIn(idToken: token, nonce: raw)
            first.expectOK()
            for nonce in [raw, raw, "another nonce"] {
                try await scene.refuses(Messages.duplicate) { try await scene.signIn(idToken: token, nonce: nonce) }
            }
            try await scene.service.refresh(first.refreshToken).expectOK()
            let plain = try scene.tenant.mintIDToken(for: scene.ada)
            for _ in 0..<2 { #expect(try await scene.signIn(idToken: plain).localID == first.localID) }
        }
    }

    @Test("T-C4: another signature of the same token does not make it another token")
    func malleability() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let algorithms: JSONObject = ["id_token_signing_alg_values_supported": ["ES256"]]
            scene.tenant.addFault(.members(set: algorithms), at: .discovery, call: nil)
            scene.tenant.sign(with: scene.tenant.addKey(try TestSigningKey(kid: "curve", kind: .es256)).kid)
            let raw = "raw-nonce-0123456789"
            func token(_ raw: String) throws -> String {
                try scene.tenant.mintIDToken(for: scene.ada, nonce: SecureHash.sha256Hex(raw))
            }
            let used = try token(raw)
            try await scene.signIn(idToken: used, nonce: raw).expectOK()
            let twin = try ECDSATwin.of(used)
            #expect(twin != used)
            try await scene.refuses(Messages.duplicate) { try await scene.signIn(idToken: twin, nonce: raw) }
            let fresh = try await scene.signIn(idToken: try ECDSATwin.of(try token("another")), nonce: "another")
            #expect(fresh.status == 200, "the signature itself is good: \(fresh)")
        }
    }

    @Test("T-C4: twenty uses at once of one nonce-bearing token over two nodes are one success")
    func parallelNonceReplay() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let raw = "raw-nonce-0123456789"
            let token = try scene.tenant.mintIDToken(for: scene.ada, nonce: SecureHash.sha256Hex(raw))
            let post = FormFields(pairs: [("id_token", token), ("providerId", "oidc.acme"), ("nonce", raw)]).text
            scene.secrets.add(token, raw)
            var options = TestService.Options()
            options.project = scene.service.project
            options.clock = scene.service.clock
            let replies = try await TestService.run(options) { node in
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for index in 0..<20 {
                        let service = index % 2 == 0 ? scene.service : node
                        group.addTask { try await service.signInWithIdP(postBody: post) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(replies.filter { $0.status == 200 }.count == 1)
            #expect(replies.filter { $0.error == Messages.duplicate }.count == 19, "\(replies.map(\.status))")
            let counts = try await TestDatabase.current.client.query(
                """
                SELECT (SELECT count(*) FROM accounts WHERE project = \(scene.service.project.id.rawValue)),
                    (SELECT count(*) FROM sessions WHERE project = \(scene.service.project.id.rawValue)),
                    (SELECT count(*) FROM used_id_tokens WHERE project = \(scene.service.project.id.rawValue))
                """
            ) { [try $0.next(Int64.self), try $0.next(Int64.self), try $0.next(Int64.self)] }
            #expect(counts == [[1, 1, 1]])
        }
    }

    @Test("T-C4: a conflict is resumed with the very token that met it, once")
    func nonceAndConflict() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let owner = try await scene.service.signUp("ada@example.com", "correct horse battery")
            scene.secrets.add("correct horse battery")
            let raw = "raw-nonce-0123456789"
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                nonce: SecureHash.sha256Hex(raw),
                changes: IDTokenChanges(set: ["email_verified": false])
            )
            let conflict = try await scene.signIn(idToken: token, nonce: raw)
            #expect(conflict["needConfirmation"] == true, "\(conflict)")
            let post = FormFields(pairs: [("id_token", token), ("providerId", "oidc.acme"), ("nonce", raw)]).text
            let linked = try await scene.service.signInWithIdP(postBody: post, idToken: owner.idToken)
            linked.expectOK()
            #expect(linked.localID == owner.localID)
            try await scene.refuses(Messages.duplicate) { try await scene.signIn(idToken: token, nonce: raw) }
        }
    }
}
