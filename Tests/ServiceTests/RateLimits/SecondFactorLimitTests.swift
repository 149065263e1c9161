import Projects
import Storage
import TestKit
import Testing

@Suite("Limits: second factors and SMS", .database)
struct SecondFactorLimitTests {
    @Test("T-E2: ten codes of an account are tried in an hour, right ones included; a sign-in begins anew")
    func tries() async throws {
        try await LimitScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let pending = try await service.signInWithPassword("ada@example.com")["mfaPendingCredential"]?.string
            service.clock.advance(by: 30)
            let wrong = app.code() == "000000" ? "000001" : "000000"
            for _ in 0..<9 { try await app.signIn(pending, code: wrong).expectRefused("INVALID_CODE") }
            try await app.signIn(pending, code: app.code()).expectOK()
            service.clock.advance(by: 30)
            for _ in 0..<10 { try await app.signIn(pending, code: wrong).expectRefused("INVALID_CODE") }
            try await app.signIn(pending, code: app.code()).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            service.clock.advance(by: 360)
            try await app.signIn(pending, code: app.code()).expectOK()
        }
    }

    @Test("T-E7: whoever adds and removes an app again and again has no more mails sent than an account may")
    func enrollments() async throws {
        try await LimitScene.run({ $0.offerApps() }) { service in
            try await service.limit(["mailsPerAccount": ["count": 5, "seconds": 3_600]])
            var user = try await service.verifiedUser()
            var last: Reply?
            for _ in 0..<6 where last?.status != 400 {
                let started = try AuthenticatorApp.Started(try await service.startEnrollment(user.idToken), service)
                let reply = try await service.finishEnrollment(
                    user.idToken,
                    sessionInfo: started.session,
                    code: started.code()
                )
                last = reply
                guard let app = reply.claims["firebase"]?["second_factor_identifier"]?.string else { continue }
                user = try await service.withdraw(app, reply.idToken)
            }
            try #require(last).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            #expect(try await service.lookUp(user.idToken)["users"]?[0]?["mfaInfo"] == nil)
            let mails = try await service.mails().filter { $0.type == .revertSecondFactor }
            #expect((1...5).contains(mails.count))
        }
    }

    @Test("T-E2: what cannot be a code is no try, and a code is read as users type it")
    func typed() async throws {
        try await LimitScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let pending = try await service.signInWithPassword("ada@example.com")["mfaPendingCredential"]?.string
            service.clock.advance(by: 30)
            for _ in 0..<11 { try await app.signIn(pending, code: "12345").expectRefused("INVALID_CODE") }
            let code = app.code()
            let typed = "\(code.prefix(3)) \(String(code.suffix(3)).inFullWidth)"
            try await app.signIn(pending, code: typed).expectOK()
        }
    }

    @Test("T-E2: whoever has the password uses up no tries where the account proved its second factor")
    func triesAtHome() async throws {
        try await LimitScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            service.clock.advance(by: 30)
            try await app.signIn(service.pending(), code: app.code(), from: "198.18.40.1").expectOK()
            service.clock.advance(by: 30)
            let pending = try await service.pending()
            let wrong = app.code() == "000000" ? "000001" : "000000"
            for number in 0..<11 {
                let reply = try await app.signIn(pending, code: wrong, from: "198.18.41.\(number)")
                reply.expectRefused(number < 10 ? "INVALID_CODE" : "TOO_MANY_ATTEMPTS_TRY_LATER")
            }
            // Elsewhere all networks count together, and at home tries end too.
            try await app.signIn(pending, code: app.code(), from: "198.18.42.1")
                .expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            for _ in 0..<9 {
                try await app.signIn(pending, code: wrong, from: "198.18.40.2").expectRefused("INVALID_CODE")
            }
            try await app.signIn(pending, code: app.code(), from: "198.18.40.3").expectOK()
            for _ in 0..<10 {
                try await app.signIn(pending, code: wrong, from: "198.18.40.2").expectRefused("INVALID_CODE")
            }
            try await app.signIn(pending, code: wrong, from: "198.18.40.2").expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
        }
    }

    @Test("T-E2: a code with a pending sign-in that has ended is no try")
    func triesOfEnded() async throws {
        try await LimitScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            let ended = try await service.pending()
            service.clock.advance(by: 30)
            let body: JSON = ["localId": JSON(user.localID), "validSince": .string("\(service.clock.seconds)")]
            try await service.admin("accounts:update", body).expectOK()
            for _ in 0..<11 {
                try await app.signIn(ended, code: "000000").expectRefused("INVALID_MFA_PENDING_CREDENTIAL")
            }
            try await app.signIn(service.pending(), code: app.code()).expectOK()
        }
    }

    @Test("T-E7: SMS that whoever has the password requests leave those where the account proved its second factor")
    func smsAtHome() async throws {
        try await LimitScene.run({
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersSMS = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        }) { service in
            let user = try await service.verifiedUser()
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service, number: "+12015550138")
            let pending = try await service.pending()
            try await service.finishWithSMS(pending, phone.code(for: pending)).expectOK()
            for number in 0..<6 {
                let reply = try await service.startSecondFactor(pending, phone.enrollment, from: "198.18.43.\(number)")
                #expect(reply.status == (number < 5 ? 200 : 400), "\(reply)")
            }
            service.clock.advance(by: 1)
            try await service.finishWithSMS(pending, phone.code(for: pending)).expectOK()
        }
    }

    @Test("T-E2: codes of SMS count as those of apps do")
    func triesOfSMS() async throws {
        try await LimitScene.run({
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersSMS = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        }) { service in
            let user = try await service.verifiedUser()
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service)
            let pending = try await service.pending()
            for _ in 0..<2 {
                var sent = try await phone.code(for: pending)
                sent.code = sent.wrong
                for _ in 0..<5 { try await service.finishWithSMS(pending, sent).expectRefused("INVALID_CODE") }
            }
            let sent = try await phone.code(for: pending)
            try await service.finishWithSMS(pending, sent).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            service.clock.advance(by: 360)
            try await service.finishWithSMS(pending, sent).expectOK()
        }
    }

    @Test("T-E7: SMS that strangers request for a number leave those of its owner's second factor")
    func strangers() async throws {
        try await LimitScene.run({
            $0.phone.isEnabled = true
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersSMS = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        }) { service in
            let user = try await service.verifiedUser()
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service, number: "+12015550136")
            // The enrollment's SMS was the first of five.
            for number in 1..<6 {
                let body: JSON = ["phoneNumber": .string(phone.number)]
                let reply = try await service.call("accounts:sendVerificationCode", body, from: "198.18.36.1")
                #expect(reply.status == (number < 5 ? 200 : 400), "\(reply)")
            }
            let pending = try await service.pending()
            for _ in 0..<5 { _ = try await phone.code(for: pending) }
            // Its own bucket has an end, too.
            try await service.startSecondFactor(pending, phone.enrollment).expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
        }
    }

    @Test("T-E7: a number gets no more SMS because it is the second factor of several accounts")
    func sharedNumber() async throws {
        try await LimitScene.run({
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersSMS = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        }) { service in
            var factors: [(enrollment: String?, pending: String?)] = []
            for number in 0..<3 {
                let email = "ada\(number)@example.com"
                let user = try await service.verifiedUser(email)
                // An admin's enrollment sends no SMS.
                let phones: JSON = ["enrollments": [["phoneInfo": "+12015550139"]]]
                try await service.admin("accounts:update", ["localId": JSON(user.localID), "mfa": phones])
                let factor = try await service.account(user.localID)?["mfaInfo"]?.array?.first
                factors.append((factor?["mfaEnrollmentId"]?.string, try await service.pending(email)))
            }
            for index in 0..<12 {
                let (enrollment, pending) = factors[index % 3]
                let reply = try await service.startSecondFactor(pending, enrollment, from: "198.18.44.1")
                #expect(reply.status == (index < 10 ? 200 : 400), "\(index): \(reply)")
            }
        }
    }

    @Test("T-E7: strangers' SMS leave a quarter of the project's to second factors")
    func share() async throws {
        try await LimitScene.run({
            $0.phone.isEnabled = true
            $0.secondFactors.isEnabled = true
            $0.secondFactors.offersSMS = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        }) { service in
            try await service.limit(["smsPerProject": ["count": 8, "seconds": 86_400]])
            let user = try await service.verifiedUser()
            // The enrollment's SMS is a stranger's: the number may be anyone's.
            let (phone, _) = try await EnrolledPhone.enroll(user.idToken, service, number: "+12015550137")
            for number in 1..<7 {
                let body: JSON = ["phoneNumber": .string("+1201555020\(number)")]
                let reply = try await service.call("accounts:sendVerificationCode", body, from: "198.18.37.1")
                #expect((reply.error == "QUOTA_EXCEEDED") == (number == 6), "\(reply)")
            }
            let pending = try await service.pending()
            for _ in 0..<2 { _ = try await phone.code(for: pending) }
            try await service.startSecondFactor(pending, phone.enrollment).expectRefused("QUOTA_EXCEEDED")
        }
    }

    @Test("the first factor of an account with a second one uses up no tries of its password")
    func passwordsStayGood() async throws {
        try await LimitScene.run({ $0.offerApps() }) { service in
            let user = try await service.verifiedUser()
            let (app, _) = try await AuthenticatorApp.enroll(user.idToken, service)
            for _ in 0..<25 {
                let reply = try await service.signIn("ada@example.com", "correct horse", from: "198.18.31.1")
                reply.expectChallenge(for: app.enrollment)
            }
        }
    }
}

