import Accounts
import Domain
import HTTPTypes
import Projects
import Storage

/// Queries about all accounts of a project, and counts of their sign-in methods.
struct QueryAccountsRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [
            Route(.post, "/v1/projects/{project}/accounts:query", .admin(.readAccounts, query)),
            Route(.post, "/v1/projects/{project}:queryAccounts", .admin(.readAccounts, query)),
            Route(.get, "/v1/projects/{project}/providers:stats", .admin(.readAccounts, statistics)),
        ]
    }

    private func query(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let query = try AccountQuery(body)
        let selection = try AccountSelection(body, query)
        guard try body.bool("returnUserInfo") ?? true else {
            let count = try await accounts.queryAccounts.count(query, call.project)
            return .json { $0.member("recordsCount", int64: count) }
        }
        let page =
            switch selection {
            case .range(let offset, let limit):
                try await accounts.queryAccounts.list(query, offset: offset, limit: limit, call.project)
            case .page(let token, let size):
                try await accounts.queryAccounts.page(query, after: token, size: size, call.project)
            }
        return .json { json in
            json.member("recordsCount", int64: Int64(page.accounts.count))
            if !page.accounts.isEmpty {
                json.array("userInfo") { json in
                    for account in page.accounts { json.object { $0.account(account, for: .admin, in: call.tenant) } }
                }
            }
            json.member("nextPageToken", page.nextPageToken)
        }
    }

    private func statistics(_ call: AdminCall) async throws -> Response {
        let rows = try await accounts.countProviders(call.project)
        return .json { json in
            json.array("providers") { json in
                for row in rows {
                    json.object { json in
                        json.member("providerId", row.provider.rawValue)
                        json.member("enabled", row.isEnabled)
                        json.member("accounts", int64: row.accounts)
                        json.member("dependentAccounts", int64: row.dependentAccounts)
                        json.member("lastUsedAt", int64: row.lastUsedAt?.milliseconds)
                    }
                }
            }
        }
    }
}
