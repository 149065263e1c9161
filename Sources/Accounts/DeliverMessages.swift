import AsyncAlgorithms
import Delivery
import Federation
import Foundation
import Linking
package import Logging
package import Prometheus
import Projects
import Secrets
import ServiceLifecycle
import Storage
import Traces

/// Delivers what stands in the outbox, on every node side by side, each message by one of them at a time.
package struct DeliverMessages: Service {
    let parts: Parts
    let logger: Logger
    var schedule = RetrySchedule.standard
    /// What came of messages that this node tried, since the start.
    package let outcomes = Tally<Delivery>()
    /// Whether what was last heard of the mail server, or of what stands in for it, is that it takes nothing.
    package let mailServer = Latest()

    package struct Delivery: Hashable, Sendable {
        package var kind: String
        package var outcome: String
    }

    package init(_ parts: Parts, logger: Logger) {
        self.parts = parts
        self.logger = logger
    }

    /// Seconds in which a node that took a message has to be done with it: a mail server may take its time, an endpoint has
    /// ten seconds. Whoever waits for an SMS waits no longer when the node dies that was about to send it.
    private static func lease(_ lane: OutboxStore.Selection) -> TimeInterval {
        switch lane {
        case .only: 120
        case .allBut: 20
        }
    }

    /// What is delivered side by side: a mail server that stalls holds nothing else up.
    private var lanes: [OutboxStore.Selection] {
        [.allBut(Mail.kind)] + (parts.mailer == nil && parts.messenger == nil ? [] : [.only(Mail.kind)])
    }

    /// Looks every two seconds until told to stop.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes { group.addTask { await run(lane) } }
        }
    }

    private func run(_ lane: OutboxStore.Selection) async {
        let ticks = AsyncTimerSequence(interval: .seconds(2), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks {
            do {
                try await deliverDue(lane)
            } catch {
                logger.warning("The outbox could not be read", metadata: ["error.type": "\(type(of: error))"])
            }
        }
    }

    /// Tries every message that is due.
    ///
    /// - Returns: how many were tried.
    @discardableResult
    package func deliverDue() async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in lanes { group.addTask { try await deliverDue(lane) } }
            return try await group.reduce(0, +)
        }
    }

    @discardableResult
    private func deliverDue(_ lane: OutboxStore.Selection) async throws -> Int {
        var tried = 0
        while true {
            let messages = try await parts.stores.outbox.take(
                limit: 16,
                lease: Self.lease(lane),
                lane,
                except: waiting,
                butFor: carriedByEndpoints,
                now: parts.now()
            )
            guard !messages.isEmpty else { return tried }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for message in messages {
                    group.addTask {
                        let outcome = try await TraceContext.$current.withValue(message.trace ?? TraceContext()) {
                            try await deliver(message)
                        }
                        count(outcome, of: message.kind)
                        try await parts.stores.outbox.settle(message, outcome, now: parts.now())
                    }
                }
                try await group.waitForAll()
            }
            tried += messages.count
        }
    }

    /// What this node leaves to others, or to whoever looks at it in `identity dev`.
    private var waiting: [String] {
        guard parts.messenger != nil else {
            return [SMS.kind, WebhookNotice.kind] + (parts.mailer == nil ? [Mail.kind] : [])
        }
        return (parts.mailer == nil ? [Mail.kind] : []) + (parts.development ? [SMS.kind] : [])
    }

    /// Mails that need no mail server, because their project's own endpoint sends them.
    private var carriedByEndpoints: [(kind: String, project: ProjectID)] {
        guard parts.messenger != nil, !parts.development else { return [] }
        return parts.configuration.snapshot.allProjects.filter { $0.settings.delivery.takes(.mailSend) }
            .map { (Mail.kind, $0.id) }
    }

    private func count(_ outcome: OutboxStore.Outcome, of kind: String) {
        let name =
            switch outcome {
            case .delivered: "delivered"
            case .partly: "continued"
            case .retry: "retried"
            case .abandoned: "given_up"
            }
        outcomes.add(Delivery(kind: kind, outcome: name))
        if kind == Mail.kind { mailServer.set(kind, fails: name == "retried") }
    }

    private func deliver(_ message: OutboxStore.Message) async throws -> OutboxStore.Outcome {
        guard !message.isOver else {
            log(.warning, "Gave up an expired message", message)
            return .abandoned
        }
        switch message.kind {
        case ProviderRevocation.kind:
            if let revocation: ProviderRevocation = read(message) { return await end(revocation, message) }
        case ForgottenTokens.kind:
            if let tokens: ForgottenTokens = read(message) { return try await forget(tokens, message) }
        case Mail.kind:
            if let mail: Mail = read(message) { return await send(mail, message) }
        case SMS.kind:
            if let sms: SMS = read(message) {
                return await handOver(message) { messenger, project throws(DeliveryError) in
                    try await messenger.send(sms, id: message.id, of: project, date: parts.now())
                }
            }
        case WebhookNotice.kind:
            if let notice: WebhookNotice = read(message) {
                return await handOver(message) { messenger, project throws(DeliveryError) in
                    try await messenger.send(notice, id: message.id, of: project, date: parts.now())
                }
            }
        default: break
        }
        log(.error, "A message cannot be read", message)
        return .abandoned
    }

    private func read<Payload: Decodable>(_ message: OutboxStore.Message) -> Payload? {
        message.payload.flatMap { try? JSONDecoder().decode(Payload.self, from: Data($0)) }
    }

    /// By the configuration as it is now: what is kept again stays.
    private func forget(
        _ tokens: ForgottenTokens,
        _ message: OutboxStore.Message
    ) async throws -> OutboxStore.Outcome {
        let scope = Scope(project: message.project, tenant: TenantID(rawValue: tokens.tenant))
        let configuration = parts.configuration.snapshot.provider(
            tokens.provider,
            project: scope.project,
            tenant: scope.tenant
        )
        var rest = tokens
        rest.after = try await parts.providerTokens.forget(
            tokens.provider,
            in: scope,
            keeping: parts.federation.tokenKeeping(configuration),
            after: tokens.after
        )
        return rest.after == nil ? .delivered : .partly(rest: Array(try JSONEncoder().encode(rest)))
    }

    private func end(_ revocation: ProviderRevocation, _ message: OutboxStore.Message) async -> OutboxStore.Outcome {
        // Whoever came back has granted anew, and most providers end all that a person granted to an app at once.
        guard !message.isLinkedAgain else {
            log(.info, "Kept a grant, because the identity is linked again", message)
            return .delivered
        }
        let found = parts.configuration.snapshot.provider(
            revocation.provider,
            project: message.project,
            tenant: TenantID(rawValue: revocation.tenant)
        )
        // It may come back, or be known to this node in a moment.
        guard let configuration = found else { return failed(message, .providerNotFound) }
        do {
            try await parts.federation.revoke(
                Secret(revocation.token),
                isRefreshToken: revocation.isRefreshToken,
                clientID: revocation.clientID,
                // What was granted is ended also where nobody signs in any more.
                with: configuration.switchedOn
            )
            log(.info, "Revoked a grant at its provider", message)
            return .delivered
        } catch {
            return failed(message, error)
        }
    }

    /// A token that the provider does not know needs no revocation; all else may pass, or an admin may mend it.
    private func failed(_ message: OutboxStore.Message, _ error: FederationError) -> OutboxStore.Outcome {
        if case .codeRejected = error {
            log(.info, "The grant was already revoked at its provider", message)
            return .delivered
        }
        return tryAgain(message, error)
    }

    func tryAgain(_ message: OutboxStore.Message, _ error: any Error) -> OutboxStore.Outcome {
        guard let delay = schedule.delay(afterAttempts: message.attempts) else {
            log(.error, "Gave up a message", message, error)
            return .abandoned
        }
        log(.warning, "A message will be retried", message, error)
        return .retry(at: parts.now().addingTimeInterval(delay))
    }

    func log(
        _ level: Logger.Level,
        _ text: Logger.Message,
        _ message: OutboxStore.Message,
        _ error: (any Error)? = nil
    ) {
        var metadata: Logger.Metadata = [
            "project.id": "\(message.project)", "message.id": "\(message.id)", "message.kind": "\(message.kind)",
            "message.attempts": "\(message.attempts)",
        ]
        if let trace = TraceContext.current { metadata["trace.id"] = "\(trace.id)" }
        if let error { metadata["error.type"] = "\(error)" }
        logger.log(level: level, text, metadata: metadata)
    }
}