@Suite("Limits: SMS", .database)
struct SMSLimitTests {
    private func options() throws -> TestService.Options {
        var options = try LimitScene.options()
        options.settings.phone.isEnabled = true
        options.settings.phone.testNumbers = ["+4915550199": "123456"]
        options.settings.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        return options
    }

    private func send(_ service: TestService, _ number: String, from address: String) async throws -> Reply {
        try await service.call("accounts:sendVerificationCode", ["phoneNumber": .string(number)], from: address)
    }

    @Test("T-E7: five SMS to a number in an hour, twenty from a network address, over two nodes")
    func budgets() async throws {
        try await TestService.runPair(options()) { first, second in
            for number in 0..<6 {
                let node = number % 2 == 0 ? first : second
                let reply = try await send(node, "+49 15550100", from: "198.18.32.\(number)")
                if number < 5 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
            for number in 0..<20 {
                let node = number % 2 == 0 ? first : second
                try await send(node, "+49155502\(100 + number)", from: "198.18.33.1").expectOK()
            }
            try await send(first, "+49155502900", from: "198.18.33.1").expectRefused(LimitScene.blocked)
            #expect(try await first.waitingSMS().count == 25, "who is refused gets no SMS")
            // A test number costs nothing.
            try await send(first, "+4915550199", from: "198.18.33.1").expectOK()
        }
    }

    @Test("T-E2: the code of a test number is tried as seldom as a real one, by those who do not know it")
    func testNumbers() async throws {
        let number = "+4915550199"
        try await TestService.run(options()) { service in
            func session() async throws -> Reply { try await send(service, number, from: "198.18.35.1") }
            func signIn(_ sent: Reply, _ code: String) async throws -> Reply {
                let info = JSON(sent["sessionInfo"]?.string)
                return try await service.signInByPhone(["sessionInfo": info, "code": .string(code)])
            }
            // Who knows the code asks for it as often as they like.
            for _ in 0..<12 { #expect(try await signIn(session(), "123456").status == 200) }
            for _ in 0..<5 {
                let sent = try await session()
                for _ in 0..<5 { try await signIn(sent, "654321").expectRefused("INVALID_CODE") }
                try await signIn(sent, "123456").expectRefused("SESSION_EXPIRED")
            }
            try await session().expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
            service.clock.advance(by: 720)
            try await signIn(session(), "123456").expectOK()
        }
    }

    @Test("T-E7: a project's SMS have an end")
    func quota() async throws {
        try await TestService.run(options()) { service in
            try await service.limit(["smsPerProject": ["count": 2, "seconds": 86_400]])
            for number in 0..<3 {
                let reply = try await send(service, "+49155503\(100 + number)", from: "198.18.34.\(number)")
                #expect((reply.error == "QUOTA_EXCEEDED") == (number == 2), "\(reply)")
            }
        }
    }
}
