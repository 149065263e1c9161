import Domain
import Foundation
import Projects
import Secrets
import Sessions
import Testing
import TestKit

@Suite("Tokens that this service issues", .database, .testProvider, .serialized)
struct OwnTokenTests {
    @Test("T-D1: an ID token or refresh token of another project is refused everywhere")
    func refusesAnotherProject() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.service.signUp("ada@example.com")
            try await TestService.run(LinkingWorld.options()) { other in
                // The same account id there, so that only the project tells them apart.
                _ = try await other.admin("accounts", ["localId": JSON(user.localID), "email": "ada@example.com"])
                for endpoint in Self.idTokenEndpoints {
                    try await other.call(endpoint.path, endpoint.body.merging(["idToken": JSON(user.idToken)]))
                        .expectRefused("INVALID_ID_TOKEN")
                }
                #expect(try await other.refresh(user.refreshToken).error == "PROJECT_NUMBER_MISMATCH")
                // With the number rewritten it is nobody's.
                let rewritten = try #require(renumbered(user.refreshToken, "\(other.project.number)"))
                #expect(try await other.refresh(rewritten).error == "INVALID_REFRESH_TOKEN")
                #expect(try await other.account(user.localID)?["displayName"] == nil)
            }
            try await world.service.refresh(user.refreshToken).expectOK()
            try await world.service.lookUp(user.idToken).expectOK()
        }
    }

    /// Two projects with the same account ids and addresses, named apart; the second has more.
    private func withTwoProjects(
        _ body: @Sendable (_ mine: LinkingWorld, _ theirs: LinkingWorld) async throws -> Void
    ) async throws {
        try await LinkingWorld.run { mine in
            try await TestService.run(LinkingWorld.options()) { service in
                let theirs = try await LinkingWorld(service)
                for (world, name, second) in [
                    (mine, "Mine", "grace@example.com"), (theirs, "Theirs", "eve@example.com"),
                ] {
                    _ = try await world.account(
                        [
                            "localId": "ada", "email": "ada@example.com", "emailVerified": true,
                            "password": .string(name + " horse"), "displayName": .string(name),
                            "photoUrl": .string("https://pictures.example.com/" + name),
                        ]
                    )
                    try await world.update("ada", ["linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "R"]])
                    _ = try await world.account(["localId": "second", "email": .string(second)])
                }
                try await theirs.update("ada", ["linkProviderUserInfo": ["providerId": "google.com", "rawId": "G"]])
                try await body(mine, theirs)
            }
        }
    }

    @Test("T-D1: reads in one project never return another's data, with equal account ids and addresses")
    func readsOneProject() async throws {
        try await withTwoProjects { mine, theirs in
            let methods: JSON = ["identifier": "ada@example.com", "continueUri": "http://localhost/"]
            for (world, name) in [(mine, "Mine"), (theirs, "Theirs")] {
                let user = try await world.service.signInWithPassword("ada@example.com", name + " horse")
                user.expectSignedIn(as: "ada")
                #expect(user.claims["name"] == .string(name))
                let federated = try await world.acme(world.person("R", email: nil))
                federated.expectSignedIn(as: "ada")
                #expect(federated.claims["name"] == .string(name))
                #expect(try await world.service.refresh(user.refreshToken).claims["name"] == .string(name))
                let users = try await world.service.lookUp(user.idToken)["users"]
                #expect(users?.array?.count == 1)
                #expect(users?[0]?["displayName"] == .string(name))
                #expect(try await world.service.account("ada")?["displayName"] == .string(name))
                #expect(try await world.service.admin("accounts:batchGet")["users"]?.array?.count == 2)
            }
            for world in [mine, theirs] {
                let user = try await world.acme(world.person("R", email: nil))
                let sessions = try await world.service.call("accounts:listSessions", ["idToken": JSON(user.idToken)])
                #expect(sessions["sessions"]?.array?.count == 3)
            }
            let known = try await mine.service.call("accounts:createAuthUri", methods)
            #expect(known["signinMethods"] == ["password", "oidc.acme"])
            let more = try await theirs.service.call("accounts:createAuthUri", methods)
            #expect(more["signinMethods"] == ["password", "google.com", "oidc.acme"])
            // An identity and an address that only the other project knows are new here.
            try await mine.google(mine.googlePerson("G", email: "g@example.com")).expectSignedIn(new: true)
            try await mine.google(mine.googlePerson("H", email: "eve@example.com")).expectSignedIn(new: true)
        }
    }

    @Test("T-D1: writes in one project change nothing in another, with equal account ids and addresses")
    func writesOneProject() async throws {
        try await withTwoProjects { mine, theirs in
            let stranger = try await theirs.service.signInWithPassword("ada@example.com", "Theirs horse")
            let before = try await theirs.service.account("ada")
            var user = try await mine.service.signInWithPassword("ada@example.com", "Mine horse")
            for name in ["One", "Two", "Three"] {
                let reply = try await mine.service.call(
                    "accounts:update",
                    ["idToken": JSON(user.idToken), "displayName": .string(name)]
                )
                reply.expectOK()
                let account = try await mine.service.account("ada")
                #expect(account?["displayName"] == .string(name))
                #expect(account?["photoUrl"] == "https://pictures.example.com/Mine")
                #expect(account?.providers == ["oidc.acme", "password"])
            }
            user = try await mine.service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another horse"]
            )
            user.expectOK()
            try await theirs.service.refresh(stranger.refreshToken).expectOK()
            let signedOut = try await mine.service.call(
                "accounts:signOut",
                ["idToken": JSON(user.idToken), "scope": "all"]
            )
            signedOut.expectOK()
            try await theirs.service.refresh(stranger.refreshToken).expectOK()
            user = try await mine.service.signInWithPassword("ada@example.com", "another horse")
            let deleted = try await mine.service.call("accounts:delete", ["idToken": JSON(user.idToken)])
            deleted.expectOK()
            #expect(try await mine.service.account("ada") == nil)
            #expect(
                try await theirs.service.account("ada")?.without("lastRefreshAt") == before?.without("lastRefreshAt")
            )
            try await theirs.service.refresh(stranger.refreshToken).expectOK()
            try await theirs.service.signInWithPassword("ada@example.com", "Theirs horse").expectSignedIn(as: "ada")
            try await theirs.acme(theirs.person("R", email: nil)).expectSignedIn(as: "ada")
            try await theirs.google(theirs.googlePerson("G", email: "g@example.com")).expectSignedIn(as: "ada")
        }
    }

    @Test("T-D2: each kind of token works only for its own operations")
    func refusesOtherKinds() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let owner = try await world.account(
                ["email": "ada@example.com", "emailVerified": true, "password": "correct horse"]
            )
            let user = try await service.signInWithPassword("ada@example.com")
            let conflict = try await world.acme(world.person(verified: false))
            let flow = try await service.startFlow(through: "oidc.acme")
            let state = try #require(flow.reply["state"]?.string)
            let foreign: [String: String] = [
                "refresh token": user.refreshToken ?? "", "pending token": conflict.pendingToken ?? "",
                "provider's ID token": conflict["oauthIdToken"]?.string ?? "", "state": state,
                "session id of a flow": flow.sessionID, "API key": service.apiKey, "admin token": service.adminToken,
                "session id": user.claims["firebase"]?["sid"]?.string ?? "", "account id": owner,
            ]
            for (kind, token) in foreign {
                for endpoint in Self.idTokenEndpoints {
                    let reply = try await service.call(
                        endpoint.path,
                        endpoint.body.merging(["idToken": .string(token)])
                    )
                    #expect(reply.error == "INVALID_ID_TOKEN", "\(kind) at \(endpoint.path): \(reply)")
                }
            }
            for (kind, token) in foreign.merging(["ID token": user.idToken ?? ""], uniquingKeysWith: { $1 }) {
                if kind != "refresh token" {
                    #expect(try await service.refresh(token).error == "INVALID_REFRESH_TOKEN", "\(kind)")
                }
                if kind != "pending token" {
                    #expect(try await world.resume(token).error == "INVALID_PENDING_TOKEN", "\(kind)")
                }
                if kind != "state" {
                    let reply = try await service.finishFlow(
                        at: "http://localhost/callback?code=x&state=\(token)",
                        sessionID: flow.sessionID
                    )
                    #expect(reply.code == "INVALID_IDP_RESPONSE", "\(kind): \(reply)")
                }
                if kind != "admin token" {
                    let reply = try await service.send(
                        "POST",
                        "/v1/projects/\(service.project.id)/accounts:lookup",
                        headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                        body: Array(#"{"localId":["\#(owner)"]}"#.utf8)
                    )
                    #expect(reply.status == 401, "\(kind): \(reply)")
                }
            }
            #expect(try await service.account(owner)?.providers == ["password"])
        }
    }

    @Test("T-D4: a token with any character changed, cut or added is refused")
    func refusesBentTokens() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            _ = try await world.account(["email": "eve@example.com", "password": "correct horse"])
            let conflict = try await world.acme(world.person("R", email: "eve@example.com", verified: false))
            let idToken = try #require(user.idToken)
            let refreshToken = try #require(user.refreshToken)
            let pendingToken = try #require(conflict.pendingToken)
            let secret = try #require(RefreshToken(refreshToken)).secretHash
            // A bent proof only proves nothing.
            for bent in Self.bent(refreshToken) where RefreshToken(bent)?.secretHash != secret {
                let reply = try await service.refresh(bent)
                // A changed number is another project's, which is told apart first.
                #expect(
                    ["INVALID_REFRESH_TOKEN", "PROJECT_NUMBER_MISMATCH", "MISSING_REFRESH_TOKEN"]
                        .contains(reply.error),
                    "\(bent): \(reply)"
                )
            }
            for bent in Self.bent(pendingToken) where !bent.isEmpty {
                #expect(try await world.resume(bent).error == "INVALID_PENDING_TOKEN", "\(bent)")
            }
            // Every character of the signature and of the header; the payload by steps.
            for bent in Self.bent(idToken, every: 7) where !bent.isEmpty {
                #expect(try await service.lookUp(bent).error == "INVALID_ID_TOKEN", "\(bent)")
            }
            // NUL is no text at all.
            #expect(try await service.refresh(refreshToken + "\u{0}").status == 400)
            #expect(try await world.resume(pendingToken + "\u{0}").status == 400)
            #expect(try await service.lookUp(idToken + "\u{0}").status == 400)
            try await service.lookUp(idToken).expectOK()
            try await service.refresh(refreshToken).expectOK()
            #expect(try await world.resume(pendingToken)["needConfirmation"] == true)
        }
    }

    private static let idTokenEndpoints: [(path: String, body: JSON)] = [
        ("accounts:lookup", [:]), ("accounts:update", ["displayName": "Eve"]), ("accounts:delete", [:]),
        ("accounts:signOut", [:]), ("accounts:listSessions", [:]),
        ("accounts:signUp", ["email": "new@example.com", "password": "another horse"]),
    ]

    /// A text with characters changed, cut and added, and its parts in other forms.
    private static func bent(_ token: String, every step: Int = 1) -> [String] {
        let characters = Array(token)
        var all: [String] = []
        for index in stride(from: 0, to: characters.count, by: step) {
            var changed = characters
            changed[index] = characters[index] == "A" ? "B" : "A"
            all.append(String(changed))
        }
        for length in [0, 1, characters.count / 2, characters.count - 2, characters.count - 1] {
            all.append(String(characters.prefix(length)))
        }
        // The last character carries unused bits: its neighbours decode to the same bytes.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        if let last = characters.last, let position = alphabet.firstIndex(of: last) {
            for offset in 1...3 { all.append(String(characters.dropLast()) + String(alphabet[position ^ offset])) }
        }
        return all + ["A", "=", ".", " ", "\n"].map { token + $0 } + [" " + token, "." + token]
    }
}

/// A refresh token with another project's number in it.
private func renumbered(_ token: String?, _ number: String) -> String? {
    guard let bytes = token.flatMap({ Base64URL.decode($0) }), let dot = bytes.firstIndex(of: UInt8(ascii: ".")) else {
        return nil
    }
    return Base64URL.encode(Array(number.utf8) + bytes[dot...])
}
