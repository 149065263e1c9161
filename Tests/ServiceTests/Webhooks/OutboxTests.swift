import Accounts
import Delivery
import Development
import Domain
import Foundation
import IdentityService
import Logging
import Outbound
import Postgres
import Projects
import Secrets
import ServiceLifecycle
import SMTPClient
import Storage
import Testing
import TestKit

/// The outbox is the database's, not a test's: one at a time.
@Suite("The outbox", .database, .serialized, .timeLimit(.minutes(10)))
struct OutboxTests {
    init() async throws {
        // What another test left behind.
        try await TestDatabase.current.client.execute("DELETE FROM outbox")
    }

    /// A receiver that answers `/stalled` once the gate is open, at the end of the test at the latest.
    private static func withReceiver(_ body: @Sendable (WebReceiver, TestGate) async throws -> Void) async throws {
        try await WebReceiver.run { receiver in
            let gate = TestGate()
            receiver.answer { request in
                if request.path == "/stalled" { await gate.pass() }
                return (204, "")
            }
            defer { gate.open() }
            try await body(receiver, gate)
        }
    }

    private static func options(_ receiver: WebReceiver, path: String) -> TestService.Options {
        var options = TestService.Options()
        options.sendsMessages = true
        options.settings.delivery.sms = SMSProvider(url: receiver.baseURL + path, body: "%TO% %TEXT%")
        options.settings.delivery.webhook = WebhookEndpoint(
            url: receiver.baseURL + path,
            types: [.accountCreated, .grantEnded],
            secrets: [Secret("whsec_" + Data(repeating: 0x5A, count: 24).base64EncodedString())]
        )
        return options
    }

    private static func writeNotice(_ service: TestService, after seconds: Double = 0) async throws {
        let (scope, date) = (Scope(project: service.project.id), service.clock.current)
        try await service.stores.outbox.insert(
            kind: WebhookNotice.kind,
            WebhookNotice(
                .accountCreated,
                about: Account(id: AccountID("ada"), validSince: 0, createdAt: date),
                of: scope,
                date: date
            ),
            of: .password,
            in: scope,
            due: date.addingTimeInterval(seconds)
        )
    }

    private static func writeGrantNotice(_ service: TestService, after seconds: Double) async throws {
        let (scope, date) = (Scope(project: service.project.id), service.clock.current)
        try await service.stores.outbox.insert(
            kind: GrantNotice.kind,
            GrantNotice(
                .grantEnded,
                client: "client",
                session: "session",
                account: AccountID("ada"),
                in: scope,
                date: date
            ),
            of: .password,
            in: scope,
            due: date.addingTimeInterval(seconds)
        )
    }

    @Test("T-E11: an endpoint that hangs delays no other project's messages, SMS neither", arguments: [false, true])
    func fairness(_ isSMS: Bool) async throws {
        try await Self.withReceiver { receiver, gate in
            try await TestService.run(Self.options(receiver, path: "/stalled")) { stalled in
                for _ in 0..<100 {
                    try await Self.writeNotice(stalled, after: -60)
                    try await Self.writeGrantNotice(stalled, after: -60)
                }
                var options = Self.options(receiver, path: "/good")
                options.clock = stalled.clock
                try await TestService.run(options) { good in
                    let group = ServiceGroup(services: [good.assembly.deliveries], logger: Logger(label: "test"))
                    async let running: Void = group.run()
                    try await waitUntil { receiver.received.contains { $0.path == "/stalled" } }
                    if isSMS {
                        try await good.stores.outbox.insert(
                            kind: SMS.kind,
                            SMS(
                                to: "+4915550100",
                                code: "123456",
                                validUntil: good.clock.current.addingTimeInterval(600)
                            ),
                            of: .phone,
                            in: Scope(project: good.project.id),
                            due: good.clock.current
                        )
                    } else {
                        try await Self.writeNotice(good)
                    }
                    // The others are not answered yet, and nothing ends them.
                    try await waitUntil { receiver.received.contains { $0.path == "/good" } }
                    // Of one project, never more than a quarter of what a node sends at a time, of all kinds.
                    let begun = try await stalled.stores.database.query(
                        """
                        SELECT count(*) FROM outbox WHERE project = \(stalled.project.id.rawValue) AND attempts > 0
                        """
                    ) { try $0.next(Int64.self) }
                    #expect(begun == [16])
                    await group.triggerGracefulShutdown()
                    gate.open()
                    try await running
                }
            }
        }
    }

    /// Messages of one destination, which are due one after another.
    private static func write(
        _ ids: [String],
        _ destination: OutboxStore.Destination,
        due: Date
    ) async throws {
        for (index, id) in ids.enumerated() {
            try await TestDatabase.current.client.execute(
                """
                INSERT INTO outbox (project, message, kind, receiver, payload, tenant, next_attempt_at, created_at)
                VALUES (\(destination.project.rawValue), \(id), \(destination.kind), \(destination.receiver),
                    ''::bytea, '', \(due.addingTimeInterval(Double(index))), now())
                """
            )
        }
    }

