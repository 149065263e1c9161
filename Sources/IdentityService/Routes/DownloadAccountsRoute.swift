import Accounts
import HTTPTypes
import Projects

/// `downloadAccount` of v3: `accounts:batchGet` with its parameters in the body.
struct DownloadAccountsRoute {
    let admin: AdminAccountRoutes

    var routes: [Route] {
        let path = "/identitytoolkit/v3/relyingparty/downloadAccount"
        return [Route(.post, path, on: .googleAPIs, .admin(.readAccounts, download))]
    }

    private func download(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let size = try body.int64("maxResults") ?? 20
        guard size >= 0 else { throw AccountsError.invalidPage }
        return try await admin.page(size: Int(min(size, 1000)), after: try body.string("nextPageToken"), call)
    }
}
