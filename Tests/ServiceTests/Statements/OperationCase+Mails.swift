import Storage
import TestKit
import Testing

extension OperationCase {
    static let mails: [OperationCase] = [
        OperationCase("signInWithEmailLink, a new account") { world in
            let code = try await world.service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            return { try await world.service.signInWithLink(ada, code) }
        },
        OperationCase("signInWithEmailLink, an account that came so before") { world in
            let first = try await world.service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            _ = try await world.service.signInWithLink(ada, first)
            let code = try await world.service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            return { try await world.service.signInWithLink(ada, code) }
        },
        OperationCase("signInWithEmailLink, a known account") { world in
            _ = try await world.account(["email": .string(ada), "emailVerified": true])
            let code = try await world.service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            return { try await world.service.signInWithLink(ada, code) }
        },
        OperationCase("signInWithEmailLink, linked to the signed-in account") { world in
            let guest = try await world.service.call("accounts:signUp")
            let code = try await world.service.code(.emailSignIn, ["email": .string(ada)], to: ada)
            return { try await world.service.signInWithLink(ada, code, idToken: guest.idToken) }
        },
        OperationCase("sendOobCode, by an address") { world in
            _ = try await world.service.signUp(ada)
            return { try await world.service.sendCode(.passwordReset, ["email": .string(ada)]) }
        },
        OperationCase("sendOobCode, by the signed-in account") { world in
            let user = try await world.service.signUp(ada)
            return { try await world.service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)]) }
        },
        OperationCase("sendOobCode, a change of address") { world in
            let user = try await world.service.signUp(ada)
            let body: JSON = ["idToken": JSON(user.idToken), "newEmail": "ada@example.net"]
            return { try await world.service.sendCode(.verifyAndChangeEmail, body) }
        },
        OperationCase("resetPassword, a look at a code") { world in
            _ = try await world.service.signUp(ada)
            let code = try await world.service.code(.passwordReset, ["email": .string(ada)], to: ada)
            return { try await world.service.inspect(code) }
        },
        OperationCase("resetPassword, of a verified address") { world in
            _ = try await world.account(["email": .string(ada), "emailVerified": true])
            let code = try await world.service.code(.passwordReset, ["email": .string(ada)], to: ada)
            return { try await world.service.reset(code, to: "correct horse") }
        },
        OperationCase("resetPassword, which verifies the address") { world in
            _ = try await world.service.signUp(ada)
            let code = try await world.service.code(.passwordReset, ["email": .string(ada)], to: ada)
            return { try await world.service.reset(code, to: "another horse") }
        },
        OperationCase("update, verified by a code") { world in
            let user = try await world.service.signUp(ada)
            let code = try await world.service.code(.verifyEmail, ["idToken": JSON(user.idToken)], to: ada)
            return { try await world.service.apply(code) }
        },
        OperationCase("showAction, of an account") { world in
            let user = try await world.service.signUp(ada)
            _ = try await world.service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
            let link = ActionLinkItems(try await world.service.mail(.verifyEmail, to: ada))
            return { try await world.service.open(link) }
        },
        OperationCase("carryOutAction, verified by a code") { world in
            let user = try await world.service.signUp(ada)
            _ = try await world.service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
            let link = ActionLinkItems(try await world.service.mail(.verifyEmail, to: ada))
            return { try await world.service.post(link) }
        },
        OperationCase("carryOutAction, of a verified address") { world in
            _ = try await world.account(["email": .string(ada), "emailVerified": true])
            _ = try await world.service.sendCode(.passwordReset, ["email": .string(ada)])
            let link = ActionLinkItems(try await world.service.mail(.passwordReset, to: ada))
            return { try await world.service.post(link, [("newPassword", "correct horse")]) }
        },
        OperationCase("update, another address by a code") { world in
            let code = try await world.changeOfAddress(ada, to: "ada@example.net")
            return { try await world.service.apply(code) }
        },
        OperationCase("update, the first address again by a code") { world in
            let code = try await world.changeOfAddress(ada, to: "ada@example.net")
            _ = try await world.service.apply(code)
            let recovery = try await world.service.mail(.recoverEmail, to: ada).code
            return { try await world.service.apply(recovery) }
        },
    ]
}

extension LinkingWorld {
    fileprivate func changeOfAddress(_ old: String, to new: String) async throws -> String {
        let user = try await service.verifiedUser(old)
        let body: JSON = ["idToken": JSON(user.idToken), "newEmail": .string(new)]
        return try await service.code(.verifyAndChangeEmail, body, to: new)
    }
}
