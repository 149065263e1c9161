import Accounts
import Domain
import HTTPTypes
import Projects
import Sessions
import Storage

/// `projects/{p}/revocations`: the revocation feed for resource servers.
struct RevocationRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [
            Route(
                .get,
                "/v1/projects/{project}/revocations",
                query: ["cursor", "tokenLifetime", "pageSize"],
                isInTenants: false,
                .admin(.readAccounts, list)
            )
        ]
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let query = call.call.query
        let size = try call.pageSize("pageSize", default: ListRevocations.limit, maximum: ListRevocations.limit)
        let page = try await accounts.listRevocations(
            call.project,
            after: try query.value("cursor"),
            lifetime: try Self.lifetime(query.value("tokenLifetime")),
            size: max(size, 1)
        )
        return .json { json in
            json.array("revocations") { json in
                for revocation in page.revocations { json.object { $0.revocation(revocation) } }
            }
            json.member("cursor", page.cursor)
            json.member("hasMore", page.hasMore)
        }
    }

    /// Seconds, or seconds with an `s` as in Firebase's durations.
    private static func lifetime(_ text: String?) throws -> Int64 {
        guard let text else { return 3600 }
        guard let seconds = Int64(text.hasSuffix("s") ? text.dropLast() : text[...]),
            ListRevocations.lifetimes.contains(seconds)
        else { throw WireError("INVALID_DURATION") }
        return seconds
    }
}

extension JSONWriter {
    fileprivate mutating func revocation(_ revocation: Revocation) {
        // The ID is the same for repeated reads of a revocation, and differs for a new one.
        switch revocation.subject {
        case .session(let session, let account):
            member("eventId", "session.\(session)")
            member("type", "SESSION_REVOKED")
            member("localId", account.rawValue)
            member("sessionId", session.rawValue)
        case .account(let account):
            let tenant = revocation.tenant == .none ? "" : "@\(revocation.tenant)"
            member("eventId", "account\(tenant).\(account).\(revocation.revokedAt.milliseconds)")
            member("type", "ACCOUNT_DISABLED")
            member("localId", account.rawValue)
        case .tenant:
            member("eventId", "tenant.\(revocation.tenant)")
            member("type", "TENANT_DELETED")
        }
        if revocation.tenant != .none { member("tenantId", revocation.tenant.rawValue) }
        member("revokedAt", int64: revocation.revokedAt.milliseconds)
    }
}
