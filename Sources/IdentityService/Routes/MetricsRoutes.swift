import Accounts
import Delivery
import Domain
import Federation
import Foundation
import HTTPTypes
import NIOCore
import Passwords
import Postgres
import Projects
import Prometheus
import Storage

/// The metrics for Prometheus; docs/operations/observability.md explains each of them.
///
/// No label has an external value: IDs, addresses and texts of requests create no series.
struct MetricsRoutes {
    let measured: [Route]
    let unmatched: RouteMeter
    let load: ServerLoad
    let accounts: AccountsService
    let events: AccountEvents
    let deliveries: DeliverMessages
    let readiness: Readiness
    let droppedLogLines: @Sendable () -> UInt64
    private let backlog: SharedLook<[Stores.Backlog]?>

    init(
        _ accounts: AccountsService,
        measured: [Route],
        unmatched: RouteMeter,
        load: ServerLoad,
        events: AccountEvents,
        deliveries: DeliverMessages,
        readiness: Readiness,
        databaseCheck: Duration,
        droppedLogLines: @escaping @Sendable () -> UInt64
    ) {
        self.accounts = accounts
        self.measured = measured
        self.unmatched = unmatched
        self.load = load
        self.events = events
        self.deliveries = deliveries
        self.readiness = readiness
        self.droppedLogLines = droppedLogLines
        // However many readers there are, the database is queried every five seconds, and if it does not respond, no
        // reader waits.
        backlog = SharedLook(within: databaseCheck, lifetime: .seconds(5), otherwise: { nil }) {
            try? await accounts.stores.backlog()
        }
    }

    var routes: [Route] {
        [
            Route(
                .get,
                "/metrics",
                on: .service,
                errors: .status,
                .open { _ in
                    Response(
                        status: .ok,
                        headers: [.contentType: MetricsText.contentType, .cacheControl: "no-store"],
                        body: ByteBuffer(string: await page())
                    )
                }
            )
        ]
    }

    func page() async -> String {
        var text = MetricsText()
        writeRequests(to: &text)
        writeAccounts(to: &text)
        writeOthers(to: &text)
        writeLoad(to: &text)
        writeDatabase(to: &text)
        writePasswords(to: &text)
        writeBacklog(await backlog.value(), to: &text)
        writeReadiness(await readiness.checks() + readiness.dependencies(), to: &text)
        writeProcess(to: &text)
        return text.text
    }

    private func writeRequests(to text: inout MetricsText) {
        let meters =
            measured.map { (method: $0.method.rawValue, path: $0.path, counts: $0.meter.counts) }
            + [(method: "", path: "", counts: unmatched.counts)]
        text.family(
            "http_server_request_duration_seconds",
            .histogram,
            "Time from a request's last byte to its response; without a route for unknown paths."
        )
        for meter in meters {
            let durations = meter.counts.durations
            // What alerts ask for is there before the first one: Prometheus sees no increase where a series begins.
            for status in Set(durations.keys).union([500, 503]).sorted() {
                let labels: MetricsText.Labels = [
                    "http_request_method": meter.method, "http_route": meter.path,
                    "http_response_status_code": "\(status)",
                ]
                if let durations = durations[status] {
                    text.samples("http_server_request_duration_seconds", labels, durations)
                } else {
                    text.noSamples("http_server_request_duration_seconds", labels)
                }
            }
        }
        text.family("identity_errors_total", .counter, "Requests that were refused or failed, by error code.")
        for meter in meters {
            for (code, count) in meter.counts.errors.sorted(by: { $0.key < $1.key }) {
                text.sample("identity_errors_total", ["http_route": meter.path, "code": code], value: count)
            }
        }
    }

