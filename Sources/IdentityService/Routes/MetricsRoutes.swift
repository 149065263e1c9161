import Foundation
import HTTPTypes
import Prometheus
import NIOCore
import Passwords
import Postgres
import Storage

/// Prometheus's page: requests by operation and outcome, the database's connections, batches, password hashes, load.
struct MetricsRoutes {
    let measured: [Route]
    let unmatched: RouteMeter
    let load: ServerLoad
    let stores: Stores
    let passwords: PasswordHasher

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
                        body: ByteBuffer(string: page())
                    )
                }
            )
        ]
    }

    func page() -> String {
        var text = MetricsText()
        writeRequests(to: &text)
        writeLoad(to: &text)
        writeDatabase(to: &text)
        writePasswords(to: &text)
        return text.text
    }

    private func writeRequests(to text: inout MetricsText) {
        let meters =
            measured.map { (method: $0.method.rawValue, path: $0.path, counts: $0.meter.counts) }
            + [(method: "", path: "", counts: unmatched.counts)]
        text.family(
            "http_server_request_duration_seconds",
            .histogram,
            "Time from a request's last byte to its answer; without a route for unknown paths."
        )
        for meter in meters {
            for (status, durations) in meter.counts.durations.sorted(by: { $0.key < $1.key }) {
                text.samples(
                    "http_server_request_duration_seconds",
                    [
                        "http_request_method": meter.method, "http_route": meter.path,
                        "http_response_status_code": "\(status)",
                    ],
                    durations
                )
            }
        }
        text.family("identity_errors_total", .counter, "Requests that were refused or failed, by the error's code.")
        for meter in meters {
            for (code, count) in meter.counts.errors.sorted(by: { $0.key < $1.key }) {
                text.sample("identity_errors_total", ["http_route": meter.path, "code": code], value: count)
            }
        }
    }

    private func writeLoad(to text: inout MetricsText) {
        text.family("identity_http_connections", .gauge, "Open connections of clients.", value: load.connections)
        text.family(
            "identity_http_requests_in_flight",
            .gauge,
            "Requests that are being answered.",
            value: load.requestsInFlight
        )
        text.family("identity_http_body_bytes", .gauge, "Bytes of request bodies that are held.", value: load.heldBytes)
    }

    private func writeDatabase(to text: inout MetricsText) {
        let pool = stores.database.load
        text.family("identity_postgres_connections", .gauge, "Connections to PostgreSQL, by what they do.")
        text.sample("identity_postgres_connections", ["state": "idle"], value: pool.idle)
        text.sample("identity_postgres_connections", ["state": "busy"], value: pool.connected - pool.idle)
        text.family(
            "identity_postgres_connections_max",
            .gauge,
            "Connections that there may be.",
            value: stores.database.connections
        )
        text.family(
            "identity_postgres_waiting",
            .gauge,
            "Statements and transactions that wait for a connection.",
            value: pool.waiting
        )
        text.family(
            "identity_postgres_jobs_total",
            .counter,
            "Statements and transactions that were begun.",
            value: pool.begun
        )
        text.family(
            "identity_postgres_refused_total",
            .counter,
            "Statements that found no database or a full queue.",
            value: pool.refused
        )
        let batches = stores.batchCounts
        text.family("identity_batch_size", .histogram, "Questions that shared a statement.")
        for (name, counts) in batches { text.samples("identity_batch_size", ["batch": name], counts.sizes) }
        text.family("identity_batch_waiting", .gauge, "Questions that wait for a batch.")
        for (name, counts) in batches { text.sample("identity_batch_waiting", ["batch": name], value: counts.waiting) }
        text.family("identity_batch_wait_seconds", .histogram, "Time that a question waited for its batch to begin.")
        for (name, counts) in batches { text.samples("identity_batch_wait_seconds", ["batch": name], counts.waits) }
    }

    private func writePasswords(to text: inout MetricsText) {
        text.family(
            "identity_password_hashes_in_flight",
            .gauge,
            "Password hashes that run or wait.",
            value: passwords.load
        )
        text.family(
            "identity_password_hashes_max",
            .gauge,
            "Password hashes that may run or wait.",
            value: passwords.capacity
        )
        text.family(
            "identity_password_hashes_total",
            .counter,
            "Password hashes that were asked for and admitted.",
            value: passwords.begun
        )
        text.family(
            "identity_password_hashes_refused_total",
            .counter,
            "Password hashes that found a full queue.",
            value: passwords.refused
        )
    }
}
