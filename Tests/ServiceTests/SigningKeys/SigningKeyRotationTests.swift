import Foundation
import Logging
import Postgres
import Projects
import Secrets
import Sessions
import Storage
import Synchronization
import TestKit
import Testing

/// Keys that follow one another while people sign in, over two nodes of one database.
@Suite("Rotation of signing keys")
struct SigningKeyRotationTests {
    private static let hour = 3600.0
    private static let day = 24 * hour

    private struct Token: Sendable {
        var text: String
        var expiresAt: Int64

        init(_ text: String) {
            self.text = text
            expiresAt = Int64(Reply.claims(of: text)["exp"]?.number ?? 0)
        }

        var kid: String { (try? SigningKeyRotationTests.header(text)["kid"]?.string) ?? "" }
    }

    /// What was handed out, and what went wrong.
    private final class Ledger: Sendable {
        private struct Entries {
            var idTokens: [Token] = []
            var cookies: [Token] = []
            var refreshTokens: [String] = []
            var kids: [String] = []
            var faults: [String] = []
        }

        private let entries = Mutex(Entries())

        var refreshTokens: [String] { entries.withLock { $0.refreshTokens } }
        var faults: [String] { entries.withLock { $0.faults } }
        /// Of the ID tokens, in the order in which they came up.
        var kids: [String] { entries.withLock { $0.kids } }

        func idTokens(at now: Int64) -> [Token] { entries.withLock { $0.idTokens.filter { $0.expiresAt > now } } }
        func cookies(at now: Int64) -> [Token] { entries.withLock { $0.cookies.filter { $0.expiresAt > now } } }

        func add(_ reply: Reply) {
            guard let token = reply.idToken.map(Token.init), let refreshToken = reply.refreshToken else {
                return fail("no tokens: \(reply)")
            }
            entries.withLock { entries in
                entries.idTokens.append(token)
                if !entries.refreshTokens.contains(refreshToken) { entries.refreshTokens.append(refreshToken) }
                if !entries.kids.contains(token.kid) { entries.kids.append(token.kid) }
            }
        }

        func add(cookie: String) { entries.withLock { $0.cookies.append(Token(cookie)) } }
        func fail(_ what: String) { entries.withLock { $0.faults.append(what) } }
    }

