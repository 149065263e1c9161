import Crypto
import Development
import Domain
import Foundation
import Secrets
import StrictJSON
import Testing
import TestKit
import Text

/// Results that come in the URL's fragment (`code id_token`, `code token`, `code id_token token`), and what may be wrong
/// with their parts.
@Suite("Hybrid answers", .database, .testProvider)
struct HybridThreatTests {
    private static let everything: JSON = ["responseType": "code id_token token"]

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var changes: IDTokenChanges
        /// The whole message; nil for one that quotes values.
        var message: String?

        init(_ name: String, _ changes: IDTokenChanges, _ message: String?) {
            (testDescription, self.changes, self.message) = (name, changes, message)
        }
    }

    private static func hash(_ text: String) -> JSONValue {
        .string(Base64URL.encode(SecureHash.sha256(text).prefix(16)))
    }

    @Test(
        "R-13, T-B9: the ID token beside the code is verified whole, before the code goes anywhere",
        arguments: [
            Change("unsigned", .unsigned(), Messages.badSignature),
            Change("signed by nobody", IDTokenChanges(signature: .bytes([1, 2, 3])), Messages.badSignature),
            Change("unknown key", IDTokenChanges(header: ["kid": "another"]), Messages.badSignature),
            Change("another issuer", IDTokenChanges(set: ["iss": "https://evil.example"]), nil),
            Change("another audience", IDTokenChanges(set: ["aud": ["another-app"]]), nil),
            Change("two audiences", IDTokenChanges(set: ["aud": ["client", "another-app"]]), nil),
            Change("another nonce", IDTokenChanges(set: ["nonce": "another"]), Messages.otherNonce),
            Change("no nonce", IDTokenChanges(remove: ["nonce"]), Messages.otherNonce),
            Change("expired", IDTokenChanges(set: ["exp": 1_700_000_000]), nil),
            Change("issued eleven minutes ago and more", IDTokenChanges(set: ["iat": 1_700_000_000]), nil),
            Change("no subject", IDTokenChanges(remove: ["sub"]), nil),
            Change("no token", .rewritten { _ in "e30.e30" }, Messages.unparsable),
        ]
    )
    func verified(_ change: Change) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            var login = ScriptedLogin(scene.ada)
            login.frontIDToken = change.changes
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive(Self.everything)
            try await scene.refuses(change.message) { try await scene.finish(arrival) }
            try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            #expect(scene.tenant.requests(.token).isEmpty, "the code was sent nowhere")
        }
    }

    @Test(
        "T-B9, T-C9: c_hash and at_hash must be there, and right, beside what they belong to",
        arguments: [
            ("code id_token", Change("no c_hash", IDTokenChanges(remove: ["c_hash"]), "")),
            ("code id_token", Change("another c_hash", IDTokenChanges(set: ["c_hash": hash("another")]), "")),
            ("code id_token", Change("a long c_hash", IDTokenChanges(set: ["c_hash": "AAAA"]), "")),
            ("code id_token token", Change("no c_hash", IDTokenChanges(remove: ["c_hash"]), "")),
            ("code id_token token", Change("no at_hash", IDTokenChanges(remove: ["at_hash"]), "")),
            ("code id_token token", Change("null at_hash", IDTokenChanges(set: ["at_hash": .null]), "")),
            ("code id_token token", Change("another at_hash", IDTokenChanges(set: ["at_hash": hash("another")]), "")),
            ("code id_token token", Change("at_hash as a list", IDTokenChanges(set: ["at_hash": ["a"]]), "")),
        ]
    )
    func hashes(_ responseType: String, _ change: Change) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            var login = ScriptedLogin(scene.ada)
            login.frontIDToken = change.changes
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive(["responseType": .string(responseType)])
            try await scene.refuses(Messages.badHash) { try await scene.finish(arrival) }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("T-C9: a hash by another algorithm's function is another hash")
    func otherFunction() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let arrival = try await scene.arrive(["responseType": "code id_token"])
            let code = try #require(arrival.fields["code"])
            let digest = Array(SHA512.hash(data: Array(code.utf8))).prefix(32)
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                nonce: arrival.request["nonce"],
                changes: IDTokenChanges(set: ["c_hash": .string(Base64URL.encode(digest))])
            )
            try await scene.refuses(Messages.badHash) { try await scene.finish(arrival.with("id_token", token)) }
        }
    }

    @Test("T-B9: parts of another person's answer do not fit, in any combination")
    func swapped() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let grace = scene.addGrace()
            func answers() async throws -> (ada: Arrival, grace: Arrival) {
                let ada = try await scene.arrive(Self.everything)
                scene.tenant.nextLogin(grace)
                return (ada, try await scene.arrive(Self.everything))
            }
            for (part, message) in [
                ("code", Messages.badHash), ("access_token", Messages.badHash), ("id_token", Messages.otherNonce),
            ] {
                let (ada, other) = try await answers()
                let mixed = ada.with(part, other.fields[part])
                try await scene.refuses(message) { try await scene.finish(mixed) }
                let reversed = other.with(part, ada.fields[part])
                try await scene.refuses(message) { try await scene.finish(reversed) }
            }
            #expect(scene.tenant.requests(.token).isEmpty)

            // Made for this very flow, and bound to its code: the token endpoint tells the difference.
            let (ada, _) = try await answers()
            let token = try scene.tenant.mintIDToken(
                for: grace,
                nonce: ada.request["nonce"],
                accessToken: ada.fields["access_token"],
                code: ada.fields["code"]
            )
            scene.secrets.add(token)
            try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(ada.with("id_token", token)) }
            #expect(scene.tenant.requests(.token).count == 1)
            #expect(scene.tenant.requests(.userinfo).isEmpty)
        }
    }

    @Test("T-B9: without an ID token beside it, an access token must be this person's at user info")
    func bareAccessToken() async throws {
        var options = ProviderScene.Options()
        options.definition = ["pkce": "none"]
        try await ProviderScene.run(.yahooJapan, options) { scene in
            let start: JSON = ["responseType": "code token"]
            let foreign = scene.tenant.mintAccessToken(for: scene.addGrace())
            scene.secrets.add(foreign)
            let other = try await scene.arrive(start).with("access_token", foreign)
            try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(other) }
            let unknown = try await scene.arrive(start).with("access_token", "not-a-token-of-anybody")
            try await scene.refuses(Messages.accessTokenRejected) { try await scene.finish(unknown) }
            let good = try await scene.finish(scene.arrive(start))
            good.expectOK()
            // The code is bound by the nonce of the token endpoint's ID token.
            let ada = try await scene.arrive(start)
            scene.tenant.nextLogin(scene.addGrace())
            let grace = try await scene.arrive(start)
            try await scene.refuses(Messages.otherNonce) {
                try await scene.finish(ada.with("code", grace.fields["code"]))
            }
        }
    }

    @Test(
        "R-02, T-B9: without a part that was asked for there is no sign-in",
        arguments: [
            ("code id_token", "id_token"), ("code token", "access_token"), ("code id_token token", "id_token"),
            ("code id_token token", "access_token"),
        ]
    )
    func missing(_ responseType: String, _ part: String) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            for value in [nil, ""] as [String?] {
                let arrival = try await scene.arrive(["responseType": .string(responseType)]).with(part, value)
                try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(arrival) }
            }
            let withoutCode = try await scene.arrive(["responseType": .string(responseType)]).with("code", nil)
            try await scene.refuses("USER_CANCELLED") { try await scene.finish(withoutCode) }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("T-B9: a part that was not asked for counts for nothing", arguments: ["code", "code id_token"])
    func unasked(_ responseType: String) async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let grace = scene.addGrace()
            let access = scene.tenant.mintAccessToken(for: grace)
            scene.secrets.add(access)
            var arrival = try await scene.arrive(["responseType": .string(responseType)])
                .with("access_token", access)
            if responseType == "code" {
                arrival = arrival.with("id_token", try scene.tenant.mintIDToken(for: grace, accessToken: access))
                scene.secrets.add(arrival.fields["id_token"])
            }
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(reply["federatedId"]?.string?.hasSuffix(scene.ada.subject) == true)
            #expect(reply["email"]?.string == scene.ada.email)
            for part in ["access_token", "id_token"] {
                if let value = arrival.fields[part], part == "access_token" || responseType == "code" {
                    #expect(!reply.response.text.contains(value))
                }
            }
            let tokens = scene.tenant.requests(.userinfo).map { $0.header("authorization") }
            #expect(!tokens.contains("Bearer " + access))
        }
    }

    @Test("T-B9: an ID token of the front channel is no direct credential either")
    func notDirect() async throws {
        try await ProviderScene.run(.yahooJapan) { scene in
            let arrival = try await scene.arrive(Self.everything)
            let token = try #require(arrival.fields["id_token"])
            try await scene.refuses(Messages.noNonce) { try await scene.signIn(idToken: token) }
            try await scene.refuses(Messages.otherNonce) {
                try await scene.signIn(idToken: token, nonce: arrival.request["nonce"])
            }
        }
    }
}