    @Test("T-E11: projects take turns, first the one with the fewest in progress, and so do a project's receivers")
    func turns() async throws {
        try await TestService.run { busy in
            try await TestService.run { other in
                let (outbox, now) = (busy.stores.outbox, busy.clock.current)
                let kind = ApplicationLogout.kindOfStrangers
                func take(_ limit: Int, _ inProgress: [ProjectID: Int]) async throws -> Set<String> {
                    let taken = try await outbox.take([kind], inProgress: inProgress, limit: limit, lease: 20, now: now)
                    return Set(taken.map(\.id))
                }
                func receiver(_ name: String, of service: TestService) -> OutboxStore.Destination {
                    OutboxStore.Destination(project: service.project.id, kind: kind, receiver: name)
                }
                let long = now.addingTimeInterval(-600)
                try await Self.write(["slow 1", "slow 2", "slow 3"], receiver("slow", of: busy), due: long)
                try await Self.write(["new 1", "new 2"], receiver("new", of: other), due: now.addingTimeInterval(-9))
                // Another project, although its message is the last to have become due.
                #expect(try await take(1, [busy.project.id: 1]) == ["new 1"])
                #expect(try await take(2, [:]) == ["slow 1", "new 2"])
                // One of the first is in progress: in its project, the receiver that holds nothing is next.
                try await Self.write(["good 1", "good 2"], receiver("good", of: busy), due: now.addingTimeInterval(-3))
                #expect(try await take(1, [busy.project.id: 1]) == ["good 1"])
            }
        }
    }

    @Test("T-E30: the backlog of a receiver that is passed over costs nothing, and nor does that of one that is served")
    func backlog() async throws {
        try await TestService.run { service in
            let (few, many) = (try await blocks(200, service), try await blocks(20_000, service))
            for (few, many) in zip(few, many) {
                #expect(few.messages == many.messages && many.messages == 16)
                #expect(Double(many.blocks) < 3 * Double(few.blocks), "\(few.blocks), then \(many.blocks) blocks")
            }
        }
    }

    @Test("a message whose transaction took longer than a node looks back is sent all the same")
    func lateCommit() async throws {
        try await Self.withReceiver { receiver, _ in
            try await TestService.run(Self.options(receiver, path: "/good")) { service in
                let group = ServiceGroup(services: [service.assembly.deliveries], logger: Logger(label: "test"))
                async let running: Void = group.run()
                try await Self.writeNotice(service)
                try await waitUntil { receiver.received.count == 1 }
                try await Self.writeNotice(service, after: -600)
                service.clock.advance(by: 5)
                try await waitUntil { receiver.received.count == 2 }
                await group.triggerGracefulShutdown()
                try await running
            }
        }
    }

    @Test("an old transaction keeps what was delivered in the indexes, and a look at what is new passes over it")
    func oldTransaction() async throws {
        try await TestService.run { service in
            let (database, outbox, now) = (service.stores.database, service.stores.outbox, service.clock.current)
            let project = service.project.id.rawValue
            try await database.transaction { old in
                try await old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                try await old.execute("SELECT FROM outbox")
                var blocks: [Int64] = []
                for count in [200, 20_000] {
                    try await TestDatabase.current.client.execute(
                        """
                        INSERT INTO outbox (project, message, kind, payload, tenant, next_attempt_at, created_at)
                        SELECT \(project), \("\(count)") || n, \(WebhookNotice.kind), ''::bytea, '',
                            \(now) - make_interval(secs => 3 + n), now()
                        FROM generate_series(1, \(count)) n
                        """
                    )
                    try await TestDatabase.current.client.execute("UPDATE outbox SET delivered_at = now()")
                    try await TestDatabase.current.client.execute("ANALYZE outbox")
                    for _ in 0..<16 { try await Self.writeNotice(service, after: -1) }
                    let (_, messages) = try await StatementCount.during {
                        try await outbox.take(
                            [WebhookNotice.kind],
                            limit: 64,
                            since: now.addingTimeInterval(-2),
                            lease: 20,
                            now: now
                        )
                    }
                    #expect(messages.count == 16)
                    blocks.append(try await Self.blocksRead())
                }
                #expect(Double(blocks[1]) < 3 * Double(blocks[0]), "\(blocks)")
            }
        }
    }

    /// What the node takes, and the blocks that it looks at for that, behind a backlog of SMS: they are passed over, then
    /// served.
    private func blocks(_ backlog: Int, _ service: TestService) async throws -> [(messages: Int, blocks: Int64)] {
        let database = TestDatabase.current.client
        let project = service.project.id.rawValue
        let (outbox, now) = (service.stores.outbox, service.clock.current)
        try await database.execute("DELETE FROM outbox")
        try await TestDatabase.current.vacuum("VACUUM outbox")
        try await database.execute(
            """
            INSERT INTO outbox (project, message, kind, payload, tenant, next_attempt_at, created_at)
            SELECT \(project), 'sms ' || n, \(SMS.kind), ''::bytea, '', \(now) - make_interval(secs => 60 + n), now()
            FROM generate_series(1, \(backlog)) n
            """
        )
        try await database.execute("ANALYZE outbox")
        for _ in 0..<16 { try await Self.writeNotice(service, after: -1) }
        var taken: [(messages: Int, blocks: Int64)] = []
        for exceptions in [[OutboxStore.Destination(project: service.project.id, kind: SMS.kind)], []] {
            let (_, messages) = try await StatementCount.during {
                try await outbox.take(
                    [WebhookNotice.kind, SMS.kind],
                    except: exceptions,
                    limit: 16,
                    lease: 20,
                    now: now
                )
            }
            taken.append((messages.count, try await Self.blocksRead()))
        }
        return taken
    }