    private static func header(_ token: String) throws -> JSON {
        let part = try #require(token.split(separator: ".").first)
        return try JSON(parsing: try #require(Base64URL.decode(part)))
    }

    /// Signs up, refreshes, asks with every live token at one of the nodes, makes a cookie.
    private static func work(_ node: TestService, _ other: TestService, _ ledger: Ledger, _ number: Int) async throws {
        ledger.add(try await node.call("accounts:signUp"))
        for refreshToken in ledger.refreshTokens.suffix(2) { ledger.add(try await other.refresh(refreshToken)) }
        for (place, token) in ledger.idTokens(at: node.clock.seconds).suffix(12).enumerated() {
            let asked = place % 2 == 0 ? node : other
            let reply = try await asked.lookUp(token.text)
            if reply.status != 200, asked.clock.seconds < token.expiresAt { ledger.fail("lookup: \(reply)") }
        }
        guard let token = ledger.idTokens(at: node.clock.seconds).last else { return }
        let duration: JSON = number % 2 == 0 ? 1_209_600 : 86_400
        let reply = try await other.admin(
            ":createSessionCookie",
            ["idToken": .string(token.text), "validDuration": duration]
        )
        if let cookie = reply["sessionCookie"]?.string {
            ledger.add(cookie: cookie)
        } else if node.clock.seconds < token.expiresAt {
            ledger.fail("cookie: \(reply)")
        }
    }

    /// Every live token is good at a back end, whenever that fetched its copy of the keys.
    private static func judge(_ judges: [ResourceServer], _ tokens: [Token], _ ledger: Ledger, _ kind: String) async {
        for judge in judges {
            for token in tokens {
                do { try await judge.verify(token.text) } catch {
                    ledger.fail("a back end refused a \(kind) of \(token.kid): \(error)")
                }
            }
        }
    }

    /// Seconds after the first keys were made: just before and after each thing that happens.
    private static let times: [Double] = [
        0, 30 * day, 89 * day - 1, 89 * day, 89 * day + 1, 89 * day + hour - 1, 89 * day + hour, 90 * day - hour,
        90 * day - 1, 90 * day, 90 * day + 1, 90 * day + hour - 1, 90 * day + hour, 90 * day + 2 * hour, 91 * day,
        97 * day, 104 * day - 1, 104 * day, 104 * day + hour, 104 * day + 2 * hour, 179 * day - 1, 179 * day,
        180 * day - 1, 180 * day, 180 * day + hour, 194 * day + 2 * hour,
    ]

    @Test(
        "T-D8: no token is refused inside its life while keys follow one another, here or where they are verified",
        .database,
        .timeLimit(.minutes(10)),
        arguments: [false, true]
    )
    func wholeCycle(es256: Bool) async throws {
        var options = TestService.Options()
        options.settings.signWithES256 = es256
        try await TestService.runPair(options) { first, second in
            let ledger = Ledger()
            let rotations = [first, second].map {
                SigningKeyRotation($0.stores.configuration, days: 90, logger: Logger(label: "test"))
            }
            // Their copies are of different ages all along.
            let judges = (0..<3).map { _ in ResourceServer([first, second], ResourceServer.idTokens) }
            let cookieJudges = (0..<3).map { _ in ResourceServer([second, first], ResourceServer.cookies) }
            var passed = 0.0
            for (round, time) in Self.times.enumerated() {
                let step = time - passed
                passed = time
                try await withThrowingTaskGroup { group in
                    for number in 0..<4 {
                        let nodes = number % 2 == 0 ? (first, second) : (second, first)
                        group.addTask { try await Self.work(nodes.0, nodes.1, ledger, number) }
                    }
                    group.addTask {
                        // In the midst of it time passes, and both nodes look at what is due.
                        first.clock.advance(by: step)
                        await withTaskGroup { nodes in
                            for rotation in rotations { nodes.addTask { await rotation.rotate() } }
                        }
                        try await first.stores.configuration.refresh()
                        try await second.stores.configuration.refresh()
                    }
                    try await group.waitForAll()
                }
                try await Self.work(first, second, ledger, round)
                let now = first.clock.seconds
                await Self.judge([judges[round % 2], judges[2]], ledger.idTokens(at: now), ledger, "token")
                await Self.judge([cookieJudges[round % 2], cookieJudges[2]], ledger.cookies(at: now), ledger, "cookie")
                #expect(ledger.faults == [], "at \(time / Self.day) days")
                guard ledger.faults.isEmpty else { return }
            }
            #expect(ledger.kids.count == 3, "a key, the next, and the one after it: \(ledger.kids)")
            let left = first.stores.configuration.signingKeyTimeline
            #expect(
                left.keys.count == 3 && left.keys.allSatisfy { left.state(of: $0, at: first.clock.seconds) == .current }
            )
            let stored = try await TestDatabase.current.client.query("SELECT count(*) FROM signing_keys") {
                try $0.next(Int64.self)
            }
            #expect(stored == [3])
        }
    }

