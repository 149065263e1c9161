import Passwords
import Storage
import TestKit
import Testing

/// What a new password costs: a hash, for which a worker is busy.
@Suite("Limits: new passwords", .database)
struct PasswordChangeLimitTests {
    @Test("T-E29: an account sets ten passwords in half an hour, another one its own, and ten by reset codes")
    func changes() async throws {
        try await LimitScene.run { service in
            var user = try await service.signUp("ada@example.com", from: "198.18.41.1")
            let other = try await service.signUp("grace@example.com", from: "198.18.41.2")
            for _ in 0..<10 {
                user = try await change(user.idToken, service)
                user.expectOK()
            }
            let begun = service.passwords.begun
            try await change(user.idToken, service).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            #expect(service.passwords.begun == begun)
            try await change(other.idToken, service).expectOK()
            // A thief who has used them up keeps the owner from no reset.
            for number in 0..<11 {
                let ask: JSON = ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true]
                let code = try await service.admin("accounts:sendOobCode", ask)["oobCode"]
                let reset: JSON = ["oobCode": code ?? nil, "newPassword": "another horse"]
                let reply = try await service.call("accounts:resetPassword", reset)
                if number < 10 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
        }
    }

    @Test("T-E29: for a session that has ended, nothing is hashed")
    func endedSession() async throws {
        try await LimitScene.run { service in
            let user = try await service.signUp("ada@example.com", from: "198.18.41.1")
            _ = try await service.call("accounts:signOut", ["idToken": JSON(user.idToken)])
            let begun = service.passwords.begun
            try await change(user.idToken, service).expectRefused("TOKEN_EXPIRED")
            #expect(service.passwords.begun == begun)
        }
    }

    private func change(_ idToken: String?, _ service: TestService) async throws -> Reply {
        try await service.call(
            "accounts:update",
            ["idToken": JSON(idToken), "password": "correct horse", "returnSecureToken": true]
        )
    }
}
