import Delivery
import Development
import Domain
import Foundation
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

/// Random sequences of all that clients can call, by an account's owner and by a thief.
///
/// The thief copies tokens of the owner's sessions, uses them once they are no recent sign-in any more, and reads mail
/// of an address that the account had once. What the thief can never reach is checked after each step.
@Suite("T-A15: an owner and a thief", .database, .testProvider, .serialized, .timeLimit(.minutes(120)))
struct OwnerAndThiefTests {
    /// `THIEF_STEPS=100000 make test` looks longer.
    private static let steps = ProcessInfo.processInfo.environment["THIEF_STEPS"].flatMap { Int($0) } ?? 400

    @Test("the thief never gets a recent sign-in, the account or a part of it, nor past a sign-out")
    func play() async throws {
        try await ContinuedSessionTests.run {
            $0.methodChanges = .recentSignIn
        } _: { world in
            var left = Self.steps
            var seed: UInt64 = 1
            while left > 0 {
                var life = try await Life(world, seed: seed)
                for _ in 0..<min(left, 80) { try await life.step() }
                left -= 80
                seed += 1
                try await TestDatabase.current.client.execute("DELETE FROM outbox")
            }
        }
    }
}

/// Tokens of one session of the account.
private struct Tokens: Sendable {
    var idToken: String?
    var refreshToken: String?
    let session: String
    let authTime: Int64

    init?(_ reply: Reply, of account: String) {
        let claims = reply.claims
        guard claims["sub"]?.string == account, let session = claims["firebase"]?["sid"]?.string,
            let authTime = claims["auth_time"]?.number
        else { return nil }
        (idToken, refreshToken) = (reply.idToken, reply.refreshToken)
        (self.session, self.authTime) = (session, Int64(authTime))
    }
}

private struct Life {
    let world: LinkingWorld
    let name: String
    private var random: SplitMix
    private var localID = ""
    /// An address of the account from before, whose mail the thief reads.
    private let oldEmail: String
    private let thiefsEmail: String
    private var email: String
    private var isVerified = true
    private var password: String? = "correct horse 0"
    private var app: AuthenticatorApp?
    private var hasGitHub = false
    private var hasPhone = false
    private var sessions: [Tokens] = []
    private var stolen: [Tokens] = []
    /// When the owner last proved something, by session.
    private var proved: [String: Int64] = [:]
    private var ended: Set<String> = []
    private var count = 0
    private var history: [String] = []
    private var steps = 0

    private var service: TestService { world.service }
    private var now: Int64 { service.clock.seconds }

    init(_ world: LinkingWorld, seed: UInt64) async throws {
        self.world = world
        name = "life\(seed)"
        random = SplitMix(seed: seed)
        (oldEmail, thiefsEmail, email) = ("\(name)-old@example.com", "\(name)-eve@example.org", "\(name)-0@example.com")
        let made = try await world.service.admin(
            "accounts",
            ["email": .string(oldEmail), "emailVerified": true, "password": JSON(password)]
        )
        localID = try #require(made.localID, "\(made)")
        let first = try await world.service.signInWithPassword(oldEmail, password ?? "")
        try await changeByMail(Tokens(first, of: localID), from: oldEmail)
        // Until then the old address has a right to come back.
        world.service.clock.advance(by: 4 * 86_400)
    }

    mutating func step() async throws {
        steps += 1
        service.clock.advance(by: Double(Int.random(in: 0...150, using: &random)))
        if Int.random(in: 0..<3, using: &random) == 0 {
            try await ownerActs()
            try await check()
        } else {
            let before = try await account()
            try await thiefActs()
            #expect(try await account() == before, "\(trace)")
        }
    }

    private var trace: String { "\(name), step \(steps): \(history.suffix(12).joined(separator: " → "))" }

    /// What of the account the thief never changes.
    private func account() async throws -> JSON? {
        let names = [
            "email", "emailVerified", "initialEmail", "passwordHash", "passwordUpdatedAt", "mfaInfo",
            "providerUserInfo",
            "phoneNumber", "disabled", "validSince", "emailLinkSignin",
        ]
        guard let members = try await service.account(localID)?.object else { return nil }
        return .object(members.filter { names.contains($0.key) })
    }

