import Foundation
import IdentityClient
import IdentityServer
import IdentityTestKit
import Testing

/// The verifier and the revocation feed against the program.
@Suite struct ServiceTests {
    private let program: IdentityProgram

    init() throws { self.program = try IdentityProgram.shared }

    private func feed() -> RevocationFeed {
        RevocationFeed(url: program.url, projectID: IdentityProgram.projectID, accessToken: { "owner" })
    }

    private func verifier(_ feed: RevocationFeed? = nil) -> TokenVerifier {
        TokenVerifier(url: program.url, projectID: IdentityProgram.projectID, revocations: feed)
    }

    private func user() async throws -> (Auth, User) {
        let auth = try Auth(url: program.url, apiKey: "any", storage: MemorySessionStorage())
        let email = "\(UUID().uuidString.lowercased())@example.com"
        return (auth, try await auth.createUser(withEmail: email, password: "correct horse").user)
    }

    @Test func readsCustomClaims() async throws {
        let (_, user) = try await user()
        try await program.admin(
            "POST",
            "/v1/projects/demo-project/accounts:update",
            #"{"localId":"\#(user.uid)","customAttributes":"{\"role\":\"editor\",\"level\":3}"}"#
        )
        let token = try await verifier().verify(idToken: user.idToken(forcingRefresh: true))
        #expect(token.uid == user.uid)
        #expect(token.email == user.email)
        #expect(token.signInProvider == "password")
        #expect(token.claims["role"] == .string("editor"))
        #expect(token.claims["level"] == .integer(3))
    }

    @Test func verifiesSessionCookies() async throws {
        let (_, user) = try await user()
        let answer = try await program.admin(
            "POST",
            "/v1/projects/demo-project:createSessionCookie",
            #"{"idToken":"\#(try await user.idToken())","validDuration":"600"}"#
        )
        let cookie = try #require(answer["sessionCookie"] as? String)
        #expect(try await verifier().verify(sessionCookie: cookie).uid == user.uid)
        await #expect(throws: TokenError.self) { try await verifier().verify(idToken: cookie) }
    }

    @Test func refusesTokensOfEndedSessions() async throws {
        let feed = feed()
        let verifier = verifier(feed)
        let (auth, ada) = try await user()
        let (_, grace) = try await user()
        let (ended, other) = (try await ada.idToken(), try await grace.idToken())
        try await feed.read()
        _ = try await verifier.verify(idToken: ended)

        try await auth.signOut()
        try await feed.read()
        await #expect(throws: TokenError.revoked) { try await verifier.verify(idToken: ended) }
        #expect(try await verifier.verify(idToken: other).uid == grace.uid)
        #expect(feed.lastRead != nil)
    }

    @Test func refusesTokensOfDisabledAccounts() async throws {
        let feed = feed()
        let verifier = verifier(feed)
        let (_, user) = try await user()
        let token = try await user.idToken()
        try await program.admin(
            "POST",
            "/v1/projects/demo-project/accounts:update",
            #"{"localId":"\#(user.uid)","disableUser":true}"#
        )
        try await feed.read()
        await #expect(throws: TokenError.revoked) { try await verifier.verify(idToken: token) }
    }

    @Test func tellsAccountsOfTenantsApart() async throws {
        let feed = feed()
        let (_, user) = try await user()
        let tenant = try await program.admin(
            "POST",
            "/v2/projects/demo-project/tenants",
            #"{"displayName":"Northwind"}"#
        )
        let name = try #require((tenant["name"] as? String)?.split(separator: "/").last)
        let accounts = "/v1/projects/demo-project/tenants/\(name)/accounts"
        try await program.admin("POST", accounts, #"{"localId":"\#(user.uid)"}"#)
        try await program.admin("POST", accounts + ":update", #"{"localId":"\#(user.uid)","disableUser":true}"#)
        try await feed.read()
        #expect(try await verifier(feed).verify(idToken: user.idToken()).uid == user.uid)
    }
}
