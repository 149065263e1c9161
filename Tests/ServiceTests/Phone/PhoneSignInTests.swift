import Foundation
import Postgres
import Projects
import Secrets
import Storage
import TestKit
import Testing

/// The table of identity-toolkit's section 1.12, row by row.
@Suite("Signing in by phone", .database)
struct PhoneSignInTests {
    private let number = PhoneScene.number

    @Test("no account has the number, no ID token: one account is created, also with concurrent requests")
    func signsUp() async throws {
        try await TestService.runPair(PhoneScene.options()) { first, second in
            let sent = try await first.code(to: number)
            // One code has five tries: five at once is all there is.
            let replies = try await inParallel(5) { index in
                try await (index % 2 == 0 ? first : second).signInByPhone(sent.body())
            }
            let opened = replies.filter { $0.status == 200 }
            #expect(opened.count == 1, "\(replies.map(\.description))")
            for refused in replies where refused.status != 200 { refused.expectRefused("INVALID_SESSION_INFO") }
            let reply = try #require(opened.first)
            #expect(reply["kind"] == nil && reply["isNewUser"] == true && reply["phoneNumber"]?.string == number)
            #expect(reply["expiresIn"] == "3600" && reply["temporaryProof"] == nil)
            #expect(reply.claims["phone_number"]?.string == number)
            #expect(reply.claims["firebase"]?["sign_in_provider"] == "phone")
            #expect(reply.claims["firebase"]?["identities"]?["phone"] == [.string(number)])
            try await first.refresh(reply.refreshToken).expectOK()
            let account = try #require(try await second.account(reply.localID))
            #expect(account["phoneNumber"]?.string == number && account.providers == ["phone"])
        }
    }

