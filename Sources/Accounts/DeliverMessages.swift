import Delivery
import Domain
import Federation
import Foundation
package import Logging
import Projects
package import Prometheus
import Requests
import Secrets
import ServiceLifecycle
import Storage

/// Delivers the messages in the outbox, on all nodes in parallel, each message by one node at a time.
package struct DeliverMessages: Service {
    let service: AccountsService
    let logger: Logger
    var schedule = RetrySchedule.standard
    private let causes = RecurringCauses()
    /// The outcomes of this node's delivery attempts, since the start.
    package let outcomes = Tally<Delivery>()
    package let mailServer = MailServerState()

    package struct Delivery: Hashable, Sendable {
        package var kind: String
        package var outcome: Outcome

        package enum Outcome: String, Sendable, CaseIterable {
            case delivered
            /// The rest follows.
            case continued
            case retried
            case givenUp = "given_up"
        }

        /// Every kind with every outcome, in the order of the metrics.
        package static let all: [Delivery] = DeliverMessages.kinds.flatMap { kind in
            Outcome.allCases.map { Delivery(kind: kind, outcome: $0) }
        }
    }

    /// All kinds of messages.
    private static let kinds = [
        ApplicationLogout.kind, ApplicationLogout.kindOfStrangers, Mail.kind, ForgottenTokens.kind,
        ProviderRevocation.kind, SMS.kind, WebhookNotice.kind, GrantNotice.kind,
    ]

    package init(_ service: AccountsService, logger: Logger) {
        self.service = service
        self.logger = logger
    }

    /// Messages that are delivered apart from others, so that a stalled mail server or endpoint does not delay them.
    private enum Lane: CaseIterable {
        case mail, sms, logouts, strangersLogouts, other

        /// The number of messages in progress at a time; libcurl has a thread for each email.
        var slots: Int {
            switch self {
            case .mail, .strangersLogouts: 16
            case .sms, .logouts, .other: 64
            }
        }

        /// The number of them for one project, of all kinds, so that those that hang leave room for others (T-E11).
        var quota: Int { slots / 4 }

        /// The number of them for one of these receivers: a project has one, or many clients.
        var receiverQuota: Int {
            switch self {
            case .mail, .sms, .other: quota
            case .logouts, .strangersLogouts: quota / 4
            }
        }

        /// Seconds for which no other node takes a message that this one took.
        ///
        /// An endpoint has ten seconds; a mail server may take minutes, for which the lease is extended. It is short, so
        /// that users wait no longer if the sending node dies.
        var lease: TimeInterval { self == .mail ? 60 : 20 }
    }

    /// The kinds of messages that this node delivers; it leaves others to other nodes, such as those of a newer
    /// release, or to the developer in `identity dev`.
    private func kinds(_ lane: Lane) -> [String] {
        switch lane {
        case .mail: service.options.mailer == nil ? [] : [Mail.kind]
        case .sms: service.options.messenger == nil || service.options.development ? [] : [SMS.kind]
        case .logouts: service.options.messenger == nil ? [] : [ApplicationLogout.kind]
        case .strangersLogouts: service.options.messenger == nil ? [] : [ApplicationLogout.kindOfStrangers]
        case .other:
            [ProviderRevocation.kind, ForgottenTokens.kind]
                + (service.options.messenger == nil ? [] : [WebhookNotice.kind, GrantNotice.kind])
        }
    }

    /// Emails that need no mail server because their project's webhook sends them.
    private var carriedByEndpoints: [OutboxStore.Destination] {
        guard service.options.messenger != nil, !service.options.development else { return [] }
        return service.configuration.snapshot.allProjects.filter { $0.settings.delivery.takes(.mailSend) }
            .map { OutboxStore.Destination(project: $0.id, kind: Mail.kind) }
    }

    /// Takes messages every two seconds, and whenever it has finished one, until stopped.
    ///
    /// Then it finishes those in progress.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in Lane.allCases { group.addTask { try await work(lane, isOnce: false) } }
            group.addTask {
                while !Self.isStopping {
                    do { try await giveUpExpired() } catch { warnUnread(error) }
                    _ = await Self.pause(.seconds(30))
                }
            }
            try await group.waitForAll()
        }
    }

    /// Gives up messages whose code or link has ended, also of kinds that no node delivers.
    private func giveUpExpired() async throws {
        while case let expired = try await service.stores.outbox.giveUpExpired(now: service.now()), !expired.isEmpty {
            // The developer, for whom they waited, did not need them.
            guard !service.options.development else { continue }
            for message in expired {
                await RequestContext.with({ $0.trace = message.trace ?? TraceContext() }) {
                    count(.abandoned, of: message.kind)
                    log(.warning, "Gave up an expired message", message)
                }
            }
        }
    }

    private func warnUnread(_ error: any Error) {
        guard causes.isDue("\(error)") else { return }
        logger.warning("The outbox could not be read", metadata: ["error.type": "\(type(of: error))"])
    }

    /// Attempts every message that is due.
    ///
    /// - Returns: the number of attempts.
    @discardableResult
    package func deliverDue() async throws -> Int {
        try await queueLogouts()
        let tried = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in Lane.allCases { group.addTask { try await work(lane, isOnce: true) } }
            return try await group.reduce(0, +)
        }
        try await giveUpExpired()
        return tried
    }

    @discardableResult
    private func work(_ lane: Lane, isOnce: Bool) async throws -> Int {
        try await withThrowingTaskGroup(of: OutboxStore.Destination?.self) { group in
            var inProgress: [OutboxStore.Destination: Int] = [:]
            var tried = 0
            var horizon = Horizon()
            var hasPaused = true
            if !isOnce { group.addTask { await Self.pause() } }
            while true {
                do {
                    // Before there is room: those who hang delay nobody's place in the queue.
                    if lane == .logouts, !isOnce, hasPaused, !Self.isStopping { try await queueLogouts() }
                    while case let messages = try await take(lane, inProgress, &horizon), !messages.isEmpty {
                        for message in messages {
                            inProgress[message.destination, default: 0] += 1
                            group.addTask {
                                await attempt(message, lease: lane.lease)
                                return message.destination
                            }
                        }
                        tried += messages.count
                    }
                } catch {
                    guard !isOnce else { throw error }
                    warnUnread(error)
                }
                // Nothing is in progress, and there is no pause: nothing is due, or the node stops.
                guard let ended = try await group.next() else { return tried }
                hasPaused = ended == nil
                if let ended {
                    let left = inProgress[ended, default: 1] - 1
                    inProgress[ended] = left > 0 ? left : nil
                } else if !Self.isStopping {
                    group.addTask { await Self.pause() }
                }
            }
        }
    }

    private static var isStopping: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    private static func pause(_ duration: Duration = .seconds(2)) async -> OutboxStore.Destination? {
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
        return nil
    }

    /// Until when a lane has taken all that was due, so that it need not read again what was delivered since: while an
    /// old transaction lasts, that is all of its time.
    private struct Horizon {
        private var clear: Date?
        private var lastLook: Date?

        /// Nil to look at all: every five seconds, as a transaction may have written a message long before it committed,
        /// and when something has been left for as long.
        func since(_ now: Date) -> Date? {
            guard let clear, let lastLook, lastLook <= now, now < lastLook.addingTimeInterval(5),
                clear <= now, now < clear.addingTimeInterval(5)
            else { return nil }
            return clear.addingTimeInterval(-2)
        }

        /// - Parameter leavesNothing: as far as it looked.
        mutating func looked(since: Date?, at now: Date, leavesNothing: Bool) {
            if since == nil { lastLook = now }
            if leavesNothing { clear = now }
        }
    }

    /// Takes messages that are due for free slots.
    private func take(
        _ lane: Lane,
        _ inProgress: [OutboxStore.Destination: Int],
        _ horizon: inout Horizon
    ) async throws -> [OutboxStore.Message] {
        let (kinds, carried) = (kinds(lane), lane == .mail ? carriedByEndpoints : [])
        let byProject = Dictionary(inProgress.map { ($0.key.project, $0.value) }, uniquingKeysWith: +)
        // Whichever receiver the messages are for, none gets more than its quota.
        func room(_ quota: Int, _ counts: some Collection<Int>) -> Int {
            quota - (counts.filter { $0 < quota }.max() ?? 0)
        }
        let limit = min(
            room(lane.quota, byProject.values),
            room(lane.receiverQuota, inProgress.values),
            lane.slots - inProgress.values.reduce(0, +)
        )
        guard limit > 0, !(kinds.isEmpty && carried.isEmpty), !Self.isStopping else { return [] }
        let receivers = inProgress.filter { $0.value >= lane.receiverQuota }.map(\.key)
        let projects = byProject.filter { $0.value >= lane.quota }.map(\.key)
        let now = service.now()
        let since = horizon.since(now)
        let taken = try await service.stores.outbox.take(
            kinds,
            and: carried,
            except: receivers,
            andAllOf: projects,
            inProgress: byProject,
            limit: limit,
            since: since,
            lease: lane.lease,
            now: now
        )
        let leavesNothing = taken.count < limit && receivers.isEmpty && projects.isEmpty
        horizon.looked(since: since, at: now, leavesNothing: leavesNothing)
        return taken
    }

    private func queueLogouts() async throws {
        let snapshot = service.configuration.snapshot
        try await service.stores.outbox.queueLogouts(
            telling: { snapshot.project($0)?.settings.delivery.takes(.grantEnded) ?? false },
            now: service.now()
        )
    }

    /// Delivers one message, independently of the others; after an error it is due again when its lease ends.
    private func attempt(_ message: OutboxStore.Message, lease: TimeInterval) async {
        await RequestContext.with({ $0.trace = message.trace ?? TraceContext() }) {
            do {
                let outcome = try await holding(message, lease) { try await deliver(message) }
                count(outcome, of: message.kind)
                try await service.stores.outbox.settle(message, outcome, now: service.now())
            } catch {
                log(.warning, "The outcome of a delivery could not be stored", message, error)
            }
        }
    }

    /// Extends the lease of a message until it is delivered.
    private func holding(
        _ message: OutboxStore.Message,
        _ lease: TimeInterval,
        _ deliver: @escaping @Sendable () async throws -> OutboxStore.Outcome
    ) async throws -> OutboxStore.Outcome {
        let extending = Task {
            while (try? await Task.sleep(for: .seconds(lease / 3))) != nil {
                // If it fails, there is time for one more before the lease ends.
                try? await service.stores.outbox.extend(message, until: service.now().addingTimeInterval(lease))
            }
        }
        let result: Result<OutboxStore.Outcome, any Error>
        do {
            let outcome = try await deliver()
            result = .success(outcome)
        } catch {
            result = .failure(error)
        }
        extending.cancel()
        // So that it does not change what the outcome says.
        await extending.value
        return try result.get()
    }

    private func count(_ outcome: OutboxStore.Outcome, of kind: String) {
        let result: Delivery.Outcome =
            switch outcome {
            case .delivered: .delivered
            case .partly: .continued
            case .retry: .retried
            case .abandoned: .givenUp
            }
        outcomes.add(Delivery(kind: kind, outcome: result))
    }

    private func deliver(_ message: OutboxStore.Message) async throws -> OutboxStore.Outcome {
        guard message.expiresAt.map({ $0 > service.now() }) ?? true else {
            log(.warning, "Gave up an expired message", message)
            return .abandoned
        }
        switch message.kind {
        case ProviderRevocation.kind: return try await reading(message) { await end($0, message) }
        case ForgottenTokens.kind: return try await reading(message) { try await forget($0, message) }
        case Mail.kind: return try await reading(message) { await send($0, message) }
        case ApplicationLogout.kind, ApplicationLogout.kindOfStrangers:
            return try await reading(message) { try await tell($0, message) }
        case GrantNotice.kind:
            return try await reading(message) { (notice: GrantNotice) in
                await handOver(message) { messenger, project throws(DeliveryError) in
                    try await messenger.send(notice, id: message.id, of: project, date: service.now())
                }
            }
        case SMS.kind:
            return try await reading(message) { (sms: SMS) in
                await handOver(message) { messenger, project throws(DeliveryError) in
                    try await messenger.send(sms, id: message.id, of: project, date: service.now())
                }
            }
        default:
            return try await reading(message) { (notice: WebhookNotice) in
                await handOver(message) { messenger, project throws(DeliveryError) in
                    try await messenger.send(notice, id: message.id, of: project, date: service.now())
                }
            }
        }
    }

    /// Delivers what the message contains.
    ///
    /// A damaged message is given up. What only this node cannot read is retried: another one may have the encryption
    /// key, or the release that wrote it.
    private func reading<Payload: Decodable>(
        _ message: OutboxStore.Message,
        _ deliver: (Payload) async throws -> OutboxStore.Outcome
    ) async throws -> OutboxStore.Outcome {
        let payload: Payload
        do {
            payload = try JSONDecoder().decode(Payload.self, from: Data(try message.payload.get()))
        } catch KeyRingError.cannotOpen {
            log(.error, "A message cannot be read", message)
            return .abandoned
        } catch {
            // The error of a decoder quotes what it could not decode.
            return tryAgain(message, UnreadableMessage())
        }
        return try await deliver(payload)
    }

    private struct UnreadableMessage: Error {}

    /// Uses the current configuration: tokens that are stored again stay.
    private func forget(
        _ tokens: ForgottenTokens,
        _ message: OutboxStore.Message
    ) async throws -> OutboxStore.Outcome {
        let scope = Scope(project: message.project, tenant: TenantID(rawValue: tokens.tenant))
        let configuration = service.configuration.snapshot.provider(tokens.provider, in: scope)
        var rest = tokens
        rest.after = try await service.providerTokens.forget(
            tokens.provider,
            in: scope,
            keeping: service.federation.tokenKeeping(configuration),
            after: tokens.after
        )
        return rest.after == nil ? .delivered : .partly(rest: Array(try JSONEncoder().encode(rest)))
    }

    private func end(_ revocation: ProviderRevocation, _ message: OutboxStore.Message) async -> OutboxStore.Outcome {
        // The user has linked again and so granted anew, and most providers revoke all of a user's grants for an app
        // together.
        guard !message.isLinkedAgain else {
            log(.info, "Kept a grant, because the identity is linked again", message)
            return .delivered
        }
        let found = service.configuration.snapshot.provider(
            revocation.provider,
            in: Scope(project: message.project, tenant: TenantID(rawValue: revocation.tenant))
        )
        // The provider may be configured again, or this node may learn of it in a moment.
        guard let configuration = found else { return failed(message, .providerNotFound) }
        do {
            try await service.federation.calling(for: message.project) {
                [federation = service.federation] () async throws(FederationError) in
                try await federation.revoke(
                    Secret(revocation.token),
                    isRefreshToken: revocation.isRefreshToken,
                    clientID: revocation.clientID,
                    // Grants are also revoked if sign-in with the provider is disabled.
                    with: configuration.switchedOn
                )
            }
            log(.info, "Revoked a grant at its provider", message)
            return .delivered
        } catch {
            return failed(message, error)
        }
    }

    /// A token that the provider does not know needs no revocation; all other errors may pass or be fixed by an admin.
    private func failed(_ message: OutboxStore.Message, _ error: FederationError) -> OutboxStore.Outcome {
        if case .codeRejected = error {
            log(.info, "The grant was already revoked at its provider", message)
            return .delivered
        }
        return tryAgain(message, error)
    }

    /// - Parameter seconds: what the recipient asks to wait, if any.
    func tryAgain(
        _ message: OutboxStore.Message,
        _ error: any Error,
        after seconds: Double? = nil
    ) -> OutboxStore.Outcome {
        let now = service.now()
        guard let delay = schedule.delay(afterAttempts: message.attempts, of: message.id, asked: seconds),
            let next = schedule.last(before: message.expiresAt, at: now, wanted: now.addingTimeInterval(delay))
        else {
            log(.error, "Gave up a message", message, error)
            return .abandoned
        }
        log(.warning, "A message will be retried", message, error)
        return .retry(at: next)
    }

    func log(
        _ level: Logger.Level,
        _ text: Logger.Message,
        _ message: OutboxStore.Message,
        _ error: (any Error)? = nil
    ) {
        log(level, text, message.summary, error)
    }

    private func log(
        _ level: Logger.Level,
        _ text: Logger.Message,
        _ message: OutboxStore.Summary,
        _ error: (any Error)? = nil
    ) {
        var metadata: Logger.Metadata = [
            "project.id": "\(message.project)", "message.id": "\(message.id)", "message.kind": "\(message.kind)",
            "message.attempts": "\(message.attempts)",
        ]
        if let type = message.subject.type { metadata["message.type"] = "\(type)" }
        if let account = message.subject.account { metadata["account.id"] = "\(account)" }
        if let trace = RequestContext.current.trace { metadata["trace.id"] = "\(trace.id)" }
        if let error { metadata["error.type"] = "\(error)" }
        logger.log(level: level, text, metadata: metadata)
    }
}