    /// Notes the tokens of an answer, which say nothing that the owner did not prove.
    ///
    /// - Parameters:
    ///   - proof: when the owner proved something with the call (``provedNow()``); nil for nothing.
    ///   - endsOthers: the call ended all other sessions.
    @discardableResult
    private mutating func note(
        _ reply: Reply,
        proof: Int64? = nil,
        endsOthers: Bool = false,
        thief: Bool = false
    ) -> Tokens? {
        guard let tokens = Tokens(reply, of: localID) else { return nil }
        // Whatever ends later sign-ins begins after them.
        if let proof = proof ?? (endsOthers ? proved.values.max().map { $0 + 1 } : nil) {
            proved[tokens.session] = proof
        }
        #expect(tokens.authTime <= proved[tokens.session] ?? -1, "\(trace)")
        #expect(!thief || !ended.contains(tokens.session), "\(trace)")
        if thief {
            #expect(now - tokens.authTime > 300, "\(trace)")
            stolen.append(tokens)
        } else {
            sessions.removeAll { $0.session == tokens.session }
            sessions.append(tokens)
            if Bool.random(using: &random) { stolen.append(tokens) }
        }
        return tokens
    }

    /// The `auth_time` of what was proved just now: a session is never older than its account's `validSince`, which is
    /// later than every session that ended, even one of this second.
    private func provedNow() async throws -> Int64 {
        max(now, Int64(try await service.account(localID)?["validSince"]?.string ?? "") ?? 0)
    }

    private mutating func end(except session: String? = nil) {
        for tokens in sessions + stolen where tokens.session != session { ended.insert(tokens.session) }
        sessions.removeAll { $0.session != session }
    }

    /// Sessions that ended stay ended, and second factors are those that the owner enrolled, beside a proved address.
    private mutating func check() async throws {
        let account = try await service.account(localID)
        let factors = account?["mfaInfo"]?.array?.count ?? 0
        #expect(factors == (app == nil ? 0 : 1), "\(trace)")
        #expect(factors == 0 || account?["emailVerified"] == true, "\(trace)")
        guard let tokens = stolen.filter({ ended.contains($0.session) }).randomElement(using: &random) else { return }
        #expect(try await service.refresh(tokens.refreshToken).status != 200, "\(trace)")
        #expect(try await service.lookUp(tokens.idToken).status != 200, "\(trace)")
    }

    // MARK: The owner

    private enum OwnerAct: CaseIterable {
        case signIn, refresh, setPassword, endOthers, signOutEverywhere, signOutOthers, linkGitHub, unlinkGitHub,
            linkPhone,
            unlinkPhone, changeByMail, changeDirectly, signUpAgain, followLink, enroll, withdraw, endTheThiefsChange
    }

    private mutating func ownerActs() async throws {
        guard let act = OwnerAct.allCases.randomElement(using: &random) else { return }
        history.append("owner \(act)")
        switch act {
        case .signIn: _ = try await signIn()
        case .refresh:
            guard let tokens = sessions.randomElement(using: &random) else { return }
            let reply = try await service.refresh(tokens.refreshToken)
            #expect(reply.status == 200, "\(reply) \(trace)")
            note(reply)
        case .setPassword:
            let tokens = try await recent()
            count += 1
            let new = "correct horse \(count)"
            let reply = try await update(tokens, ["password": .string(new)])
            #expect(reply.status == 200, "\(reply) \(trace)")
            password = new
            end(except: tokens.session)
            let proof = try await provedNow()
            note(reply, proof: proof)
        case .endOthers:
            let tokens = try await recent()
            let reply = try await update(tokens, ["validSince": "1"])
            #expect(reply.status == 200, "\(reply) \(trace)")
            end(except: tokens.session)
            note(reply, endsOthers: true)
        case .signOutEverywhere, .signOutOthers:
            let tokens = try await recent()
            let scope: JSON = act == .signOutOthers ? "others" : "all"
            let reply = try await service.call("accounts:signOut", ["idToken": JSON(tokens.idToken), "scope": scope])
            // Another session signed in later.
            if act == .signOutOthers, reply.code == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN" { return }
            #expect(reply.status == 200, "\(reply) \(trace)")
            end(except: act == .signOutOthers ? tokens.session : nil)
        case .linkGitHub:
            guard !hasGitHub else { return }
            let tokens = try await recent()
            let reply = try await world.github(github(1), idToken: tokens.idToken)
            #expect(reply.status == 200, "\(reply) \(trace)")
            hasGitHub = true
            note(reply)
        case .unlinkGitHub:
            guard hasGitHub else { return }
            let reply = try await update(try await recent(), ["deleteProvider": ["github.com"]])
            hasGitHub = reply.status != 200
        case .linkPhone:
            guard !hasPhone, app == nil else { return }
            let tokens = try await recent()
            let reply = try await service.signInByPhone(number(0), idToken: tokens.idToken)
            #expect(reply.status == 200, "\(reply) \(trace)")
            hasPhone = true
            note(reply)
        case .unlinkPhone:
            guard hasPhone else { return }
            let reply = try await update(try await recent(), ["deleteProvider": ["phone"]])
            hasPhone = reply.status != 200
        case .changeByMail: try await changeByMail(try await recent(), from: email)
        case .changeDirectly: try await changeDirectly()
        case .signUpAgain: try await signUpAgain()
        case .followLink: _ = try await followLink()
        case .enroll: try await enroll()
        case .withdraw:
            guard let factor = app else { return }
            let tokens = try await recent()
            let reply = try await service.withdraw(factor.enrollment, tokens.idToken)
            #expect(reply.status == 200, "\(reply) \(trace)")
            app = nil
            end(except: tokens.session)
            note(reply, endsOthers: true)
        case .endTheThiefsChange: try await endTheThiefsChange()
        }
    }

