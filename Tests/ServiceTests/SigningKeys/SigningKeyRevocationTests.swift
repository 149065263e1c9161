import Foundation
import Postgres
import Secrets
import Sessions
import Storage
import TestKit
import Testing

/// The drill for a signing key that somebody else may have.
@Suite("Emergency removal of signing keys")
struct SigningKeyRevocationTests {
    private func kid(_ token: String?) throws -> String {
        let part = try #require(token?.split(separator: ".").first)
        let bytes = try #require(Base64URL.decode(part))
        return try JSON(parsing: bytes)["kid"]?.string ?? ""
    }

    @Test(
        "T-D8: every node refuses tokens of a revoked key, also cached ones, and goes on with a new key",
        .database
    )
    func drill() async throws {
        try await TestService.runPair { first, second in
            let user = try await first.signUp("ada@example.com")
            let leaked = try kid(user.idToken)
            // Both remember the token by now.
            for node in [first, second, first, second] { #expect(try await node.lookUp(user.idToken).status == 200) }
            let key = try #require(first.stores.configuration.signingKeys.key(leaked))

            try await first.stores.configuration.revokeSigningKey(leaked)
            try await first.lookUp(user.idToken).expectRefused("INVALID_ID_TOKEN")
            try await second.stores.configuration.refresh()
            try await second.lookUp(user.idToken).expectRefused("INVALID_ID_TOKEN")
            try await second.admin(":createSessionCookie", ["idToken": JSON(user.idToken)])
                .expectRefused("INVALID_ID_TOKEN")
            // Nor does a new one pass that the thief signs.
            first.clock.advance(by: 1)
            let forged = try key.token(of: Array(user.claims.text.utf8))
            for node in [first, second] { try await node.lookUp(forged).expectRefused("INVALID_ID_TOKEN") }

            // Nobody is signed out.
            let renewed = try await second.refresh(user.refreshToken)
            #expect(try kid(renewed.idToken) != leaked)
            for node in [first, second] { #expect(try await node.lookUp(renewed.idToken).status == 200) }
            let back = ResourceServer([second], ResourceServer.idTokens)
            try await back.verify(renewed.idToken ?? "")
            #expect(await !back.kids.contains(leaked))
            let old = try #require(user.idToken)
            await #expect(throws: (any Error).self) { try await back.verify(old) }
            let stored = try await TestDatabase.current.client.query("SELECT kid FROM signing_keys") {
                try $0.next(String.self)
            }
            #expect(!stored.contains(leaked) && stored.count == 3)
            await #expect(throws: ConfigurationError.notFound) {
                try await first.stores.configuration.revokeSigningKey(leaked)
            }
        }
    }

    @Test("T-D8: the next key signs from then on where there is one, and back ends know it already", .database)
    func nextKey() async throws {
        try await TestService.runPair { first, second in
            try await first.stores.configuration.publishNextSigningKeys()
            try await second.stores.configuration.refresh()
            let back = ResourceServer([second], ResourceServer.idTokens)
            let user = try await second.signUp("ada@example.com")
            try await back.verify(user.idToken ?? "")
            try await second.stores.configuration.revokeSigningKey(try kid(user.idToken))
            let renewed = try await second.refresh(user.refreshToken)
            #expect(try kid(renewed.idToken) != kid(user.idToken))
            try await back.verify(renewed.idToken ?? "")
            try await first.lookUp(renewed.idToken).expectOK()
        }
    }

    @Test("T-D8: a revoked key of session cookies is published no more, and another one signs", .database)
    func cookies() async throws {
        try await TestService.runPair { first, second in
            let user = try await first.signUp("ada@example.com")
            func cookie(_ node: TestService) async throws -> String {
                let reply = try await node.admin(":createSessionCookie", ["idToken": JSON(user.idToken)])
                return try #require(reply["sessionCookie"]?.string, "\(reply)")
            }
            let leaked = try await cookie(first)
            try await first.stores.configuration.revokeSigningKey(try kid(leaked))
            try await second.stores.configuration.refresh()
            let back = ResourceServer([second], ResourceServer.cookies)
            await #expect(throws: (any Error).self) { try await back.verify(leaked) }
            for node in [first, second] { try await back.verify(try await cookie(node)) }
            try await first.lookUp(user.idToken).expectOK()
        }
    }
}