    private func writeAccounts(to text: inout MetricsText) {
        text.family("identity_sign_ins_total", .counter, "Sign-ins by outcome and by provider or method.")
        let signIns = events.signIns.counts
        let methods = [ProviderID.anonymous, .custom, .emailLink, .passkey, .password, .phone].map(\.rawValue)
        for provider in Set(methods + ProviderID.federatedFamilies + signIns.keys.map(\.provider)).sorted() {
            for outcome in AccountEvents.Outcome.allCases {
                let count = signIns[AccountEvents.SignIn(provider: provider, outcome: outcome)] ?? 0
                text.sample(
                    "identity_sign_ins_total",
                    ["provider": provider, "outcome": outcome.rawValue],
                    value: count
                )
            }
        }
        text.family(
            "identity_conflicts_total",
            .counter,
            "Account conflicts: raised, and how they ended."
        )
        let conflicts = events.conflicts.counts
        for outcome in AccountEvents.Conflict.allCases {
            text.sample("identity_conflicts_total", ["outcome": outcome.rawValue], value: conflicts[outcome] ?? 0)
        }
    }

    private func writeOthers(to text: inout MetricsText) {
        text.family(
            "identity_provider_request_duration_seconds",
            .histogram,
            "Duration of requests to identity providers."
        )
        let calls = accounts.federation.calls.timings.histograms
        for provider in ProviderID.federatedFamilies {
            for outcome in ProviderCalls.Outcome.allCases {
                let labels: MetricsText.Labels = ["provider": provider, "outcome": outcome.rawValue]
                if let durations = calls[ProviderCalls.Key(provider: provider, outcome: outcome)] {
                    text.samples("identity_provider_request_duration_seconds", labels, durations)
                } else {
                    text.noSamples("identity_provider_request_duration_seconds", labels)
                }
            }
        }
        text.family(
            "identity_function_request_duration_seconds",
            .histogram,
            "Duration of calls to blocking functions."
        )
        let functions = accounts.options.functions?.calls.histograms ?? [:]
        for event in BlockingFunctions.Event.allCases {
            for outcome in FunctionCaller.Outcome.allCases {
                let labels: MetricsText.Labels = ["event": event.rawValue, "outcome": outcome.rawValue]
                if let durations = functions[FunctionCaller.Call(event: event, outcome: outcome)] {
                    text.samples("identity_function_request_duration_seconds", labels, durations)
                } else {
                    text.noSamples("identity_function_request_duration_seconds", labels)
                }
            }
        }
        text.family("identity_deliveries_total", .counter, "This node's attempts to deliver messages from the outbox.")
        let outcomes = deliveries.outcomes.counts
        for key in DeliverMessages.Delivery.all {
            text.sample(
                "identity_deliveries_total",
                ["kind": key.kind, "outcome": key.outcome.rawValue],
                value: outcomes[key] ?? 0
            )
        }
    }

    private func writeLoad(to text: inout MetricsText) {
        text.family("identity_http_connections", .gauge, "Open client connections.", value: load.connections)
        text.family(
            "identity_http_requests_in_flight",
            .gauge,
            "Requests in progress.",
            value: load.requestsInFlight
        )
        text.family("identity_http_body_bytes", .gauge, "Bytes of request bodies in memory.", value: load.heldBytes)
    }

    private func writeDatabase(to text: inout MetricsText) {
        let pool = accounts.stores.database.load
        text.family("identity_postgres_connections", .gauge, "Connections to PostgreSQL, by state.")
        text.sample("identity_postgres_connections", ["state": "idle"], value: pool.idle)
        text.sample("identity_postgres_connections", ["state": "busy"], value: pool.connected - pool.idle)
        text.family(
            "identity_postgres_connections_max",
            .gauge,
            "Maximum number of connections.",
            value: accounts.stores.database.connections
        )
        text.family(
            "identity_postgres_waiting",
            .gauge,
            "Statements and transactions waiting for a connection.",
            value: pool.waiting
        )
        text.family(
            "identity_postgres_jobs_total",
            .counter,
            "Statements and transactions started.",
            value: pool.begun
        )
        text.family(
            "identity_postgres_round_trips_total",
            .counter,
            "Waits for an answer of PostgreSQL.",
            value: pool.roundTrips
        )
        text.family(
            "identity_postgres_refused_total",
            .counter,
            "Statements refused because of no connection or a full queue.",
            value: pool.refused
        )
        text.family(
            "identity_postgres_wait_seconds",
            .histogram,
            "Time that statements and transactions waited for a connection."
        )
        text.samples("identity_postgres_wait_seconds", [:], pool.waits)
        text.family(
            "identity_configuration_age_seconds",
            .gauge,
            "Time since the node last knew that its configuration was current.",
            value: accounts.stores.configuration.age.seconds
        )
        text.family(
            "identity_configuration_losses_total",
            .counter,
            "How often the database had lost changes of the configuration that the node knew.",
            value: accounts.stores.configuration.losses
        )
        let batches = accounts.stores.batchCounts
        text.family("identity_batch_size", .histogram, "Requests that shared one statement.")
        for (name, counts) in batches { text.samples("identity_batch_size", ["batch": name], counts.sizes) }
        text.family("identity_batch_waiting", .gauge, "Requests waiting for a batch.")
        for (name, counts) in batches { text.sample("identity_batch_waiting", ["batch": name], value: counts.waiting) }
        text.family("identity_batch_wait_seconds", .histogram, "Time that a request waited for its batch to start.")
        for (name, counts) in batches { text.samples("identity_batch_wait_seconds", ["batch": name], counts.waits) }
    }