    private func update(_ tokens: Tokens, _ body: JSON) async throws -> Reply {
        try await service.call("accounts:update", body.merging(["idToken": JSON(tokens.idToken)]))
    }

    private func github(_ last: Int, email: String? = nil) -> TestUser {
        let number = 1_000 + (Int(name.dropFirst(4)) ?? 0)
        return world.githubPerson("\(number)\(last)", email: email ?? "\(name)-\(last)@example.net")
    }

    private func number(_ last: Int) -> String {
        "+4915551\(String(100_000 + (Int(name.dropFirst(4)) ?? 0) % 900_000))\(last)"
    }

    /// A session that signed in a moment ago, with all that the account asks for.
    private mutating func recent() async throws -> Tokens {
        // One that changed its method by a link cannot enrol; a new one always can.
        let found = sessions.last { now - $0.authTime < 250 }
        if let found, app == nil { return found }
        return try await signIn()
    }

    private mutating func signIn() async throws -> Tokens {
        guard let password else { return try await followLink() }
        return try await finish(try await service.signInWithPassword(email, password))
    }

    /// Proves the second factor, if the account asks for it.
    private mutating func finish(_ first: Reply) async throws -> Tokens {
        var reply = first
        if reply["mfaPendingCredential"] != nil, let app { reply = try await app.signIn(reply) }
        let proof = try await provedNow()
        let noted = note(reply, proof: proof)
        return try #require(noted, "\(reply) \(trace)")
    }

    private mutating func followLink() async throws -> Tokens {
        let code = try await service.code(.emailSignIn, ["email": .string(email)], to: email)
        let reply = try await service.signInWithLink(email, code)
        if !isVerified {
            // The first proof of an address takes away what was there before.
            (password, hasGitHub, hasPhone, isVerified) = (nil, false, false, true)
            end()
        }
        return try await finish(reply)
    }

    private mutating func changeByMail(_ tokens: Tokens?, from old: String) async throws {
        count += 1
        let new = "\(name)-\(count)@example.com"
        let code = try await service.code(
            .verifyAndChangeEmail,
            ["idToken": JSON(tokens?.idToken), "newEmail": .string(new)],
            to: new
        )
        let reply = try await service.apply(code)
        #expect(reply["email"]?.string == new, "\(reply) \(trace)")
        (email, isVerified) = (new, true)
        end()
    }

    private mutating func changeDirectly() async throws {
        let tokens = try await recent()
        count += 1
        let new = "\(name)-\(count)@example.com"
        let reply = try await update(tokens, ["email": .string(new)])
        guard app == nil || reply.status == 200 else { return }
        #expect(reply.status == 200, "\(reply) \(trace)")
        (email, isVerified) = (new, false)
        end(except: tokens.session)
        note(reply, endsOthers: true)
    }

    /// With a second factor, no unproved address takes the place of the proved one.
    private mutating func signUpAgain() async throws {
        guard app != nil else { return }
        let tokens = try await recent()
        count += 1
        let reply = try await service.call(
            "accounts:signUp",
            [
                "idToken": JSON(tokens.idToken), "email": .string("\(name)-\(count)@example.com"),
                "password": "another horse",
            ]
        )
        #expect(reply.status != 200, "\(reply) \(trace)")
    }

    private mutating func enroll() async throws {
        guard app == nil, !hasPhone, isVerified else { return }
        let tokens = try await signIn()
        let (app, reply) = try await AuthenticatorApp.enroll(tokens.idToken, service)
        self.app = app
        end(except: tokens.session)
        note(reply, endsOthers: true)
    }

    /// The thief begins a change of address with a session that is recent, and the owner ends that session in time.
    private mutating func endTheThiefsChange() async throws {
        let thiefs = try await signIn()
        let mine = try await signIn()
        let code = try await service.code(
            .verifyAndChangeEmail,
            ["idToken": JSON(thiefs.idToken), "newEmail": .string(thiefsEmail)],
            to: thiefsEmail
        )
        let scope: JSON = Bool.random(using: &random) ? "session" : "others"
        let reply = try await service.call(
            "accounts:signOut",
            ["idToken": JSON(mine.idToken), "scope": scope, "sessionId": .string(thiefs.session)]
        )
        #expect(reply.status == 200, "\(reply) \(trace)")
        if scope == "others" { end(except: mine.session) }
        ended.insert(thiefs.session)
        sessions.removeAll { $0.session == thiefs.session }
        #expect(try await service.apply(code).status != 200, "\(trace)")
        #expect(try await service.account(localID)?["email"]?.string == email, "\(trace)")
    }

