import Delivery
import Domain
import Projects
import Storage
import Testing
import TestKit

/// Mails that anybody can have sent to anybody.
@Suite("Limits: mails", .database)
struct MailLimitTests {
    @Test("T-E7: an address gets five emails in an hour, whoever asks and on whichever node")
    func recipient() async throws {
        try await TestService.runPair(LimitScene.options()) { first, second in
            _ = try await first.signUp("once@example.com")
            for number in 0..<12 {
                let reply = try await (number % 2 == 0 ? first : second)
                    .askForReset("once@example.com", from: "198.18.15.\(number)")
                if number < 5 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
            let waiting = try await first.stores.outbox.waiting("mail", in: Scope(project: first.project.id))
            #expect(waiting.count == 5)
            // The newest code that went out is good.
            #expect(try await first.mail(.passwordReset, to: "once@example.com").items["mode"] == "resetPassword")
            first.clock.advance(by: 720)
            try await second.askForReset("once@example.com", from: "198.18.15.1").expectOK()
        }
    }

    @Test("T-E7: mails asked for at the same moment at two nodes share the budget")
    func atOnce() async throws {
        try await TestService.runPair(LimitScene.options()) { first, second in
            _ = try await first.signUp("atonce@example.com")
            let sent = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<30 {
                    tasks.addTask {
                        try await (number % 2 == 0 ? first : second)
                            .askForReset("atonce@example.com", from: "198.18.16.\(number)").status
                    }
                }
                return try await tasks.reduce(into: 0) { $0 += $1 == 200 ? 1 : 0 }
            }
            #expect(sent == 5)
            let waiting = try await first.stores.outbox.waiting("mail", in: Scope(project: first.project.id))
            #expect(waiting.count == 5)
        }
    }

    @Test(
        "T-E1: the email limit does not reveal whether an address has an account",
        arguments: [true, false]
    )
    func tellsNothing(isProtected: Bool) async throws {
        try await LimitScene.run({ $0.emailEnumerationProtection = isProtected }) { service in
            let user = try await service.signUp("known\(isProtected)@example.com")
            _ = try await service.admin("accounts", ["email": "closed\(isProtected)@example.com", "disabled": true])
            // What the account itself asked for is nobody's business.
            let own = try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
            own.expectOK()
            var refusedFrom: Set<Int?> = []
            for name in ["known", "nobody", "closed"] {
                var refused: [Int] = []
                for number in 0..<8 {
                    let reply = try await service.askForReset(
                        "\(name)\(isProtected)@example.com",
                        from: "198.18.17.\(number)"
                    )
                    if reply.code == "TOO_MANY_ATTEMPTS_TRY_LATER" { refused.append(number) }
                }
                #expect(refused == Array(5..<8))
                refusedFrom.insert(refused.first)
            }
            #expect(refusedFrom == [5])
        }
    }

    @Test("T-E7: a signed-in account has ten mails sent in an hour, to whatever addresses")
    func account() async throws {
        try await LimitScene.run { service in
            let user = try await service.signUp("ada@example.com")
            for number in 0..<11 {
                let reply = try await service.call(
                    "accounts:sendOobCode",
                    [
                        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": JSON(user.idToken),
                        "newEmail": "new\(number)@example.com",
                    ],
                    from: "198.18.18.\(number)"
                )
                if number < 10 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
        }
    }

    @Test("T-E7: an address gets no more mails because several accounts ask")
    func recipientOfAccounts() async throws {
        try await LimitScene.run { service in
            for number in 0..<6 {
                let user = try await service.signUp("user\(number)@example.com")
                let reply = try await service.call(
                    "accounts:sendOobCode",
                    [
                        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": JSON(user.idToken),
                        "newEmail": "victim@example.com",
                    ],
                    from: "198.18.19.\(number)"
                )
                if number < 5 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
        }
    }

    @Test("T-E7: an email that nobody verified is told of five changes in an hour, and no sixth takes place")
    func unverified() async throws {
        try await LimitScene.run({ $0.emailEnumerationProtection = false }) { service in
            var token = try await service.signUp("stranger@example.com", from: "198.18.19.1").idToken
            func move(_ number: Int) async throws -> Reply {
                let email = JSON.string("mine-\(number)@example.com")
                return try await service.call(
                    "accounts:update",
                    ["idToken": JSON(token), "email": email],
                    from: "198.18.19.\(number)"
                )
            }
            for number in 1...5 {
                let reply = try await move(number)
                reply.expectOK()
                token = reply.idToken ?? token
            }
            try await move(6).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            let mails = try await service.mails().filter { $0.mail.to == "stranger@example.com" }
            #expect(mails.count <= 5)
            #expect(try await service.lookUp(token)["users"]?[0]?["email"] == "mine-5@example.com")
        }
    }

    @Test("T-E7: one network address has fifty mails sent in an hour")
    func networkAddress() async throws {
        try await LimitScene.run { service in
            for number in 0..<50 {
                let reply = try await service.askForReset("user\(number)@example.com", from: "2001:db8::\(number)")
                reply.expectOK()
            }
            try await service.askForReset("user50@example.com", from: "2001:db8::50")
                .expectRefused(LimitScene.blocked)
            let other = try await service.askForReset("user51@example.com", from: "2001:db8:0:1::1")
            other.expectOK()
        }
    }

    @Test("T-E7: a project's quota of mails ends, and an admin's link is not of it")
    func project() async throws {
        try await LimitScene.run { service in
            try await service.limit(["mailsPerProject": ["count": 3, "seconds": 86_400]])
            _ = try await service.admin("accounts", ["email": "ada@example.com"])
            for number in 0..<3 {
                let reply = try await service.askForReset("ada@example.com", from: "198.18.20.\(number)")
                reply.expectOK()
            }
            // Whoever has the address.
            for address in ["ada@example.com", "nobody@example.com"] {
                try await service.askForReset(address, from: "198.18.20.3").expectRefused("QUOTA_EXCEEDED")
            }
            let link = try await service.admin(
                "accounts:sendOobCode",
                ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true]
            )
            link.expectOK()
        }
    }

    @Test("T-E7: emails of a project's tenants are of the project's quota, however many tenants there are")
    func tenants() async throws {
        try await LimitScene.run({ $0.allowsTenants = true }) { service in
            try await service.limit(["mailsPerProject": ["count": 3, "seconds": 86_400]])
            for number in 0..<4 {
                let tenant = try await service.makeTenant("Tenant", ["enableEmailLinkSignin": true])
                let ask: JSON = [
                    "requestType": "EMAIL_SIGNIN", "email": .string("user\(number)@example.com"),
                    "continueUrl": "http://localhost",
                ]
                let reply = try await service.admin("tenants/\(tenant)/accounts:sendOobCode", ask)
                if number < 3 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("QUOTA_EXCEEDED")
                }
            }
        }
    }