    @Test("T-D8: an application's access token, which may live for a day, verifies until it expires", .database)
    func accessTokens() async throws {
        try await OAuthScene.run(
            OAuthScene.publicClient(),
            { $0.oauth.accessTokenSeconds = 86_400 },
            { scene in
                let service = scene.service
                let rotation = SigningKeyRotation(service.stores.configuration, days: 90, logger: Logger(label: "test"))
                service.clock.advance(by: 89 * Self.day)
                await rotation.rotate()
                service.clock.advance(by: Self.day - 60)
                let token = Token(try #require(try await scene.tokens().accessToken))
                // The key has signed nothing for almost a day.
                service.clock.advance(by: Self.day - 60)
                await rotation.rotate()
                try await service.stores.configuration.refresh()
                #expect(token.expiresAt > service.clock.seconds)
                let judge = ResourceServer([service], ResourceServer.idTokens)
                try await judge.verify(token.text)
                #expect(Token(try #require(try await service.signUp("new@example.com").idToken)).kid != token.kid)
            }
        )
    }

    @Test(
        "T-D8: a key is in the documents for as long as a copy may be kept before anything is signed with it, and its private half goes when it signs no more",
        .database
    )
    func publishedBeforeUse() async throws {
        try await TestService.runPair { first, second in
            let rotation = SigningKeyRotation(second.stores.configuration, days: 90, logger: Logger(label: "test"))
            let reader = ResourceServer([first], ResourceServer.idTokens)
            try await reader.refreshWhenStale()
            let old = await reader.kids
            first.clock.advance(by: 89 * Self.day)
            await rotation.rotate()
            try await first.stores.configuration.refresh()
            try await reader.refreshWhenStale()
            let new = await reader.kids
            #expect(new.isSuperset(of: old) && new.count == old.count + 1)
            let certificates = try await first.send(
                "GET",
                "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"
            )
            #expect(certificates.json.object?.count == 2)

            func kid() async throws -> String {
                let token = try #require(try await first.call("accounts:signUp").idToken)
                return try Self.header(token)["kid"]?.string ?? ""
            }
            first.clock.advance(by: Self.day - 1)
            #expect(old.contains(try await kid()))
            // Nobody reads anything anew: the time alone says which key signs.
            first.clock.advance(by: 1)
            let signs = try await kid()
            #expect(new.contains(signs) && !old.contains(signs))

            let halves = {
                try await TestDatabase.current.client.query(
                    "SELECT kid FROM signing_keys WHERE private_key IS NOT NULL AND purpose = 'id_token' AND algorithm = 'RS256'"
                ) { try $0.next(String.self) }
            }
            #expect(Set(try await halves()) == new)
            first.clock.advance(by: Self.hour)
            await rotation.rotate()
            #expect(Set(try await halves()) == new.subtracting(old))
        }
    }

    @Test("T-D8: nodes that start at once create one key of each kind", .database, arguments: [2, 6])
    func manyNodes(count: Int) async throws {
        let clock = SteppableClock()
        let nodes = try (0..<count).map { _ in try Self.node(clock) }
        func all(_ act: @escaping @Sendable (ConfigurationStore) async throws -> Void) async throws {
            let barrier = Barrier(count)
            try await withThrowingTaskGroup { group in
                for node in nodes {
                    group.addTask {
                        await barrier.wait()
                        try await act(node)
                    }
                }
                try await group.waitForAll()
            }
        }
        func kids() async throws -> [String] {
            try await TestDatabase.current.client.query("SELECT kid FROM signing_keys ORDER BY active_from, kid") {
                try $0.next(String.self)
            }
        }
        try await all { try await $0.ensureSigningKeys() }
        #expect(try await kids().count == 3)
        try await all { try await $0.publishNextSigningKeys() }
        let published = try await kids()
        #expect(published.count == 6)
        clock.advance(by: 91 * Self.day)
        try await all { try await $0.rotateSigningKeys(every: 90 * 86_400) }
        try await all { try await $0.load() }
        for node in nodes { #expect(node.signingKeyTimeline.keys.map(\.kid) == (try await kids())) }
        // The first three are gone; each kind has one that signs, and one to come.
        let later = try await kids()
        #expect(later.count == 6 && Set(published.suffix(3)).isSubset(of: later))
        let victim = try #require(published.last)
        try await all { node in
            do { try await node.revokeSigningKey(victim) } catch ConfigurationError.notFound {}
        }
        #expect(Set(try await kids()) == Set(later).subtracting([victim]))
    }

    @Test("T-E11: whoever changes other configuration all the time keeps no key from being revoked", .database)
    func busyConfiguration() async throws {
        let node = try Self.node(SteppableClock())
        try await node.ensureSigningKeys()
        try await node.publishNextSigningKeys()
        // A node that never hears of the changes in time, as if one came between each reading and the next statement.
        try await TestDatabase.current.client.execute(
            "UPDATE configuration SET version = version + 1, epoch = gen_random_uuid()::text"
        )
        let losses = node.losses
        let keys = node.signingKeyTimeline.keys
        let (count, _) = try await StatementCount.during { try await node.revokeSigningKey(keys[0].kid) }
        let changes = count.statements.filter { $0.text.hasPrefix("UPDATE configuration SET version") }
        #expect(changes.map(\.calls) == [1], "\(count)")
        #expect(node.losses == losses && node.signingKeyTimeline.keys.count == keys.count - 1)
    }

    private static func node(_ clock: SteppableClock) throws -> ConfigurationStore {
        ConfigurationStore(
            database: TestDatabase.current.client,
            watch: TestDatabase.current.client,
            keyRing: try KeyRing(keys: [KeyRing.Key(id: "test", bytes: [UInt8](repeating: 7, count: 32))]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: clock.now
        )
    }
}
