import Accounts
import HTTPTypes
import OAuth
import Projects
import Secrets
import Storage
import StrictJSON

/// Clients that register themselves (RFC 7591, RFC 7592).
struct OAuthRegistrationRoutes {
    let accounts: AccountsService
    let configuration: ConfigurationStore
    let deployment: Deployment

    var routes: [Route] {
        let path = ProviderMetadata.Endpoint.register.path
        return [
            Route(.post, path, on: .service, errors: .oauth, .open(register)),
            Route(.get, path + "/{client}", on: .service, errors: .oauth, .open(read)),
            Route(.put, path + "/{client}", on: .service, errors: .oauth, .open(replace)),
            Route(.delete, path + "/{client}", on: .service, errors: .oauth, .open(delete)),
        ]
    }

    private func register(_ call: Call) async throws -> Response {
        let caller = try caller(call)
        try requireOwnPage(call, caller)
        let registered = try await accounts.registerClient(try Self.metadata(call), caller)
        var response = Response.json { json in
            write(registered.client, caller, to: &json)
            json.member("client_secret", registered.secret?.reveal())
            // It does not expire (§3.2.1).
            if registered.secret != nil { json.member("client_secret_expires_at", number: 0) }
            json.member("registration_access_token", registered.registrationToken?.reveal())
        }
        response.status = .created
        return response
    }

    private func read(_ call: Call) async throws -> Response {
        let caller = try caller(call)
        let client = try await accounts.registerClient.find(call.parameter("client"), token: call.bearer, caller)
        return response(client, call, caller)
    }

    private func replace(_ call: Call) async throws -> Response {
        let caller = try caller(call)
        let client = try await accounts.registerClient.replace(
            call.parameter("client"),
            Self.metadata(call),
            token: call.bearer,
            caller
        )
        return response(client, call, caller)
    }

    /// RFC 7592 §3: with the token that came, which stays valid.
    private func response(_ client: OAuthClient, _ call: Call, _ caller: Caller) -> Response {
        .json { json in
            write(client, caller, to: &json)
            json.member("registration_access_token", call.bearer?.reveal())
        }
    }

    private func delete(_ call: Call) async throws -> Response {
        try await accounts.registerClient.delete(call.parameter("client"), token: call.bearer, try caller(call))
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    private func write(_ client: OAuthClient, _ caller: Caller, to json: inout JSONWriter) {
        json.client(client)
        if let issuer = deployment.publicURL(of: caller.project)?.issuer(of: caller.project.id) {
            let path = ProviderMetadata.Endpoint.register.rawValue
            json.member("registration_client_uri", "\(issuer)\(path)/\(client.id)")
        }
    }

    /// A page may register clients if it is the project's.
    ///
    /// Any other could make its visitors' browsers do it, each from its own network (threats.md, T-F36). Browsers say whose
    /// page it is; programs need not.
    private func requireOwnPage(_ call: Call, _ caller: Caller) throws {
        guard let text = call.headers[.origin] else { return }
        let origin = ContinueURI(text)
        guard origin?.isAuthorizedOrigin(of: caller.project.settings, anyLoopback: false) == true else {
            throw OAuthError(.accessDenied, "The page's host is not one of the project's authorizedDomains")
        }
    }

    /// Only what is called JSON (RFC 7591 §3.1): a page can make its visitors' browsers send anything else here without
    /// asking (threats.md, T-F36).
    private static func metadata(_ call: Call) throws -> JSONObject {
        let type = call.headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else {
            throw OAuthError(.invalidClientMetadata, "The Content-Type must be application/json")
        }
        do { return JSONObject(try call.json().members) } catch {
            throw OAuthError(.invalidClientMetadata, "The body must be a JSON object")
        }
    }

    private func caller(_ call: Call) throws -> Caller {
        Caller(call, project: try configuration.openIDProvider(of: call, at: deployment), apiKey: nil)
    }
}
