import Accounts
import Administration
import Domain
import HTTPTypes
import Projects
import Storage

/// `oauthIdpConfigs`, `defaultSupportedIdpConfigs` and `inboundSamlConfigs`: the identity providers of a project.
struct ProviderRoutes {
    let configuration: ConfigurationStore
    let changeProvider: ChangeProvider

    var routes: [Route] { routes(of: .builtIn) + routes(of: .custom) + routes(of: .saml) }

    private func routes(of collection: ProviderCollection) -> [Route] {
        let path = "/v2/projects/{project}/\(collection.rawValue)"
        func route(
            _ method: HTTPRequest.Method,
            _ path: String,
            query: String...,
            operation: @escaping @Sendable (AdminCall, ProviderCollection) async throws -> Response
        ) -> Route {
            Route(
                method,
                path,
                errors: .status,
                query: query,
                .admin(.manageConfiguration) { try await operation($0, collection) }
            )
        }
        return [
            route(.get, path, query: "pageSize", "pageToken", operation: list),
            route(.post, path, query: collection.idParameter, operation: create),
            route(.get, path + "/{config}", operation: get),
            route(.patch, path + "/{config}", query: "updateMask", operation: update),
            route(.delete, path + "/{config}", operation: delete),
        ]
    }

    private func list(_ call: AdminCall, _ collection: ProviderCollection) async throws -> Response {
        let size = try call.pageSize("pageSize", default: 20, maximum: 100)
        let after = try PageToken.id(try call.call.query.value("pageToken")) ?? ""
        let all = configured(collection, call).filter { $0.provider.rawValue > after }
        let page = all.prefix(size == 0 ? 20 : size)
        return try .json { json in
            json.array(collection.rawValue) { json in
                for provider in page { json.object { $0.provider(provider, collection, call.place) } }
            }
            if page.count < all.count, let last = page.last {
                json.member("nextPageToken", try PageToken.text(of: last.provider.rawValue))
            }
        }
    }

    private func get(_ call: AdminCall, _ collection: ProviderCollection) async throws -> Response {
        let provider = try find(call, collection)
        return .json { $0.provider(provider, collection, call.place) }
    }

    private func create(_ call: AdminCall, _ collection: ProviderCollection) async throws -> Response {
        guard let text = try call.call.query.value(collection.idParameter), !text.isEmpty else {
            throw WireError("MISSING_CONFIG_ID")
        }
        let id = ProviderID(text)
        guard collection.contains(id) else {
            throw WireError("INVALID_CONFIG_ID", "\"\(text)\" is not a valid ID of \(collection.typeName).")
        }
        do {
            let body = try call.json()
            try collection.members.check(body)
            let patch = try Patch(body, .all, of: id, in: collection)
            let provider = try await changeProvider.create(id, patch, in: call.scope)
            return .json { $0.provider(provider, collection, call.place) }
        } catch ConfigurationError.alreadyExists {
            throw WireError.status(
                .conflict,
                "ALREADY_EXISTS",
                "CONFIGURATION_EXISTS",
                detail: "The \(collection.typeName) already exists with config_id: \(id)"
            )
        }
    }

    private func update(_ call: AdminCall, _ collection: ProviderCollection) async throws -> Response {
        let body = try call.json()
        let id = ProviderID(call.call.parameter("config"))
        guard collection.contains(id) else { throw ConfigurationError.notFound }
        try collection.members.check(body)
        let mask = try call.updateMask(literal: "definition", of: body) { collection.kind($0, of: id) }
        try mask.check { collection.hasMember($0, of: id) }
        let patch = try Patch(body, mask, of: id, in: collection)
        let provider = try await changeProvider(id, patch, in: call.scope)
        return .json { $0.provider(provider, collection, call.place) }
    }

    private func delete(_ call: AdminCall, _ collection: ProviderCollection) async throws -> Response {
        let id = ProviderID(call.call.parameter("config"))
        guard collection.contains(id) else { throw ConfigurationError.notFound }
        try await changeProvider.delete(id, in: call.scope)
        return .json { _ in }
    }

    private func find(_ call: AdminCall, _ collection: ProviderCollection) throws -> ProviderConfiguration {
        let id = ProviderID(call.call.parameter("config"))
        guard let provider = configured(collection, call).first(where: { $0.provider == id }) else {
            throw ConfigurationError.notFound
        }
        return provider
    }

    /// The project's or tenant's providers of a collection, sorted by ID.
    private func configured(_ collection: ProviderCollection, _ call: AdminCall) -> [ProviderConfiguration] {
        let snapshot = configuration.snapshot
        let all =
            collection == .saml
            ? snapshot.samlProviders(in: call.project.scope)
            : snapshot.providers(in: call.project.scope)
        return all.filter { collection.contains($0.provider) }
    }
}

extension AdminCall {
    fileprivate var scope: Scope { project.scope }

    /// The start of resource names in the project or tenant.
    fileprivate var place: String {
        "projects/\(project.number)" + (tenant == .none ? "" : "/tenants/\(tenant)")
    }
}
