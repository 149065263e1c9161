import Administration
import HTTPTypes
import OAuth
import Projects
import Secrets
import StrictJSON

/// `projects/{p}/oauthClients`: the applications that sign in with a project's accounts.
///
/// The members are those of RFC 7591, as clients write them everywhere, and `trusted`.
struct OAuthClientRoutes {
    let clients: ManageOAuthClients

    var routes: [Route] {
        let path = "/v2/projects/{project}/oauthClients"
        return [
            Route(
                .get,
                path,
                errors: .status,
                query: ["pageSize", "pageToken"],
                isInTenants: false,
                .admin(.manageConfiguration, list)
            ),
            Route(.post, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, create)),
            Route(.get, path + "/{client}", errors: .status, isInTenants: false, .admin(.manageConfiguration, get)),
            Route(
                .patch,
                path + "/{client}",
                errors: .status,
                query: ["updateMask"],
                isInTenants: false,
                .admin(.manageConfiguration, patch)
            ),
            Route(
                .delete,
                path + "/{client}",
                errors: .status,
                isInTenants: false,
                .admin(.manageConfiguration, delete)
            ),
        ]
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let size = try call.pageSize("pageSize", default: 100, maximum: 1000)
        let limit = size == 0 ? 100 : size
        let after = try call.call.query.value("pageToken")
        let listed = try await clients.list(of: call.project.id, after: after, limit: limit + 1)
        let page = listed.prefix(limit)
        return .json { json in
            guard !page.isEmpty else { return }
            json.array("clients") { json in
                for client in page { json.object { $0.managedClient(client) } }
            }
            if page.count < listed.count { json.member("nextPageToken", page.last?.id) }
        }
    }

    private func get(_ call: AdminCall) async throws -> Response {
        let client = try await clients.find(call.call.parameter("client"), of: call.project.id)
        return .json { $0.managedClient(client) }
    }

    private func create(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let created = try await clients.create(
            JSONObject(body.members),
            isTrusted: try body.bool("trusted") ?? false,
            in: call.project.id
        )
        return .json { json in
            json.managedClient(created.client)
            json.member("client_secret", created.secret?.reveal())
        }
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        // The members of the body are the ones that change, as in a JSON merge patch.
        guard try call.call.query.value("updateMask") == nil else {
            throw WireError.invalidRequest(
                "The updateMask is not supported: the members of the body are changed",
                field: "update_mask"
            )
        }
        let body = try call.json()
        let client = try await clients.change(
            call.call.parameter("client"),
            JSONObject(body.members),
            isTrusted: try body.bool("trusted"),
            of: call.project.id
        )
        return .json { $0.managedClient(client) }
    }

    private func delete(_ call: AdminCall) async throws -> Response {
        try await clients.delete(call.call.parameter("client"), of: call.project.id)
        return .json { _ in }
    }
}

extension JSONWriter {
    /// The members of RFC 7591 §3.2.1, as the client itself may see them.
    mutating func client(_ client: OAuthClient) {
        member("client_id", client.id)
        for member in client.metadata.members {
            name(member.name)
            value(member.value)
        }
    }

    /// The same for an admin.
    fileprivate mutating func managedClient(_ client: OAuthClient) {
        self.client(client)
        member("trusted", client.isTrusted)
        member("origin", client.origin.rawValue)
    }
}
