import Accounts
import Delivery
import Domain
import Foundation
import IdentityService
import InMemoryLogging
import Logging
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Codes of SMS", .database, .serialized)
struct VerificationCodeTests {
    private let number = PhoneScene.number

    @Test("T-E2: five wrong tries end a code: the sixth fails although it is right")
    func fiveTries() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            for _ in 0..<5 {
                try await service.signInByPhone(sent.body(["code": .string(sent.wrong)])).expectRefused("INVALID_CODE")
            }
            try await service.signInByPhone(sent.body()).expectRefused("SESSION_EXPIRED")
            let next = try await service.code(to: number)
            for _ in 0..<4 {
                try await service.signInByPhone(next.body(["code": .string(next.wrong)])).expectRefused("INVALID_CODE")
            }
            #expect(try await service.signInByPhone(next.body())["isNewUser"] == true)
        }
    }

    @Test("T-E2: what cannot be a code is no try, and a code is read as users type it")
    func typed() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            for typed in ["12345", "1234567", "abcdef", " "] {
                for _ in 0..<3 {
                    try await service.signInByPhone(sent.body(["code": .string(typed)])).expectRefused("INVALID_CODE")
                }
            }
            let typed = "\(sent.code.prefix(3).description.inFullWidth) - \(sent.code.suffix(3))"
            try await service.signInByPhone(sent.body(["code": .string(typed)])).expectOK()
        }
    }

    @Test("T-E2: of many tries at once five are compared, and no more")
    func triesAtOnce() async throws {
        try await TestService.runPair(PhoneScene.options()) { first, second in
            let sent = try await first.code(to: number)
            let replies = try await inParallel(40) { index in
                try await (index % 2 == 0 ? first : second).signInByPhone(sent.body(["code": .string(sent.wrong)]))
            }
            #expect(replies.count { $0.error == "INVALID_CODE" } == 5)
            #expect(replies.count { $0.error == "SESSION_EXPIRED" } == 35)
            try await first.signInByPhone(sent.body()).expectRefused("SESSION_EXPIRED")
        }
    }

    @Test("T-E2: a code is valid for ten minutes")
    func tenMinutes() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            let other = try await service.code(to: PhoneScene.other)
            service.clock.advance(by: 599)
            try await service.signInByPhone(sent.body()).expectOK()
            service.clock.advance(by: 1)
            try await service.signInByPhone(other.body()).expectRefused("SESSION_EXPIRED")
        }
    }

    @Test("T-E33: a newer code to the number, which a stranger can request, leaves the older one good")
    func newerLeavesOlder() async throws {
        try await PhoneScene.run { service in
            let old = try await service.code(to: number)
            let new = try await service.code(to: number)
            try await service.signInByPhone(old.body()).expectOK()
            try await service.signInByPhone(new.body()).expectOK()
            for used in [old, new] {
                try await service.signInByPhone(used.body()).expectRefused("INVALID_SESSION_INFO")
            }
        }
    }

    @Test(
        "T-E2: a code of another purpose, or about another account, is refused, also when it is right",
        arguments: [VerificationPurpose.enrollment, .secondFactor]
    )
    func purposes(_ purpose: VerificationPurpose) async throws {
        try await PhoneScene.run { service in
            let store = service.stores.verificationCodes
            let scope = Scope(project: service.project.id)
            let session = Secret(RandomSource.system.handle())
            let phoneNumber = try #require(PhoneNumber(number))
            let code = NewVerificationCode(
                purpose: purpose,
                account: AccountID("ada"),
                phoneNumber: phoneNumber,
                session: session,
                code: Secret("123456")
            )
            try await store.insert(code, within: .none, in: scope, now: service.clock.current)
            let body: JSON = ["sessionInfo": .string(session.reveal()), "code": "123456"]
            try await service.signInByPhone(body).expectRefused("INVALID_SESSION_INFO")
            func attempt(_ purpose: VerificationPurpose, _ account: String?) async throws -> TriedCode? {
                try await store.attempt(
                    Secret("123456"),
                    session: session,
                    for: purpose,
                    account: account.map { AccountID($0) },
                    in: scope
                )
            }
            #expect(try await attempt(purpose, "eve") == nil)
            #expect(try await attempt(purpose, nil) == nil)
            #expect(try await attempt(purpose == .enrollment ? .secondFactor : .enrollment, "ada") == nil)
            let right = try #require(try await attempt(purpose, "ada"))
            #expect(right.isRight && right.attempts == 1 && right.phoneNumber == phoneNumber)
            for isFirst in [true, false] {
                let now = service.clock.current
                let exchanged = try await store.exchange(.sms(right.hash), for: Secret("proof"), in: scope, now: now)
                #expect(exchanged == isFirst)
            }
            #expect(try await attempt(purpose, "ada") == nil)
        }
    }

    @Test("codes stay valid when another key becomes the first of the ring")
    func olderKey() async throws {
        try await PhoneScene.run { service in
            let (old, new) = (try Self.key("2026", 1), try Self.key("2027", 2))
            let session = Secret(RandomSource.system.handle())
            let scope = Scope(project: service.project.id)
            func store(_ keys: [KeyRing.Key]) throws -> VerificationCodeStore {
                Stores(
                    database: service.stores.database,
                    keyRing: try KeyRing(keys: keys),
                    logger: Logger(label: "test"),
                    now: service.clock.now
                )
                .verificationCodes
            }
            func isRight(_ keys: [KeyRing.Key]) async throws -> Bool? {
                try await store(keys)
                    .attempt(Secret("123456"), session: session, for: .signIn, account: nil, in: scope)?.isRight
            }
            let code = NewVerificationCode(
                purpose: .signIn,
                account: nil,
                phoneNumber: try #require(PhoneNumber(number)),
                session: session,
                code: Secret("123456")
            )
            try await store([old]).insert(code, within: .none, in: scope, now: service.clock.current)
            #expect(try await isRight([new, old]) == true)
            #expect(try await isRight([new]) == false)
        }
    }

    private static func key(_ id: String, _ byte: UInt8) throws -> KeyRing.Key {
        try KeyRing.Key(id: id, bytes: Array(repeating: byte, count: 32))
    }

    @Test("a code's hash is valid only for its own session, wherever it is written")
    func boundToSession() async throws {
        try await PhoneScene.run { service in
            let mine = try await service.code(to: number)
            let theirs = try await service.code(to: PhoneScene.other)
            try await service.stores.database.execute(
                """
                UPDATE verification_codes v SET code_hash = o.code_hash FROM verification_codes o
                WHERE v.project = \(service.project.id.rawValue) AND o.project = v.project
                    AND v.phone_number = \(PhoneScene.other) AND o.phone_number = \(number)
                """
            )
            try await service.signInByPhone(theirs.body(["code": .string(mine.code)])).expectRefused("INVALID_CODE")
            try await service.signInByPhone(mine.body()).expectOK()
        }
    }

    @Test("T-D1: a code of another project is unknown")
    func otherProject() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            try await PhoneScene.run { other in
                try await other.signInByPhone(sent.body()).expectRefused("INVALID_SESSION_INFO")
            }
        }
    }

    @Test("the database knows neither the code nor its session, and the log not even the number")
    func secrets() async throws {
        try await PhoneScene.run { service in
            let sent = try await service.code(to: number)
            let rows = try await service.stores.database.query(
                """
                SELECT v::text, encode(v.session_hash, 'escape'), o::text FROM verification_codes v, outbox o
                WHERE v.project = \(service.project.id.rawValue) AND o.project = v.project
                """
            ) { row in [try row.next(String.self), try row.next(String.self), try row.next(String.self)] }
            #expect(rows.count == 1)
            let stored = rows.joined().joined()
            // Nor does the sealed message tell whoever delivers it which session its code is of.
            #expect(try await service.waitingSMS().map(\.session) == [nil])
            #expect(!stored.contains(sent.session) && !stored.contains(Data(sent.code.utf8).base64EncodedString()))
            let hashed = SecureHash.sha256(sent.code).lowercaseHex
            #expect(!stored.contains(hashed))
            _ = try await service.signInByPhone(sent.body(["code": .string(sent.wrong)]))
            _ = try await service.signInByPhone(sent.body())
            let log = service.logs.entries.map { "\($0.message) \($0.metadata) \($0.error.map { "\($0)" } ?? "")" }
            #expect(!log.isEmpty)
            for secret in [sent.code, sent.session, number] { #expect(!log.contains { $0.contains(secret) }) }
        }
    }

    @Test("test numbers get no SMS and have their one code, whatever their region")
    func testNumbers() async throws {
        try await PhoneScene.run {
            $0.phone.testNumbers = [number: "112233"]
            $0.phone.regions = SMSRegions(isAllowlist: true, listed: ["FR"])
            $0.delivery = DeliverySettings()
        } _: { service in
            let session = try #require(try await service.sendSMS(to: number)["sessionInfo"]?.string)
            #expect(try await service.waitingSMS().isEmpty)
            let wrong: JSON = ["sessionInfo": .string(session), "code": "112234"]
            try await service.signInByPhone(wrong).expectRefused("INVALID_CODE")
            let right: JSON = ["sessionInfo": .string(session), "code": "112233"]
            #expect(try await service.signInByPhone(right)["phoneNumber"]?.string == number)
            try await service.signInByPhone(right).expectRefused("INVALID_SESSION_INFO")
        }
    }

    @Test("T-E7: numbers of regions that a project leaves out get no SMS, nor do those of none")
    func regions() async throws {
        let refusal = "OPERATION_NOT_ALLOWED : SMS unable to be sent until this region enabled by the app developer."
        try await PhoneScene.run {
            $0.phone.regions = SMSRegions(isAllowlist: true, listed: ["DE", "GB", "PR"])
        } _: { service in
            for allowed in [number, "+442079460000", "+447797000000", "+17875550100"] {
                #expect(try await service.sendSMS(to: allowed).status == 200, "\(allowed)")
            }
            for refused in ["+33155501000", "+12125550100", "+14165550100", "+88216555010"] {
                try await service.sendSMS(to: refused).expectRefused(refusal)
            }
            #expect(try await service.waitingSMS().count == 4)
        }
        try await PhoneScene.run {
            $0.phone.regions = SMSRegions(isAllowlist: false, listed: ["KZ", "CA"])
        } _: { service in
            for allowed in [number, "+79265550100", "+12125550100"] {
                #expect(try await service.sendSMS(to: allowed).status == 200, "\(allowed)")
            }
            for refused in ["+77015550100", "+14165550100", "+88216555010"] {
                try await service.sendSMS(to: refused).expectRefused(refusal)
            }
        }
    }

    @Test("SMS that cannot be sent are refused, with the reason")
    func refusals() async throws {
        try await PhoneScene.run { service in
            let invalid = "INVALID_PHONE_NUMBER : Invalid format."
            try await service.call("accounts:sendVerificationCode", [:]).expectRefused(invalid)
            for text in [
                "", "x", "+", "4915550100", "+0915550100", "+49", "+4915550100a", "+49155501001234567", "+٤٩١٥٥٥٠١٠٠",
            ] {
                try await service.sendSMS(to: text).expectRefused(invalid)
            }
            try await service.sendSMS(to: "+49 (155) 50-1.00").expectOK()
            #expect(try await service.waitingSMS().map(\.to) == [number])
        }
        try await PhoneScene.run {
            $0.phone.isEnabled = false
        } _: { service in
            try await service.sendSMS(to: number).expectRefused("OPERATION_NOT_ALLOWED")
            try await service.signInByPhone(["sessionInfo": "x", "code": "1"]).expectRefused("OPERATION_NOT_ALLOWED")
        }
        try await PhoneScene.run {
            $0.delivery = DeliverySettings()
        } _: { service in
            try await service.sendSMS(to: number)
                .expectRefused("OPERATION_NOT_ALLOWED : The project has no SMS provider.")
        }
    }

    @Test("a deleted project, and a sweep, leave no code", .database)
    func sweeps() async throws {
        try await PhoneScene.run { service in
            _ = try await service.code(to: number)
            func count() async throws -> [Int64] {
                try await service.stores.database.query(
                    "SELECT count(*) FROM verification_codes WHERE project = \(service.project.id.rawValue)"
                ) { row in try row.next(Int64.self) }
            }
            service.clock.advance(by: 601)
            // What was not delivered is given up.
            try await service.assembly.deliveries.deliverDue()
            try await service.sweep()
            #expect(try await count() == [1])
            #expect(try await service.waitingSMS().isEmpty)
            service.clock.advance(by: 3_600)
            try await service.sweep()
            #expect(try await count() == [0])
        }
    }
}
