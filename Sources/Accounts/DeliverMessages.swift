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

/// Delivers the messages in the outbox, on all nodes in parallel, each message by one node at a time.
package struct DeliverMessages: Service {
    let parts: Parts
    let logger: Logger
    var schedule = RetrySchedule.standard
    /// The outcomes of this node's delivery attempts, since the start.
    package let outcomes = Tally<Delivery>()
    /// Whether the mail server, or its substitute, refused the last email.
    package let mailServer = Latest()

    package struct Delivery: Hashable, Sendable {
        package var kind: String
        package var outcome: String
    }

    package init(_ parts: Parts, logger: Logger) {
        self.parts = parts
        self.logger = logger
    }

    /// Seconds within which a node must finish a message that it took.
    ///
    /// A mail server may be slow; an endpoint has ten seconds. The lease for SMS is short, so that users wait no longer
    /// if the sending node dies.
    private static func lease(_ lane: OutboxStore.Selection) -> TimeInterval {
        switch lane {
        case .only: 120
        case .allBut: 20
        }
    }

    /// Kinds of messages that are delivered in parallel, so that a stalled mail server delays nothing else.
    private var lanes: [OutboxStore.Selection] {
        [.allBut(Mail.kind)] + (parts.mailer == nil && parts.messenger == nil ? [] : [.only(Mail.kind)])
    }

    /// Checks every two seconds until stopped.
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

    /// Attempts every message that is due.
    ///
    /// - Returns: the number of attempts.
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
            await withTaskGroup(of: Void.self) { group in
                for message in messages { group.addTask { await attempt(message) } }
            }
            tried += messages.count
        }
    }

    /// Delivers one message, independently of the others; after an error it is due again when its lease ends.
    private func attempt(_ message: OutboxStore.Message) async {
        await RequestContext.with({ $0.trace = message.trace ?? TraceContext() }) {
            do {
                let outcome = try await deliver(message)
                count(outcome, of: message.kind)
                try await parts.stores.outbox.settle(message, outcome, now: parts.now())
            } catch {
                log(.warning, "The outcome of a delivery could not be stored", message, error)
            }
        }
    }

    /// Kinds that this node leaves to other nodes, or to the developer in `identity dev`.
    private var waiting: [String] {
        guard parts.messenger != nil else {
            return [SMS.kind, WebhookNotice.kind] + (parts.mailer == nil ? [Mail.kind] : [])
        }
        return (parts.mailer == nil ? [Mail.kind] : []) + (parts.development ? [SMS.kind] : [])
    }

    /// Emails that need no mail server because their project's webhook sends them.
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

    /// Uses the current configuration: tokens that are stored again stay.
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
        // The user has linked again and so granted anew, and most providers revoke all of a user's grants for an app
        // together.
        guard !message.isLinkedAgain else {
            log(.info, "Kept a grant, because the identity is linked again", message)
            return .delivered
        }
        let found = parts.configuration.snapshot.provider(
            revocation.provider,
            project: message.project,
            tenant: TenantID(rawValue: revocation.tenant)
        )
        // The provider may be configured again, or this node may learn of it in a moment.
        guard let configuration = found else { return failed(message, .providerNotFound) }
        do {
            try await parts.federation.revoke(
                Secret(revocation.token),
                isRefreshToken: revocation.isRefreshToken,
                clientID: revocation.clientID,
                // Grants are also revoked if sign-in with the provider is disabled.
                with: configuration.switchedOn
            )
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
        if let trace = RequestContext.current.trace { metadata["trace.id"] = "\(trace.id)" }
        if let error { metadata["error.type"] = "\(error)" }
        logger.log(level: level, text, metadata: metadata)
    }
}