    private func writePasswords(to text: inout MetricsText) {
        text.family(
            "identity_password_hashes_in_flight",
            .gauge,
            "Password hashes running or waiting.",
            value: accounts.passwords.load
        )
        text.family(
            "identity_password_hashes_max",
            .gauge,
            "Maximum number of password hashes running or waiting.",
            value: accounts.passwords.capacity
        )
        text.family(
            "identity_password_hashes_total",
            .counter,
            "Password hashes admitted.",
            value: accounts.passwords.begun
        )
        text.family(
            "identity_password_hashes_refused_total",
            .counter,
            "Password hashes refused because of a full queue.",
            value: accounts.passwords.refused
        )
    }

    private func writeBacklog(_ backlog: [Stores.Backlog]?, to text: inout MetricsText) {
        // Without the database the number is unknown, and a missing sample shows that better than an old one.
        text.family("identity_outbox_messages", .gauge, "Pending messages of all nodes, at most ten thousand.")
        for waiting in backlog ?? [] {
            text.sample("identity_outbox_messages", ["kind": waiting.kind], value: waiting.messages)
        }
        text.family("identity_outbox_oldest_seconds", .gauge, "Age of the oldest pending message.")
        for waiting in backlog ?? [] {
            text.sample(
                "identity_outbox_oldest_seconds",
                ["kind": waiting.kind],
                value: max(0, accounts.clock().timeIntervalSince(waiting.oldest))
            )
        }
    }

    private func writeReadiness(_ checks: [Readiness.Check], to text: inout MetricsText) {
        text.family("identity_ready", .gauge, "Result of each check of /readyz, 1 or 0.")
        for check in checks {
            text.sample("identity_ready", ["check": check.name], value: check.outcome == .ok ? 1 : 0)
        }
        text.family(
            "identity_time_seconds",
            .gauge,
            "The node's clock, in seconds since 1970.",
            value: accounts.clock().timeIntervalSince1970
        )
        text.family("identity_build_info", .gauge, "The running release; always 1.")
        text.sample("identity_build_info", ["version": Release.version], value: 1)
    }

    private func writeProcess(to text: inout MetricsText) {
        text.family(
            "identity_log_lines_dropped_total",
            .counter,
            "Lines of the log that were dropped because its reader stalled.",
            value: droppedLogLines()
        )
        guard let figures = ProcessFigures() else { return }
        text.family(
            "process_cpu_seconds_total",
            .counter,
            "CPU time of the process.",
            value: figures.cpuSeconds
        )
        text.family(
            "process_resident_memory_bytes",
            .gauge,
            "Resident memory of the process.",
            value: figures.residentBytes
        )
        text.family("process_open_fds", .gauge, "Open files and connections.", value: figures.openFiles)
        if let maximum = figures.maximumFiles {
            text.family("process_max_fds", .gauge, "Maximum number of open files and connections.", value: maximum)
        }
        if let start = ProcessFigures.startTime {
            text.family(
                "process_start_time_seconds",
                .gauge,
                "Start time of the process, in seconds since 1970.",
                value: start
            )
        }
    }
}
