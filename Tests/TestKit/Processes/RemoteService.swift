/// A service in another process.
package struct RemoteService: Sendable {
    package let baseURL: String
    package var project = "demo-project"
    package var apiKey = "any"
    package var adminToken = ""

    @discardableResult
    package func call(_ operation: String, _ body: JSON = [:]) async throws -> Reply {
        try await post("/v1/\(operation)?key=\(apiKey)", body)
    }

    /// An admin operation below `projects/{project}`.
    @discardableResult
    package func admin(_ path: String, _ body: JSON? = nil, version: String = "v1") async throws -> Reply {
        Reply(
            try await PlainHTTP.send(
                body == nil ? "GET" : "POST",
                baseURL + "/\(version)/projects/\(project)/\(path)",
                headers: [("Authorization", "Bearer \(adminToken)"), ("Content-Type", "application/json")],
                body: body.map { Array($0.text.utf8) }
            )
        )
    }

    package func get(_ path: String) async throws -> Reply {
        Reply(try await PlainHTTP.send("GET", baseURL + path))
    }

    private func post(_ path: String, _ body: JSON) async throws -> Reply {
        Reply(
            try await PlainHTTP.send(
                "POST",
                baseURL + path,
                headers: [("Content-Type", "application/json")],
                body: Array(body.text.utf8)
            )
        )
    }

    /// Waits until the node has read the project of ``apiKey``, half a second at most after it was made.
    package func learnsItsKey() async throws {
        try await waitUntil { try await signInWithPassword("nobody@example.com").error?.hasPrefix("API key") == false }
    }

    package func signUp(_ email: String, _ password: String = "correct horse") async throws -> Reply {
        try await call("accounts:signUp", ["email": .string(email), "password": .string(password)])
    }

    package func refresh(_ token: String?) async throws -> Reply {
        try await post("/v1/token?key=\(apiKey)", ["grantType": "refresh_token", "refreshToken": JSON(token)])
    }

    package func signInWithPassword(_ email: String, _ password: String = "correct horse") async throws -> Reply {
        try await call("accounts:signInWithPassword", ["email": .string(email), "password": .string(password)])
    }

    /// The whole way through a demo provider, as a person with a browser goes it.
    ///
    /// - Parameter person: visible text of the provider's page that tells who signs in.
    package func signIn(
        through provider: String,
        as person: String,
        browser: ScriptedBrowser = ScriptedBrowser()
    ) async throws -> Reply {
        let callback = "http://localhost/callback"
        let start = try await call(
            "accounts:createAuthUri",
            ["providerId": .string(provider), "continueUri": .string(callback)]
        )
        guard let authURI = start["authUri"]?.string else { throw TestServiceError.unexpected(start.description) }
        let page = try await browser.open(authURI)
        guard let form = page.form(with: person) else { throw TestServiceError.unexpected(page.text) }
        let visit = try await browser.submit(form, on: page, until: [callback])
        return try await call(
            "accounts:signInWithIdp",
            [
                "requestUri": .string(visit.url), "sessionId": JSON(start["sessionId"]?.string),
                "returnSecureToken": true, "returnIdpCredential": true,
            ]
        )
    }
}
