import Accounts
import Domain
import Foundation
import HTTPTypes
import Projects
package import Storage

/// `projects/{p}/auditEntries`: the audit log.
struct AuditRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [
            Route(
                .get,
                "/v1/projects/{project}/auditEntries",
                query: ["localId", "action", "actor", "providerId", "since", "until", "pageSize", "pageToken"],
                .admin(.readAccounts, list)
            )
        ]
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let items = call.call.query
        var query = AuditQuery()
        query.account = try items.value("localId").map { AccountID($0) }
        query.provider = try items.value("providerId").map { ProviderID($0) }
        query.actor = try items.value("actor")
        query.action = try items.value("action").map { name in
            guard let action = AuditAction(rawValue: name) else {
                throw WireError("INVALID_ARGUMENT", "The action is unknown.")
            }
            return action
        }
        query.since = try Self.date(items.value("since"))
        query.until = try Self.date(items.value("until"))
        if call.tenant != .none { query.tenant = call.tenant }
        let size = try call.pageSize("pageSize", default: 100, maximum: ListAuditEntries.limit)
        let page = try await accounts.listAuditEntries(
            query,
            call.project,
            after: try items.value("pageToken"),
            size: max(size, 1)
        )
        return .json { json in
            json.array("auditEntries") { json in
                for entry in page.entries { json.object { $0.auditEntry(entry) } }
            }
            if let next = page.nextPageToken { json.member("nextPageToken", next) }
        }
    }

    /// RFC 3339, in UTC.
    private static func date(_ text: String?) throws -> Date? {
        guard let text else { return nil }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw WireError("INVALID_ARGUMENT", "since and until must be times such as 2026-01-31T12:00:00Z.")
        }
        return date
    }
}

extension JSONWriter {
    package mutating func auditEntry(_ entry: RecordedChange) {
        member("entryId", entry.id)
        member("recordedAt", entry.recordedAt.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        member("action", entry.action)
        member("actor", entry.actor)
        if let account = entry.account { member("localId", account.rawValue) }
        if let provider = entry.provider { member("providerId", provider.rawValue) }
        if let resource = entry.resource { member("resource", resource) }
        if entry.tenant != .none { member("tenantId", entry.tenant.rawValue) }
        if !entry.changes.isEmpty {
            member("changes", strings: entry.changes)
        }
        if let prefix = entry.addressPrefix { member("addressPrefix", prefix) }
        if let request = entry.request { member("requestId", request) }
        if let operation = entry.operation { member("operation", operation) }
        if let reason = entry.reason { member("reason", reason) }
    }
}
