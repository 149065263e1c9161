import Domain
import Projects
import Testing
import TestKit

@Suite("Sessions", .database, .testProvider, .serialized)
struct SessionTests {
    @Test("refresh takes a form and JSON, and answers with all members")
    func refreshes() async throws {
        try await LinkingWorld.run { world in
            let user = try await world.acme(world.person())
            world.service.clock.advance(by: 3000)
            try await world.update(user.localID, ["displayName": "Ada L.", "customAttributes": #"{"role":"captain"}"#])
            let form = try await world.service.refresh(user.refreshToken)
            let json = try await world.service.call(
                "token",
                ["grantType": "refresh_token", "refreshToken": JSON(user.refreshToken)]
            )
            for reply in [form, json] {
                reply.expectOK()
                let members = Set(reply.json.object?.keys.map { $0 } ?? [])
                #expect(
                    members == [
                        "access_token", "id_token", "expires_in", "token_type", "refresh_token", "user_id",
                        "project_id",
                    ]
                )
                #expect(reply["access_token"] == reply["id_token"])
                #expect(reply["expires_in"] == "3600")
                #expect(reply["token_type"] == "Bearer")
                #expect(reply.refreshToken == user.refreshToken)
                #expect(reply["user_id"] == user["localId"])
                #expect(reply["project_id"]?.string == "\(world.service.project.number)")
                // The sign-in stays what it was, the account is read anew.
                #expect(reply.claims["auth_time"] == user.claims["auth_time"])
                #expect(reply.claims["iat"]?.number == Double(world.service.clock.seconds))
                #expect(reply.claims["exp"]?.number == Double(world.service.clock.seconds + 3600))
                #expect(reply.claims["firebase"]?["sign_in_provider"] == "oidc.acme")
                #expect(reply.claims["firebase"]?["sid"] == user.claims["firebase"]?["sid"])
                #expect(reply.claims["name"] == "Ada L.")
                #expect(reply.claims["role"] == "captain")
                try await world.service.lookUp(reply.idToken).expectOK()
            }
            let account = try await world.service.account(user.localID)
            #expect(account?["lastLoginAt"]?.string == "\(world.service.clock.seconds - 3000)000")
        }
    }

    @Test("refresh refuses in the documented order")
    func refusesRefreshes() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            func refused(_ body: JSON) async throws -> Reply { try await service.call("token", body) }
            func token(_ text: String?) -> JSON { ["grantType": "refresh_token", "refreshToken": JSON(text)] }
            #expect(try await refused([:]).error == "MISSING_GRANT_TYPE")
            #expect(try await refused(["grantType": ""]).error == "MISSING_GRANT_TYPE")
            #expect(try await refused(["grantType": "password"]).error == "INVALID_GRANT_TYPE")
            #expect(try await refused(["grantType": "authorization_code", "code": "x"]).error == "INVALID_GRANT_TYPE")
            #expect(try await refused(["grantType": "refresh_token"]).error == "MISSING_REFRESH_TOKEN")
            #expect(try await refused(token("")).error == "MISSING_REFRESH_TOKEN")
            let user = try await service.signUp("ada@example.com")
            #expect(try await refused(token("nonsense")).error == "INVALID_REFRESH_TOKEN")
            #expect(try await refused(token(user.idToken)).error == "INVALID_REFRESH_TOKEN")
            let reply = try await refused(token("nonsense"))
            #expect(
                reply.json == [
                    "error": ["code": 400, "message": "INVALID_REFRESH_TOKEN", "status": "INVALID_ARGUMENT"]
                ]
            )
            // Revoked and disabled: disabled. Revoked, disabled and gone: gone.
            _ = try await service.admin("accounts:signOut", ["localId": JSON(user.localID)])
            #expect(try await refused(token(user.refreshToken)).error == "TOKEN_EXPIRED")
            try await world.update(user.localID, ["disableUser": true])
            #expect(try await refused(token(user.refreshToken)).error == "USER_DISABLED")
            _ = try await service.admin("accounts:delete", ["localId": JSON(user.localID)])
            #expect(try await refused(token(user.refreshToken)).error == "USER_NOT_FOUND")
        }
    }

    @Test("after a password change its own answer goes on, every other session is over")
    func changesThePassword() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            let elsewhere = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 60)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "password": "another horse", "returnSecureToken": true]
            )
            changed.expectOK()
            #expect(changed["expiresIn"] == "3600")
            #expect(changed["newEmail"] == nil)
            #expect(changed.claims["auth_time"]?.number == Double(service.clock.seconds))
            #expect(changed.claims["firebase"]?["sign_in_provider"] == "password")
            let account = try await service.account(user.localID)
            #expect(account?["validSince"]?.string == "\(service.clock.seconds)")
            #expect(account?["passwordUpdatedAt"]?.number == Double(service.clock.seconds * 1000))
            try await service.refresh(changed.refreshToken).expectOK()
            try await service.lookUp(changed.idToken).expectOK()
            for old in [user, elsewhere] {
                try await service.lookUp(old.idToken).expectRefused("TOKEN_EXPIRED")
                #expect(try await service.refresh(old.refreshToken).error == "TOKEN_EXPIRED")
            }
            try await service.signInWithPassword("ada@example.com").expectRefused("INVALID_PASSWORD")
            try await service.signInWithPassword("ada@example.com", "another horse").expectSignedIn(as: user.localID)
        }
    }

    @Test("after an email change the new address is unverified, the first one is remembered, the old one is free")
    func changesTheEmail() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let id = try await world.account(
                ["email": "ada@example.com", "emailVerified": true, "password": "correct horse"]
            )
            let user = try await service.signInWithPassword("ada@example.com")
            let elsewhere = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 60)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "Lovelace@example.com", "returnSecureToken": true]
            )
            #expect(changed["newEmail"] == "lovelace@example.com", "\(changed)")
            #expect(changed["email"] == "lovelace@example.com")
            #expect(changed["emailVerified"] == false)
            #expect(changed.claims["email"] == "lovelace@example.com")
            #expect(changed.claims["email_verified"] == false)
            let account = try await service.account(id)
            #expect(account?["initialEmail"] == "ada@example.com")
            // The session is as old as it was, and so are its tokens of before; the sessions that ended did so by themselves.
            #expect(changed.claims["auth_time"] == user.claims["auth_time"])
            #expect(account?["validSince"]?.string == user.claims["auth_time"]?.text)
            try await service.refresh(changed.refreshToken).expectOK()
            #expect(try await service.refresh(elsewhere.refreshToken).error == "TOKEN_EXPIRED")
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            try await service.lookUp(elsewhere.idToken).expectRefused("TOKEN_EXPIRED")
            let other = try await service.signUp("ada@example.com")
            other.expectOK()
            let taken = try await service.call(
                "accounts:update",
                ["idToken": JSON(changed.idToken), "email": "ada@example.com"]
            )
            taken.expectRefused("EMAIL_EXISTS")
            #expect(try await service.account(id)?["email"] == "lovelace@example.com")
        }
        try await LinkingWorld.run({ $0.emailEnumerationProtection = true }) { world in
            let user = try await world.service.signUp("ada@example.com")
            try await world.service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "email": "lovelace@example.com"]
            )
            .expectRefused("OPERATION_NOT_ALLOWED : Please verify the new email before changing email.")
        }
    }

    @Test("T-D3: a change of the profile moves no session: an ID token alone gets no refresh token")
    func changesTheProfile() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            service.clock.advance(by: 1000)
            let changed = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "displayName": "Ada", "photoUrl": "", "returnSecureToken": true]
            )
            #expect(changed["displayName"] == "Ada")
            #expect(changed["photoUrl"] == "")
            #expect(changed.idToken == nil)
            #expect(changed["refreshToken"] == nil)
            try await service.refresh(user.refreshToken).expectOK()
            let cleared = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "deleteAttribute": ["DISPLAY_NAME", 4]]
            )
            #expect(cleared["displayName"] == nil)
            #expect(cleared["photoUrl"] == nil)
            #expect(cleared.idToken == nil)
        }
    }

    @Test("a renewed session's old refresh token is good until a minute after the new one was used")
    func renews() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("eve@example.com")
            let linked = try await world.acme(world.person(), idToken: user.idToken)
            linked.expectSignedIn(as: user.localID)
            #expect(linked.refreshToken != user.refreshToken)
            #expect(linked.claims["firebase"]?["sid"] == user.claims["firebase"]?["sid"])
            service.clock.advance(by: 5000)
            try await service.refresh(user.refreshToken).expectOK()
            try await service.refresh(linked.refreshToken).expectOK()
            service.clock.advance(by: 59)
            try await service.refresh(user.refreshToken).expectOK()
            try await service.refresh(linked.refreshToken).expectOK()
            service.clock.advance(by: 2)
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            try await service.refresh(linked.refreshToken).expectOK()
        }
    }

    @Test("R-43: sessions are listed, and signed out one by one, all but this, and all")
    func signsOut() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            _ = try await service.signUp("ada@example.com")
            var sessions: [Reply] = []
            for number in 0..<5 {
                service.clock.advance(by: 10)
                sessions.append(
                    try await service.call(
                        "accounts:signInWithPassword",
                        ["email": "ada@example.com", "password": "correct horse"],
                        headers: [("User-Agent", "device \(number)")]
                    )
                )
            }
            func list(_ session: Reply) async throws -> [JSON] {
                let reply = try await service.call("accounts:listSessions", ["idToken": JSON(session.idToken)])
                return try #require(reply["sessions"]?.array, "\(reply)")
            }
            func signOut(_ session: Reply, _ more: JSON) async throws -> Reply {
                try await service.call(
                    "accounts:signOut",
                    more.merging(["idToken": JSON(session.idToken)])
                )
            }
            let all = try await list(sessions[1])
            #expect(all.count == 6)
            #expect(all.map { $0["userAgent"]?.string }.prefix(5) == (0..<5).reversed().map { "device \($0)" }[...])
            #expect(all.filter { $0["current"] == true }.map { $0["userAgent"] } == ["device 1"])
            let first = try #require(all.first)
            #expect(first["signInProvider"] == "password")
            #expect(first["createdAt"]?.string == "\(service.clock.seconds)000")
            #expect(first["lastUsedAt"]?.string == "\(service.clock.seconds)000")
            #expect(first["sessionId"] == sessions[4].claims["firebase"]?["sid"])
            #expect(first["addressPrefix"]?.string?.isEmpty == false)

            // One of them by its id.
            let third = sessions[3].claims["firebase"]?["sid"] ?? .null
            #expect(try await signOut(sessions[4], ["scope": "session", "sessionId": third]).json == [:])
            #expect(try await service.refresh(sessions[3].refreshToken).error == "TOKEN_EXPIRED")
            try await service.lookUp(sessions[3].idToken).expectRefused("TOKEN_EXPIRED")
            #expect(try await signOut(sessions[1], ["scope": "session", "sessionId": third]).status == 400)
            #expect(try await signOut(sessions[1], ["scope": "session"]).status == 400)
            #expect(try await list(sessions[1]).count == 5)
            // This one.
            _ = try await signOut(sessions[1], [:])
            try await service.lookUp(sessions[1].idToken).expectRefused("TOKEN_EXPIRED")
            try await signOut(sessions[1], [:]).expectRefused("TOKEN_EXPIRED")
            // All but this, which is the newest.
            _ = try await signOut(sessions[4], ["scope": "others"])
            #expect(try await list(sessions[4]).count == 1)
            #expect(try await service.refresh(sessions[2].refreshToken).error == "TOKEN_EXPIRED")
            try await service.refresh(sessions[4].refreshToken).expectOK()
            // All.
            let last = try await service.signInWithPassword("ada@example.com")
            _ = try await signOut(last, ["scope": "all"])
            for session in [last, sessions[4]] {
                #expect(try await service.refresh(session.refreshToken).error == "TOKEN_EXPIRED")
                try await service.lookUp(session.idToken).expectRefused("TOKEN_EXPIRED")
            }
        }
    }

    @Test("another account's session cannot be ended")
    func endsOnlyItsOwn() async throws {
        try await LinkingWorld.run { world in
            let ada = try await world.service.signUp("ada@example.com")
            let eve = try await world.service.signUp("eve@example.com")
            let reply = try await world.service.call(
                "accounts:signOut",
                ["idToken": JSON(eve.idToken), "sessionId": ada.claims["firebase"]?["sid"] ?? .null]
            )
            #expect(reply.status == 400)
            try await world.service.refresh(ada.refreshToken).expectOK()
        }
    }

    @Test("validSince ends every other session, whatever its value, and gives this one a new refresh token")
    func revokesByValidSince() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            let elsewhere = try await service.signInWithPassword("ada@example.com")
            service.clock.advance(by: 60)
            let revoked = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), "validSince": "1"]
            )
            revoked.expectOK()
            #expect(try await service.account(user.localID)?["validSince"]?.string == user.claims["auth_time"]?.text)
            #expect(revoked.claims["auth_time"] == user.claims["auth_time"])
            try await service.lookUp(revoked.idToken).expectOK()
            try await service.refresh(revoked.refreshToken).expectOK()
            try await service.lookUp(elsewhere.idToken).expectRefused("TOKEN_EXPIRED")
            for old in [user, elsewhere] {
                #expect(try await service.refresh(old.refreshToken).error == "TOKEN_EXPIRED")
            }
        }
    }

    @Test("an admin's validSince is kept as given: equal is good, later is over")
    func revokesByAdmin() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let user = try await service.signUp("ada@example.com")
            try await world.update(user.localID, ["validSince": .string("\(service.clock.seconds)")])
            try await service.refresh(user.refreshToken).expectOK()
            try await service.lookUp(user.idToken).expectOK()
            try await world.update(user.localID, ["validSince": .string("\(service.clock.seconds + 1)")])
            #expect(try await service.refresh(user.refreshToken).error == "TOKEN_EXPIRED")
            try await service.lookUp(user.idToken).expectRefused("TOKEN_EXPIRED")
        }
    }
}
