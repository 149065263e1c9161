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
        OperationCase("signInWithPassword, an imported hash") { world in
            _ = try await world.service.admin("accounts:batchCreate", ImportedHash.md5.upload())
            return { try await world.service.signInWithPassword(ada, ImportedHash.md5.password) }
        },
        OperationCase("signInWithCustomToken, the first one") { world in try await world.customToken(before: 0) },
        OperationCase("signInWithCustomToken, a later one") { world in try await world.customToken(before: 1) },
        OperationCase("signInWithCustomToken, a code of the sign-in page", { $0.signInPage = true }) { world in
            let page = try await OpenedSignInPage(SignInPagePerson(service: world.service))
            let reply = try await page.signIn(ada, signingUp: true)
            let code = reply.text.firstMatch(of: #/signInCode=(page_[A-Za-z0-9_-]+)/#).map { String($0.1) }
            return { try await page.person.redeem(code ?? "", page.person.verifier) }
        },
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