    @Test(
        "no account has the number, and the caller wants no new account",
        arguments: [("REAUTH", "USER_NOT_FOUND"), ("UPDATE", "MISSING_ID_TOKEN"), ("LINK", "MISSING_ID_TOKEN")]
    )
    func opensNothing(_ operation: String, _ error: String) async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            try await service.signInByPhone(sent.body(["operation": .string(operation)])).expectRefused(error)
            #expect(try await service.admin("accounts:lookup", ["phoneNumber": [.string(number)]])["users"] == nil)
            // The code is still good for who wants one; enums come as numbers too.
            #expect(try await service.signInByPhone(sent.body(["operation": 1]))["isNewUser"] == true)
        }
    }

    @Test("X has the number, no ID token: signs in as X, once, also with concurrent requests")
    func signsIn() async throws {
        try await TestService.runPair(PhoneScene.options()) { first, second in
            let opened = try await first.signInByPhone(number)
            for round in 0..<10 {
                let sent = try await first.code(to: number)
                let replies = try await inParallel(5) { index in
                    try await (index % 2 == 0 ? first : second).signInByPhone(sent.body())
                }
                #expect(replies.count { $0.status == 200 } == 1, "round \(round)")
                for reply in replies {
                    guard reply.status == 200 else {
                        reply.expectRefused("INVALID_SESSION_INFO")
                        continue
                    }
                    #expect(reply.localID == opened.localID && reply["isNewUser"] == false, "\(reply)")
                    try await second.refresh(reply.refreshToken).expectOK()
                }
            }
            try await first.refresh(opened.refreshToken).expectOK()
            let sessions = try await first.call("accounts:listSessions", ["idToken": JSON(opened.idToken)])
            #expect(sessions["sessions"]?.array?.count == 11)
        }
    }

    @Test("no account has the number, A's ID token: A gets it, a guest becomes permanent, and the session continues")
    func links() async throws {
        try await PhoneScene.run { service in
            let guest = try await service.call("accounts:signUp", [:])
            let linked = try await service.signInByPhone(number, idToken: guest.idToken)
            #expect(linked.localID == guest.localID && linked["isNewUser"] == false, "\(linked)")
            #expect(linked.claims["firebase"]?["sign_in_provider"] == "phone")
            #expect(linked.claims["firebase"]?["sid"] == guest.claims["firebase"]?["sid"])
            let again = try await service.signInByPhone(number)
            #expect(again.localID == guest.localID && again["isNewUser"] == false)

            let ada = try await service.signUp("ada@example.com")
            let both = try await service.signInByPhone(PhoneScene.other, idToken: ada.idToken)
            #expect(both.localID == ada.localID)
            let account = try #require(try await service.account(ada.localID))
            #expect(account.providers == ["phone", "password"] && account["emailVerified"] == false)
            try await service.refresh(ada.refreshToken).expectOK()
            try await service.signInWithPassword("ada@example.com").expectOK()
        }
    }

    @Test(
        "A has a number, A's ID token, another number: signing in again and linking change nothing, updating does",
        arguments: [
            ("REAUTH", "USER_NOT_FOUND"), ("LINK", "PROVIDER_ALREADY_LINKED"), ("UPDATE", nil), ("SIGN_UP_OR_IN", nil),
        ] as [(String, String?)]
    )
    func means(_ operation: String, _ error: String?) async throws {
        try await PhoneScene.run { service in
            let user = try await service.signInByPhone(number)
            let sent = try await service.code(to: PhoneScene.other)
            let body = sent.body(["idToken": JSON(user.idToken), "operation": .string(operation)])
            let reply = try await service.signInByPhone(body)
            #expect(reply.code == error && (reply.status == 200) == (error == nil), "\(reply)")
            let held = try await service.account(user.localID)?["phoneNumber"]?.string
            #expect(held == (error == nil ? PhoneScene.other : number))
            // A refused code is not spent.
            if error != nil { #expect(try await service.signInByPhone(sent.body())["isNewUser"] == true) }
        }
    }

    @Test("what comes beside the proof that is used is its own, or refused")
    func besideTheProof() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            let other = sent.body(["phoneNumber": .string(PhoneScene.other)])
            try await service.signInByPhone(other).expectRefused("UNEXPECTED_PARAMETER : phoneNumber")
            let own = try await service.signInByPhone(sent.body(["phoneNumber": .string(number)]))
            #expect(own["isNewUser"] == true, "\(own)")
            let guest = try await service.call("accounts:signUp", [:])
            let taken = try await service.signInByPhone(number, idToken: guest.idToken)
            let proof: [String: JSON] = [
                "temporaryProof": JSON(taken["temporaryProof"]?.string), "phoneNumber": .string(number),
            ]
            let again = try await service.code(to: number)
            try await service.signInByPhone(again.body(proof)).expectRefused("UNEXPECTED_PARAMETER : sessionInfo")
            #expect(try await service.signInByPhone(.object(proof)).localID == own.localID)
        }
    }

    @Test("A has the number, A's ID token: signs in A")
    func reauthenticates() async throws {
        try await PhoneScene.run { service in
            let user = try await service.signInByPhone(number)
            service.clock.advance(by: 400)
            let old: JSON = ["idToken": JSON(user.idToken)]
            try await service.call("accounts:delete", old).expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let again = try await service.signInByPhone(
                service.code(to: number).body(["idToken": JSON(user.idToken), "operation": "REAUTH"])
            )
            #expect(again.localID == user.localID && again["isNewUser"] == false, "\(again)")
            try await service.call("accounts:delete", ["idToken": JSON(again.idToken)]).expectOK()
            // Without an ID token, which is what web SDKs do.
            let other = try await service.signInByPhone(number)
            #expect(other["isNewUser"] == true && other.localID != user.localID)
        }
    }

    @Test(
        "T-E2: X has the number, A's ID token, by code: a proof for one sign-in to X, and nothing changes; the code is used up",
        .twoNodes
    )
    func takenByCode() async throws {
        try await PhoneScene.run { service in
            let owner = try await service.signInByPhone(number)
            let ada = try await service.signUp("ada@example.com")
            let before = try await service.account(ada.localID)
            let sent = try await service.code(to: number)
            let replies = try await inParallel(5) { _ in
                try await service.signInByPhone(sent.body(["idToken": JSON(ada.idToken), "operation": "LINK"]))
            }
            let proofs = replies.filter { $0.status == 200 }
            #expect(proofs.count == 1)
            let reply = try #require(proofs.first)
            #expect(
                Set((reply.json.object ?? [:]).keys) == ["temporaryProof", "phoneNumber", "temporaryProofExpiresIn"]
            )
            #expect(reply["phoneNumber"]?.string == number && reply["temporaryProofExpiresIn"] == "3600")
            #expect(try await service.account(ada.localID) == before)
            try await service.signInByPhone(sent.body()).expectRefused("INVALID_SESSION_INFO")
            let proof = try #require(reply["temporaryProof"]?.string)
            let uses = try await inParallel(5) { _ in
                try await service.signInByPhone(["phoneNumber": .string(number), "temporaryProof": .string(proof)])
            }
            let signedIn = try #require(uses.first { $0.status == 200 })
            #expect(signedIn.localID == owner.localID && signedIn["isNewUser"] == false, "\(signedIn)")
            #expect(signedIn.claims["firebase"]?["sign_in_provider"] == "phone")
            let refused = uses.filter { $0.status != 200 }
            #expect(refused.count == 4)
            for reply in refused { reply.expectRefused("INVALID_TEMPORARY_PROOF") }
        }
    }

    @Test("X has the number, A's ID token, by proof: refused, and the proof stays good")
    func takenByProof() async throws {
        try await PhoneScene.run { service in
            let owner = try await service.signInByPhone(number)
            let ada = try await service.signUp("ada@example.com")
            let proof = try #require(try await service.signInByPhone(number, idToken: ada.idToken)["temporaryProof"])
            let body: JSON = ["phoneNumber": .string(number), "temporaryProof": proof]
            try await service.signInByPhone(body.merging(["idToken": JSON(ada.idToken)]))
                .expectRefused("PHONE_NUMBER_EXISTS")
            // Once X is gone, the number is A's for the proof.
            _ = try await service.admin("accounts:delete", ["localId": JSON(owner.localID)])
            let linked = try await service.signInByPhone(body.merging(["idToken": JSON(ada.idToken)]))
            #expect(linked.localID == ada.localID && linked["phoneNumber"]?.string == number)
        }
    }

    @Test("a proof is valid for an hour, only unchanged, for its number and in its project")
    func badProofs() async throws {
        try await PhoneScene.run { service in
            _ = try await service.signInByPhone(number)
            let ada = try await service.signUp("ada@example.com")
            let taken = try await service.signInByPhone(number, idToken: ada.idToken)
            let proof = try #require(taken["temporaryProof"]?.string)
            func use(_ proof: String, _ number: String? = PhoneScene.number) async throws -> Reply {
                try await service.signInByPhone(["phoneNumber": JSON(number), "temporaryProof": .string(proof)])
            }
            try await use(proof, nil).expectRefused("MISSING_PHONE_NUMBER")
            try await use(proof, "").expectRefused("MISSING_PHONE_NUMBER")
            for other in [PhoneScene.other, "x"] {
                try await use(proof, other).expectRefused("INVALID_TEMPORARY_PROOF")
            }
            var bytes = try #require(Base64URL.decode(proof))
            bytes[bytes.count - 20] ^= 1
            let odd = [
                Base64URL.encode(bytes), String(proof.dropLast()), proof + "A", "x", "{}", ada.idToken ?? "",
                String(repeating: "A", count: 5_000),
            ]
            for text in odd { try await use(text).expectRefused("INVALID_TEMPORARY_PROOF") }
            try await PhoneScene.run { other in
                try await other.signInByPhone(["phoneNumber": .string(number), "temporaryProof": .string(proof)])
                    .expectRefused("INVALID_TEMPORARY_PROOF")
            }
            let second = try await service.signInByPhone(number, idToken: ada.idToken)["temporaryProof"]?.string
            service.clock.advance(by: 3_599)
            try await use(proof).expectOK()
            service.clock.advance(by: 1)
            try await use(#require(second)).expectRefused("INVALID_TEMPORARY_PROOF")
        }
    }

    @Test("T-E8: spellings of a number are one recipient and one account")
    func spellings() async throws {
        try await TestService.run(
            {
                var options = try LimitScene.options()
                options.settings.phone = PhoneScene.options().settings.phone
                options.settings.delivery = PhoneScene.options().settings.delivery
                return options
            }()
        ) { service in
            let spellings = ["+4915112345678", "+49(0)151 1234-5678", "+49 0151.12345678"]
            for place in 0..<6 {
                let reply = try await service.sendSMS(to: spellings[place % 3])
                if place < 5 {
                    reply.expectOK()
                } else {
                    reply.expectRefused("TOO_MANY_ATTEMPTS_TRY_LATER")
                }
            }
            for impossible in ["+49151123456789012", "+1415555010", "+9991234567"] {
                try await service.sendSMS(to: impossible).expectRefused("INVALID_PHONE_NUMBER : Invalid format.")
            }
            service.clock.advance(by: 3_600)
            let user = try await service.signInByPhone(spellings[0])
            #expect(user["phoneNumber"] == "+4915112345678", "\(user)")
            service.clock.advance(by: 3_600)
            let sent = try await service.sendSMS(to: spellings[1])
            let code = SentCode(
                session: try #require(sent["sessionInfo"]?.string),
                code: try await service.smsCode(to: spellings[0])
            )
            #expect(try await service.signInByPhone(code.body()).localID == user.localID)
            // As an earlier release stored it.
            for table in ["accounts", "account_phones"] as [SQL] {
                try await TestDatabase.current.client.execute(
                    "UPDATE \(sql: table) SET phone_number = '+49015112345678' WHERE account = \(user.localID ?? "")"
                )
            }
            service.clock.advance(by: 3_600)
            #expect(try await service.signInByPhone(spellings[0]).localID == user.localID)
            let found = try await service.admin("accounts:lookup", ["phoneNumber": [.string(spellings[0])]])
            #expect(found["users"]?[0]?["localId"]?.string == user.localID, "\(found)")
        }
    }

    @Test(
        "a number that is stored as its country wrote it before is found, and no other one",
        arguments: [
            ("+525512345678", "+5215512345678", true), ("+2290197000001", "+22997000001", true),
            ("+2250707000001", "+22507000001", true), ("+2250107000001", "+22507000001", false),
            ("+2250722700001", "+22522700001", false), ("+37061234567", "+370861234567", true),
        ]
    )
    func formerPlans(_ number: String, _ stored: String, _ isSame: Bool) async throws {
        try await PhoneScene.run { service in
            let user = try await service.signInByPhone(number)
            user.expectOK()
            for table in ["accounts", "account_phones"] as [SQL] {
                try await TestDatabase.current.client.execute(
                    "UPDATE \(sql: table) SET phone_number = \(stored) WHERE account = \(user.localID ?? "")"
                )
            }
            let again = try await service.signInByPhone(number)
            #expect(again.status == 200 && (again.localID == user.localID) == isSame, "\(again)")
        }
    }

    @Test("missing or invalid fields are refused in order, and affect no account")
    func badInput() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            try await service.signInByPhone([:]).expectRefused("MISSING_SESSION_INFO")
            try await service.signInByPhone(["sessionInfo": "", "code": "1"]).expectRefused("MISSING_SESSION_INFO")
            try await service.signInByPhone(sent.body(["code": ""])).expectRefused("MISSING_CODE")
            try await service.signInByPhone(["sessionInfo": .string(sent.session)]).expectRefused("MISSING_CODE")
            for session in ["x", sent.session + "A", String(sent.session.dropLast()), RandomSource.system.handle()] {
                try await service.signInByPhone(sent.body(["sessionInfo": .string(session)]))
                    .expectRefused("INVALID_SESSION_INFO")
            }
            for code in ["x" + sent.code, sent.code + "0", String(repeating: "1", count: 100_000)] {
                try await service.signInByPhone(sent.body(["code": .string(code)])).expectRefused("INVALID_CODE")
            }
            try await service.signInByPhone(sent.body(["idToken": "x"])).expectRefused("INVALID_ID_TOKEN")
            #expect(try await service.signInByPhone(sent.body(["operation": "NONSENSE"])).status == 400)
            #expect(try await service.admin("accounts:batchGet")["users"] == nil)
            try await service.signInByPhone(sent.body()).expectOK()
        }
    }

    @Test("disabled accounts, closed sign-up, sessions that are over")
    func refusals() async throws {
        try await PhoneScene.run {
            $0.disabledUserSignup = true
        } _: { service in
            let sent = try await service.code(to: number)
            try await service.signInByPhone(sent.body()).expectRefused("ADMIN_ONLY_OPERATION")
            let made = try await service.admin("accounts", ["phoneNumber": "+49 155 50100", "disabled": true])
            try await service.signInByPhone(sent.body()).expectRefused("USER_DISABLED")
            _ = try await service.admin("accounts:update", ["localId": JSON(made.localID), "disableUser": false])
            let user = try await service.signInByPhone(sent.body())
            #expect(user.localID == made.localID)
            service.clock.advance(by: 1)
            _ = try await service.admin("accounts:signOut", ["localId": JSON(made.localID)])
            let other = try await service.code(to: PhoneScene.other)
            try await service.signInByPhone(other.body(["idToken": JSON(user.idToken)])).expectRefused("TOKEN_EXPIRED")
            let again = try await service.code(to: number)
            try await service.signInByPhone(again.body(["idToken": JSON(user.idToken)])).expectRefused("TOKEN_EXPIRED")
        }
    }

    @Test("another number takes the place of the old one, after a recent sign-in; unlinking frees it")
    func changesAndUnlinks() async throws {
        try await PhoneScene.run {
            $0.passwordSignIn = true
        } _: { service in
            let user = try await service.signUp("ada@example.com")
            _ = try await service.signInByPhone(number, idToken: user.idToken)
            service.clock.advance(by: 301)
            let refreshed = try await service.refresh(user.refreshToken)
            // The link was a sign-in of its own: its time counts, and has passed too.
            try await service.signInByPhone(PhoneScene.other, idToken: refreshed.idToken)
                .expectRefused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
            let recent = try await service.signInWithPassword("ada@example.com")
            let moved = try await service.signInByPhone(PhoneScene.other, idToken: recent.idToken)
            #expect(moved["phoneNumber"]?.string == PhoneScene.other)
            #expect(try await service.signInByPhone(number)["isNewUser"] == true)
            let unlink: JSON = ["idToken": JSON(moved.idToken), "deleteProvider": ["phone"]]
            let unlinked = try await service.call("accounts:update", unlink)
            #expect(unlinked.status == 200 && unlinked.json.providers == ["password"], "\(unlinked)")
            #expect(try await service.signInByPhone(PhoneScene.other)["isNewUser"] == true)
        }
    }

    @Test("the last way in cannot be removed, and a number is one while sign-in by phone is on")
    func lastMethod() async throws {
        try await PhoneScene.run { service in
            let user = try await service.signInByPhone(number)
            try await service.call("accounts:update", ["idToken": JSON(user.idToken), "deleteProvider": ["phone"]])
                .expectRefused("OPERATION_NOT_ALLOWED : The last sign-in method cannot be removed.")
            let ada = try await service.signUp("ada@example.com")
            _ = try await service.signInByPhone(PhoneScene.other, idToken: ada.idToken)
            let body: JSON = ["idToken": JSON(ada.idToken), "deleteProvider": ["password"]]
            try await service.call("accounts:update", body).expectOK()
        }
    }

    @Test("of two accounts that want a number at once one gets it, the other a proof")
    func oneOwner() async throws {
        try await TestService.runPair(PhoneScene.options()) { first, second in
            for round in 0..<10 {
                let digits = "+49155501\(200 + round)"
                let users = try await [first.call("accounts:signUp", [:]), second.call("accounts:signUp", [:])]
                // Two codes to one number are never good at once: the proofs of an owner who has left are.
                let owner = try await first.signInByPhone(digits)
                var proofs: [JSON] = []
                for user in users {
                    let taken = try await first.signInByPhone(digits, idToken: user.idToken)
                    proofs.append(try #require(taken["temporaryProof"]))
                }
                let both = proofs
                _ = try await first.admin("accounts:delete", ["localId": JSON(owner.localID)])
                let replies = try await inParallel(2) { index in
                    try await (index == 0 ? first : second).signInByPhone([
                        "phoneNumber": .string(digits), "temporaryProof": both[index],
                        "idToken": JSON(users[index].idToken),
                    ])
                }
                #expect(replies.count { $0.status == 200 } == 1, "\(replies.map(\.description))")
                for refused in replies where refused.status != 200 { refused.expectRefused("PHONE_NUMBER_EXISTS") }
            }
        }
    }

    @Test("T-A3: a number added to an account with an unverified address is removed once the address is verified")
    func trojanNumber() async throws {
        try await PhoneScene.run {
            $0.allowsEmailLink = true
            $0.emailEnumerationProtection = false
        } _: { service in
            let attacker = try await service.signUp("victim@example.com")
            _ = try await service.signInByPhone(number, idToken: attacker.idToken)
            let link = try await service.code(
                .emailSignIn,
                ["email": "victim@example.com"],
                to: "victim@example.com"
            )
            let victim = try await service.signInWithLink("victim@example.com", link)
            #expect(victim.localID == attacker.localID)
            let later = try await service.signInByPhone(number)
            #expect(later.localID != victim.localID && later["isNewUser"] == true, "\(later)")
            #expect(try await service.account(victim.localID)?["phoneNumber"] == nil)
        }
    }

    @Test("a number proves no address: nothing else of the account changes")
    func provesNoAddress() async throws {
        try await PhoneScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let linked = try await service.signInByPhone(number, idToken: user.idToken)
            #expect(linked.claims["email_verified"] == false)
            try await service.signInWithPassword("ada@example.com").expectOK()
        }
    }

    @Test("the v3 names and recaptchaParams answer as SDKs expect")
    func legacyNames() async throws {
        try await PhoneScene.run { service in
            let path = "/www.googleapis.com/identitytoolkit/v3/relyingparty"
            let key = "key=\(service.apiKey)"
            let params = try await service.send("GET", "\(path)/getRecaptchaParam?\(key)")
            #expect(params["kind"] == "identitytoolkit#GetRecaptchaParamResponse" && params["recaptchaSiteKey"] != nil)
            let body: JSON = ["phone_number": .string(number), "ios_receipt": "x", "ios_secret": "y"]
            let sent = try await service.post("\(path)/sendVerificationCode?\(key)", text: body.text)
            let session = try #require(sent["sessionInfo"])
            let signIn: JSON = ["session_info": session, "code": .string(try await service.smsCode(to: number))]
            let reply = try await service.post("\(path)/verifyPhoneNumber?\(key)", text: signIn.text)
            #expect(reply["isNewUser"] == true, "\(reply)")
        }
    }

    @Test("in development the emulator's list has each live code, with its session")
    func emulatorList() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let path = "/emulator/v1/projects/\(service.project.id)"
            #expect(try await service.send("GET", "\(path)/verificationCodes").json == ["verificationCodes": []])
            let reply = try await service.sendSMS(to: number)
            service.clock.advance(by: 1)
            _ = try await service.sendSMS(to: PhoneScene.other)
            let codes = try await service.send("GET", "\(path)/verificationCodes")["verificationCodes"]?.array ?? []
            #expect(codes.map { $0["phoneNumber"]?.string } == [number, PhoneScene.other])
            let first = try #require(codes.first)
            #expect(first["sessionInfo"] == reply["sessionInfo"])
            let body: JSON = ["sessionInfo": first["sessionInfo"] ?? .null, "code": first["code"] ?? .null]
            try await service.signInByPhone(body).expectOK()
            let left = try await service.send("GET", "\(path)/verificationCodes")["verificationCodes"]?.array ?? []
            #expect(left.map { $0["phoneNumber"]?.string } == [PhoneScene.other])
            try await service.send("DELETE", "\(path)/accounts").expectOK()
            #expect(try await service.send("GET", "\(path)/verificationCodes").json == ["verificationCodes": []])
        }
    }
}
