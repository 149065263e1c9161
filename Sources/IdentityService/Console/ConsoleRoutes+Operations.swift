import Accounts
import Federation
import HTTPTypes
import Projects
import Prometheus
import Sessions
import Storage

import struct Foundation.Date

/// A node's knowledge of the deployment, apart from its configuration.
struct ConsoleOperations: Sendable {
    /// Adds this node's sign-in counts to the database.
    var saveCounts: @Sendable () async -> Void
    /// The pending messages of all nodes.
    var backlog: @Sendable () async throws -> [Stores.Backlog]
    /// The messages that are due next.
    var waitingMessages: @Sendable () async throws -> [Stores.WaitingMessage]
    /// The webhooks of a project that were given up last, and one more than a page shows.
    var webhooksGivenUp: @Sendable (ProjectID) async throws -> [OutboxStore.GivenUp]
    /// Makes all of them due again.
    var resendWebhooks: @Sendable (ProjectID) async throws -> Int
    /// The findings of `identity check` for a project.
    var findings: @Sendable (Project) -> [ConfigurationFinding]
    /// Whether this node's last email failed, for a reason that is not its recipient.
    var mailFails: @Sendable () -> Bool
    /// The providers that did not respond to this node's last request.
    var failingProviders: @Sendable () -> [String]

    init(_ accounts: AccountsService, _ deliveries: DeliverMessages, _ counts: SaveSignInCounts) {
        let stores = accounts.stores
        saveCounts = counts.save
        backlog = { try await stores.backlog() }
        waitingMessages = { try await stores.waitingMessages(50) }
        webhooksGivenUp = { try await stores.outbox.givenUp(of: $0, limit: ConsoleRoutes.webhooksShown + 1) }
        resendWebhooks = { try await stores.outbox.resend(nil, of: $0, now: stores.configuration.now()) }
        let check = ConfigurationCheck(
            isDevelopment: accounts.options.development,
            allowsLoopback: accounts.federation.allowsLoopback,
            deployment: accounts.deployment,
            sendsMail: accounts.options.mailer != nil,
            knowsLeakedPasswords: accounts.options.leakedPasswords != nil
        )
        findings = { check($0, in: stores.configuration.snapshot, at: stores.configuration.now()) }
        mailFails = { deliveries.mailServer.fails }
        failingProviders = { accounts.federation.calls.failing.names }
    }
}

/// The deployment's page: signing keys, the outbox, and the state of external services.
extension ConsoleRoutes {
    static let operationsPath = "/console/operations"

    var operationsRoutes: [Route] { [page(Self.operationsPath, showOperations)] }

    @Sendable private func showOperations(_ visit: ConsoleVisit) async throws -> ConsolePage {
        guard visit.seesDeployment else { throw WireError.forbidden }
        let now = configuration.now()
        let waiting = try await operations.backlog()
        let messages = waiting.isEmpty ? [] : try await operations.waitingMessages()
        return ConsolePage(
            "Operations",
            "\(html: [neighbours, outbox(waiting, messages), signingKeys(Int64(now.timeIntervalSince1970))])",
            visit: visit
        )
    }

    /// The state of the mail server and the providers, from this node's last requests.
    private var neighbours: HTML {
        let providers = operations.failingProviders().joined(separator: ", ")
        let mail: HTML =
            operations.mailFails()
            ? "<span class=\"tag warning\">refuses emails</span> They stay in the outbox and are retried."
            : "works, as far as this node knows"
        let answering: HTML =
            providers.isEmpty
            ? "respond, as far as this node knows"
            : "<span class=\"tag warning\">\(providers)</span> did not respond to this node's last request."
        let facts: [(name: String, value: HTML?)] = [("Mail server", mail), ("Identity providers", answering)]
        return ConsoleText.section("neighbours", "External services", ConsoleText.facts(facts))
    }

    private func outbox(_ waiting: [Stores.Backlog], _ messages: [Stores.WaitingMessage]) -> HTML {
        let rows = waiting.map { backlog -> [HTML] in
            ["\(backlog.kind)", "\(String(backlog.messages))", ConsoleText.time(backlog.oldest)]
        }
        let next = messages.map { message -> [HTML] in
            [
                "\(message.kind)", "\(message.project)", ConsoleText.time(message.createdAt),
                "\(String(message.attempts))", ConsoleText.time(message.nextAttemptAt),
            ]
        }
        let heads = ["Kind", "Project", "Created", "Attempts", "Next attempt"]
        let table = ConsoleText.table("Outbox", ["Kind", "Pending", "Oldest created"], rows)
        let tables = table.map { "\(html: $0)\(html: ConsoleText.table("Next messages", heads, next))" as HTML }
        return ConsoleText.section(
            "outbox",
            "Outbox",
            tables,
            else: "The outbox is empty: all emails, SMS, webhooks and revocations are delivered."
        )
    }

    private func signingKeys(_ now: Int64) -> HTML {
        let timeline = configuration.signingKeyTimeline
        func time(_ seconds: Int64?) -> HTML {
            seconds.map { ConsoleText.time(Date(timeIntervalSince1970: Double($0))) } ?? "–"
        }
        let rows = timeline.keys.map { key -> [HTML] in
            [
                "<code>\(key.kid)</code>", "\(key.slot.purpose.rawValue) \(key.slot.algorithm.rawValue)",
                "\(timeline.state(of: key, at: now).rawValue)", time(key.activeFrom), time(timeline.end(of: key)),
                time(timeline.removal(of: key)),
            ]
        }
        let heads = ["Key", "Signs", "State", "Signs from", "Signs until", "Published until"]
        return ConsoleText.section(
            "keys",
            "Signing keys",
            ConsoleText.table("Signing keys", heads, rows),
            else: "No signing keys yet. A node creates them when it starts."
        )
    }
}

extension ConsoleVisit {
    /// Admins of a single project cannot see the deployment.
    var seesDeployment: Bool { session.admin.project == nil && may(.manageConfiguration) }
}