    @Test("T-E7: emails that a project's back end has sent are of the project's quota, whoever gets them")
    func backEnd() async throws {
        try await LimitScene.run { service in
            try await service.limit(["mailsPerProject": ["count": 3, "seconds": 86_400]])
            for number in 0..<4 {
                let ask: JSON = [
                    "requestType": "EMAIL_SIGNIN", "email": .string("user\(number)@example.com"),
                    "continueUrl": "http://localhost",
                ]
                let reply = try await service.admin("accounts:sendOobCode", ask)
                if number < 3 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("QUOTA_EXCEEDED")
                }
            }
        }
    }

    @Test(
        "T-E7: requests about addresses that nobody has use up none of the project's emails",
        arguments: [true, false]
    )
    func unknownAddresses(isProtected: Bool) async throws {
        try await LimitScene.run({ $0.emailEnumerationProtection = isProtected }) { service in
            try await service.limit(["mailsPerProject": ["count": 3, "seconds": 86_400]])
            let user = try await service.signUp("ada\(isProtected)@example.com")
            _ = try await service.signUp("eve\(isProtected)@example.com")
            for number in 0..<5 {
                let reply = try await service.askForReset("user\(number)@example.com", from: "198.18.21.\(number)")
                #expect(reply.status == (isProtected ? 200 : 400) && reply.code != "QUOTA_EXCEEDED", "\(reply)")
                let change = try await service.call(
                    "accounts:sendOobCode",
                    [
                        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": JSON(user.idToken),
                        "newEmail": .string("eve\(isProtected)@example.com"),
                    ],
                    from: "198.18.21.\(number)"
                )
                #expect(change.code != "QUOTA_EXCEEDED", "\(change)")
            }
            for number in 0..<3 {
                let reply = try await service.askForReset("ada\(isProtected)@example.com", from: "198.18.21.9")
                #expect(reply.status == 200, "\(number) \(reply)")
            }
        }
    }

    @Test("T-E7: strangers' sign-in links leave a quarter of the project's emails to others, and resets half of that")
    func share() async throws {
        try await LimitScene.run { service in
            try await service.limit(["mailsPerProject": ["count": 16, "seconds": 86_400]])
            let user = try await service.signUp("share@example.com")
            func link(_ number: Int) async throws -> Reply {
                try await service.call(
                    "accounts:sendOobCode",
                    [
                        "requestType": "EMAIL_SIGNIN", "email": .string("user\(number)@example.com"),
                        "continueUrl": "http://localhost",
                    ],
                    from: "198.18.22.\(number)"
                )
            }
            for number in 0..<12 { #expect(try await link(number).status == 200) }
            try await link(12).expectRefused("QUOTA_EXCEEDED")
            try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)]).expectOK()
            try await service.askForReset("share@example.com", from: "198.18.22.9").expectOK()
            for email in ["share@example.com", "nobody@example.com"] {
                try await service.askForReset(email, from: "198.18.22.9").expectRefused("QUOTA_EXCEEDED")
            }
            try await service.admin("accounts:update", ["localId": JSON(user.localID), "emailVerified": true])
            let change: JSON = ["idToken": JSON(user.idToken), "newEmail": "new@example.com"]
            try await service.sendCode(.verifyAndChangeEmail, change).expectOK()
        }
    }

    @Test(
        "T-E8, T-E34: addresses of one mailbox have a limit together, and leave the one without a tag or dots its own",
        arguments: [false, true]
    )
    func mailbox(isGmail: Bool) async throws {
        let plain = isGmail ? "victim@gmail.com" : "victim@example.com"
        try await LimitScene.run { service in
            for number in 0..<16 {
                let variant = isGmail ? Self.dotted(number + 1) : "Victim+\(number)@example.com"
                let reply = try await service.askForReset(variant, from: "198.18.23.\(number)")
                if number < 15 {
                    #expect(reply.status == 200, "\(number): \(reply)")
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
            for number in 0..<6 {
                let reply = try await service.askForReset(plain, from: "198.18.23.\(100 + number)")
                if number < 5 {
                    #expect(reply.status == 200, "\(number): \(reply)")
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
        }
    }

    /// `victim@gmail.com`, with a dot after each letter whose bit is set.
    private static func dotted(_ bits: Int) -> String {
        var text = ""
        for (index, letter) in "Victim".enumerated() {
            text.append(letter)
            if bits & (1 << index) != 0 { text.append(".") }
        }
        return text + "@gmail.com"
    }

    @Test("T-E34: a project that uses up all that it can of a mailbox keeps no email from it in another")
    func neighbour() async throws {
        let name = "mallory\(UInt32.random(in: 0 ... .max))"
        try await LimitScene.run { neighbour in
            try await LimitScene.run { service in
                for number in 0..<20 {
                    let address = number < 15 ? "\(name)+\(number)@example.com" : "\(name)@example.com"
                    let reply = try await neighbour.askForReset(address, from: "198.18.24.\(number)")
                    #expect(reply.status == 200, "\(number): \(reply)")
                }
                try await neighbour.askForReset("\(name)@example.com", from: "198.18.24.99")
                    .expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                for _ in 0..<5 {
                    let reply = try await service.askForReset("\(name)@example.com", from: "198.18.24.100")
                    reply.expectOK()
                }
            }
        }
    }

    @Test("T-E8: all projects together have a limit for a mailbox, which is wider than that of one")
    func allProjects() async throws {
        let mailbox = "bomb\(UInt32.random(in: 0 ... .max))"
        var sent = 0
        for project in 0..<5 {
            sent += try await LimitScene.run { service in
                var sent = 0
                for number in 0..<20 {
                    let address = number < 15 ? "\(mailbox)+\(number)@example.com" : "\(mailbox)@example.com"
                    let reply = try await service.askForReset(address, from: "198.18.25.\(project * 20 + number)")
                    if reply.status == 200 { sent += 1 }
                }
                return sent
            }
        }
        // The addresses with tags stop at three quarters of 80; the one without has the rest, five from each project.
        #expect(sent == 70)
    }

    @Test("T-E34: changes that other accounts request keep no verification from the address's own account")
    func ownAddress() async throws {
        try await LimitScene.run { service in
            // A number of the project's own is one bucket more: seven for a signed-in account.
            try await service.limit(["mailsPerAddress": ["count": 40]])
            let user = try await service.signUp("grace@example.com")
            for number in 0..<6 {
                let other = try await service.signUp("user\(number)@example.com")
                _ = try await service.call(
                    "accounts:sendOobCode",
                    [
                        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": JSON(other.idToken),
                        "newEmail": "grace@example.com",
                    ],
                    from: "198.18.26.\(number)"
                )
            }
            let reply = try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
            reply.expectOK()
        }
    }

    @Test("T-E34: accounts without a verified email leave an eighth of the project's emails to the others")
    func selfMadeAccounts() async throws {
        try await LimitScene.run { service in
            try await service.limit(["mailsPerProject": ["count": 8, "seconds": 86_400]])
            let verified = try await service.signUp("verified@example.com")
            let update: JSON = ["localId": JSON(verified.localID), "emailVerified": true]
            try await service.admin("accounts:update", update).expectOK()
            var refused: [Int] = []
            for number in 0..<8 {
                let user = try await service.signUp("new\(number)@example.com")
                let reply = try await service.sendCode(.verifyEmail, ["idToken": JSON(user.idToken)])
                if reply.code == "QUOTA_EXCEEDED" { refused.append(number) }
            }
            #expect(refused == [7])
            let reply = try await service.call(
                "accounts:sendOobCode",
                [
                    "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": JSON(verified.idToken),
                    "newEmail": "moved@example.com",
                ],
                from: "198.18.27.1"
            )
            reply.expectOK()
        }
    }
}
