import Development
package import Domain
import Foundation
package import Projects
import Storage
import Text

extension TestService {
    /// A client operation: POST with the API key, as SDKs do it.
    @discardableResult
    package func call(_ operation: String, _ body: JSON = [:], headers: [(String, String)] = []) async throws -> Reply {
        try await post("/v1/\(operation)?key=\(apiKey)", text: body.text, headers: headers)
    }

    /// An admin operation below `projects/{project}`.
    @discardableResult
    package func admin(
        _ path: String,
        _ body: JSON? = nil,
        method: String? = nil,
        version: String = "v1"
    ) async throws -> Reply {
        try await send(
            method ?? (body == nil ? "GET" : "POST"),
            "/\(version)/projects/\(project.id)\(path.hasPrefix(":") ? "" : "/")\(path)",
            headers: [("Authorization", "Bearer \(adminToken)"), ("Content-Type", "application/json")],
            body: body.map { Array($0.text.utf8) }
        )
    }

    /// A POST of JSON text as it stands.
    @discardableResult
    package func post(_ path: String, text: String, headers: [(String, String)] = []) async throws -> Reply {
        try await send(
            "POST",
            path,
            headers: [("Content-Type", "application/json")] + headers,
            body: Array(text.utf8)
        )
    }

    @discardableResult
    package func send(
        _ method: String,
        _ path: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> Reply {
        let node = try await nextNode()
        if !callsOverHTTP,
            let response = await InProcess.send(method, path, headers: headers, body: body, to: node)
        {
            return try Self.described(method, path, response)
        }
        let response = try await PlainHTTP.send(method, node.baseURL + path, headers: headers, body: body)
        return try Self.described(method, path, response)
    }

    /// Where the next call goes.
    private func nextNode() async throws -> ServiceNode {
        guard let other else { return node }
        let next = other.turns.increment().isMultiple(of: 2) ? other.node : node
        // What was configured at one of them a moment before counts at both.
        try await next.configuration.refresh()
        return next
    }

    private var node: ServiceNode { ServiceNode(self) }

    /// The answer, once `openapi.yaml` says that it may be like that.
    private static func described(_ method: String, _ path: String, _ response: PlainResponse) throws -> Reply {
        try OpenAPIDocument.ofRepository().require(
            method,
            path,
            status: response.status,
            contentType: response.header("content-type"),
            body: response.text
        )
        return Reply(response)
    }

    // MARK: The usual calls

    /// Refreshes, as web SDKs do it.
    package func refresh(_ refreshToken: String?) async throws -> Reply {
        let form = FormFields(pairs: [("grant_type", "refresh_token"), ("refresh_token", refreshToken ?? "")])
        return try await send(
            "POST",
            "/v1/token?key=\(apiKey)",
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.text.utf8)
        )
    }

    package func signUp(_ email: String, _ password: String = "correct horse") async throws -> Reply {
        try await call("accounts:signUp", ["email": .string(email), "password": .string(password)])
    }

    package func signInWithPassword(_ email: String, _ password: String = "correct horse") async throws -> Reply {
        try await call("accounts:signInWithPassword", ["email": .string(email), "password": .string(password)])
    }

    package func lookUp(_ idToken: String?) async throws -> Reply {
        try await call("accounts:lookup", ["idToken": JSON(idToken)])
    }

    /// The account as an admin sees it; nil when there is none.
    package func account(_ localID: String?) async throws -> JSON? {
        try await admin("accounts:lookup", ["localId": [JSON(localID)]])["users"]?[0]
    }

    /// Signs in with tokens that the app got itself, as `signInWithCredential` does.
    package func signInWithIdP(
        postBody: String,
        idToken: String? = nil,
        pendingToken: String? = nil,
        _ more: JSON = [:]
    ) async throws -> Reply {
        var body: [String: JSON] = [
            "requestUri": "http://localhost", "postBody": .string(postBody), "returnSecureToken": true,
            "returnIdpCredential": true, "idToken": JSON(idToken), "pendingToken": JSON(pendingToken),
        ]
        for (name, value) in more.object ?? [:] { body[name] = value }
        return try await call("accounts:signInWithIdp", .object(body))
    }

    // MARK: Providers

    /// Configures a tenant of the test provider for this project.
    package func configure(_ configuration: ProviderConfiguration) async throws {
        try await stores.configuration.createProvider(configuration, in: Scope(project: project.id))
    }

    /// The whole way through a provider: createAuthUri, the provider's page in a browser, the callback, signInWithIdp.
    ///
    /// - Parameter tenant: decides who signs in (`nextLogin`, `everyLogin`).
    package func signIn(
        through provider: ProviderID,
        idToken: String? = nil,
        continueURI: String = "http://localhost/callback",
        browser: ScriptedBrowser = ScriptedBrowser(),
        start: JSON = [:],
        finish: JSON = [:]
    ) async throws -> Reply {
        let flow = try await startFlow(through: provider, continueURI: continueURI, start)
        let visit = try await browser.open(flow.authURI, until: [continueURI])
        return try await finishFlow(at: visit.url, sessionID: flow.sessionID, idToken: idToken, finish)
    }

    package struct StartedFlow: Sendable {
        package var authURI: String
        package var sessionID: String
        package var reply: Reply
    }

    package func startFlow(
        through provider: ProviderID,
        continueURI: String = "http://localhost/callback",
        _ more: JSON = [:]
    ) async throws -> StartedFlow {
        var body: [String: JSON] = ["providerId": .string(provider.rawValue), "continueUri": .string(continueURI)]
        for (name, value) in more.object ?? [:] { body[name] = value }
        let reply = try await call("accounts:createAuthUri", .object(body))
        guard let authURI = reply["authUri"]?.string, let sessionID = reply["sessionId"]?.string else {
            throw TestServiceError.unexpected(reply.description)
        }
        return StartedFlow(authURI: authURI, sessionID: sessionID, reply: reply)
    }

    package func finishFlow(
        at callback: String,
        sessionID: String?,
        idToken: String? = nil,
        _ more: JSON = [:]
    ) async throws -> Reply {
        var body: [String: JSON] = [
            "requestUri": .string(callback), "sessionId": JSON(sessionID), "idToken": JSON(idToken),
            "returnSecureToken": true, "returnIdpCredential": true,
        ]
        for (name, value) in more.object ?? [:] { body[name] = value }
        return try await call("accounts:signInWithIdp", .object(body))
    }
}