    // MARK: The thief

    private enum ThiefAct: CaseIterable {
        case refresh, setPassword, changeEmail, removeEmail, removePassword, unlinkPassword, unlinkPhone, unlinkGitHub,
            endOthers, linkPassword, linkPasswordToOwnAddress, linkGitHub, linkPhone, linkEmailLink, resume, startApp,
            withdraw, requestChange, delete, readOldMail, signInAtOldAddress, reset
    }

    private mutating func thiefActs() async throws {
        guard let act = ThiefAct.allCases.randomElement(using: &random) else { return }
        history.append("thief \(act)")
        switch act {
        case .readOldMail: return try await readMail(to: oldEmail)
        case .signInAtOldAddress:
            _ = try await service.sendCode(.emailSignIn, ["email": .string(oldEmail)])
            return try await readMail(to: oldEmail)
        case .reset:
            _ = try await service.sendCode(.passwordReset, ["email": .string(oldEmail)])
            return try await readMail(to: oldEmail)
        default: break
        }
        guard var tokens = stolen.filter({ now - $0.authTime > 300 }).randomElement(using: &random) else { return }
        if act == .refresh || Bool.random(using: &random) {
            let reply = try await service.refresh(tokens.refreshToken)
            tokens = note(reply, thief: true) ?? tokens
        }
        let reply: Reply
        switch act {
        case .setPassword: reply = try await update(tokens, ["password": "stolen horse"])
        case .changeEmail: reply = try await update(tokens, ["email": .string(thiefsEmail)])
        case .removeEmail: reply = try await update(tokens, ["deleteAttribute": ["EMAIL"]])
        case .removePassword: reply = try await update(tokens, ["deleteAttribute": ["PASSWORD"]])
        case .unlinkPassword: reply = try await update(tokens, ["deleteProvider": ["password"]])
        case .unlinkPhone: reply = try await update(tokens, ["deleteProvider": ["phone"]])
        case .unlinkGitHub: reply = try await update(tokens, ["deleteProvider": ["github.com"]])
        case .endOthers: reply = try await update(tokens, ["validSince": "1"])
        case .linkPassword, .linkPasswordToOwnAddress:
            let address = act == .linkPassword ? thiefsEmail : email
            reply = try await service.call(
                "accounts:signUp",
                ["idToken": JSON(tokens.idToken), "email": .string(address), "password": "stolen horse"]
            )
        case .linkGitHub: reply = try await world.github(github(2), idToken: tokens.idToken)
        case .linkPhone: reply = try await service.signInByPhone(number(1), idToken: tokens.idToken)
        case .linkEmailLink:
            let code = try await service.code(.emailSignIn, ["email": .string(thiefsEmail)], to: thiefsEmail)
            reply = try await service.signInWithLink(thiefsEmail, code, idToken: tokens.idToken)
        case .resume:
            // A conflict with the account itself, which the thief's identity names.
            let conflict = try await world.github(github(3, email: email))
            reply = try await world.resume(conflict.pendingToken, idToken: tokens.idToken)
        case .startApp: reply = try await service.startEnrollment(tokens.idToken)
        case .withdraw: reply = try await service.withdraw(app?.enrollment ?? "none", tokens.idToken)
        case .requestChange:
            reply = try await service.sendCode(
                .verifyAndChangeEmail,
                ["idToken": JSON(tokens.idToken), "newEmail": .string(thiefsEmail)]
            )
        case .delete: reply = try await service.call("accounts:delete", ["idToken": JSON(tokens.idToken)])
        case .refresh, .readOldMail, .signInAtOldAddress, .reset: return
        }
        note(reply, thief: true)
        // A link that another rule refuses comes in-band.
        #expect(reply.status != 200 || reply["errorMessage"] != nil, "\(reply) \(trace)")
    }

    /// Uses up every code that came to an address.
    private mutating func readMail(to address: String) async throws {
        for mail in try await service.mails() where mail.mail.to == address {
            switch mail.type {
            case .emailSignIn: note(try await service.signInWithLink(address, mail.code), thief: true)
            case .passwordReset: _ = try await service.reset(mail.code, to: "stolen horse")
            default: _ = try await service.apply(mail.code)
            }
        }
    }
}