    /// By statements about messages, since the count began.
    private static func blocksRead() async throws -> Int64 {
        let blocks = try await TestDatabase.current.client.query(
            """
            SELECT sum(shared_blks_hit + shared_blks_read)::bigint FROM pg_stat_statements
            WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND query LIKE '%outbox%' AND query NOT LIKE '%pg_stat_statements%'
            """
        ) { try $0.next(Int64.self) }
        return blocks.first ?? 0
    }

    /// A service that says when it was told to stop: `triggerGracefulShutdown()` returns before that.
    private struct Stopping: Service {
        var service: any Service
        var wasTold: @Sendable () -> Void

        func run() async throws {
            try await withGracefulShutdownHandler {
                try await service.run()
            } onGracefulShutdown: {
                wasTold()
            }
        }
    }

    @Test("a node that stops finishes the messages that it sends, and takes no others")
    func stops() async throws {
        try await Self.withReceiver { receiver, gate in
            try await TestService.run(Self.options(receiver, path: "/stalled")) { service in
                for _ in 0..<100 { try await Self.writeNotice(service) }
                // The receiver answers once the node knows that it is to stop.
                let node = Stopping(service: service.assembly.deliveries) { gate.open() }
                let group = ServiceGroup(services: [node], logger: Logger(label: "test"))
                async let running: Void = group.run()
                try await waitUntil { receiver.received.count == 16 }
                await group.triggerGracefulShutdown()
                try await running
                #expect(receiver.received.count == 16)
                let left = try await service.stores.database.query(
                    "SELECT attempts FROM outbox WHERE delivered_at IS NULL"
                ) { try $0.next(Int32.self) }
                #expect(left == [Int32](repeating: 0, count: 84))
            }
        }
    }

    // MARK: Messages for other nodes

    private struct Row: Equatable {
        var isOver: Bool
        var isEmpty: Bool
        var attempts: Int32
    }

    private static func rows(_ service: TestService) async throws -> [Row] {
        try await service.stores.database.query(
            """
            SELECT delivered_at IS NOT NULL OR abandoned_at IS NOT NULL, length(payload) = 0, attempts FROM outbox
            WHERE project = \(service.project.id.rawValue)
            """
        ) { row in Row(isOver: try row.next(), isEmpty: try row.next(), attempts: try row.next()) }
    }

    private static func mailing() throws -> TestService.Options {
        let sender = try #require(MailAddress(parsing: "mail@example.com"))
        var options = TestService.Options()
        options.mailer = Mailer(from: sender) { _ throws(SMTPError) in }
        return options
    }

    @Test("a message under a key that a node does not have yet waits for a node that has it")
    func keyOfOthers() async throws {
        try await TestService.run(try Self.mailing()) { behind in
            var options = try Self.mailing()
            (options.project, options.clock) = (behind.project, behind.clock)
            let new = try KeyRing.Key(id: "k2", bytes: [UInt8](repeating: 8, count: 32))
            options.encryptionKeys = [new] + (try TestService.encryptionKeys.get())
            try await TestService.run(options) { ahead in
                try await ahead.stores.outbox.insert(
                    kind: Mail.kind,
                    Mail(template: .passwordReset, to: "ada@example.com", link: "https://id.example.com"),
                    of: .password,
                    in: Scope(project: ahead.project.id),
                    due: ahead.clock.current
                )
                #expect(try await behind.assembly.deliveries.deliverDue() == 1)
                #expect(try await Self.rows(ahead) == [Row(isOver: false, isEmpty: false, attempts: 1)])
                ahead.clock.advance(by: 11)
                #expect(try await ahead.assembly.deliveries.deliverDue() == 1)
                #expect(try await Self.rows(ahead) == [Row(isOver: true, isEmpty: true, attempts: 2)])
            }
        }
    }

    @Test("a message of a kind, or with contents, of another release waits for a node of that release")
    func releaseOfOthers() async throws {
        try await TestService.run(try Self.mailing()) { service in
            for (kind, attempts) in [("push", 0), (Mail.kind, 1)] as [(String, Int32)] {
                try await service.stores.database.execute("DELETE FROM outbox")
                try await service.stores.outbox.insert(
                    kind: kind,
                    ["of": "another release"],
                    of: .password,
                    in: Scope(project: service.project.id),
                    due: service.clock.current
                )
                _ = try await service.assembly.deliveries.deliverDue()
                #expect(try await Self.rows(service) == [Row(isOver: false, isEmpty: false, attempts: attempts)])
            }
        }
    }
}
