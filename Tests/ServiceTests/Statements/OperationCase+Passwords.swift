import Projects
import Storage
import TestKit

extension OperationCase {
    static let passwords: [OperationCase] = [
        OperationCase("signUp, a guest") { world in { try await world.service.call("accounts:signUp") } },
        OperationCase("signUp, with a password") { world in { try await world.service.signUp(ada) } },
        OperationCase("signUp, a password for the signed-in account") { world in
            let guest = try await world.service.call("accounts:signUp")
            let body: JSON = ["idToken": JSON(guest.idToken), "email": .string(ada), "password": "correct horse"]
            return { try await world.service.call("accounts:signUp", body) }
        },
        OperationCase("signInWithPassword") { world in
            _ = try await world.service.signUp(ada)
            return { try await world.service.signInWithPassword(ada) }
        },
        OperationCase("signInWithPassword, a hash of other parameters") { world in
            _ = try await world.service.signUp(ada)
            _ = try await world.service.admin(
                "config?updateMask=signIn.hashConfig",
                ["signIn": ["hashConfig": ["memoryCost": 12]]],
                method: "PATCH",
                version: "v2"
            )
            return { try await world.service.signInWithPassword(ada) }
        },
        OperationCase("signInWithCustomToken, the first one") { world in try await world.customToken(before: 0) },
        OperationCase("signInWithCustomToken, a later one") { world in try await world.customToken(before: 1) },
    ]
}

extension LinkingWorld {
    /// - Parameter before: how many sign-ins came before this one.
    fileprivate func customToken(before: Int) async throws -> OperationCase.Request {
        let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
        let token = try account.sign(account.payload(uid: "person-1", at: service.clock.seconds))
        let request: OperationCase.Request = {
            try await service.call("accounts:signInWithCustomToken", ["token": .string(token)])
        }
        for _ in 0..<before { _ = try await request() }
        return request
    }
}
