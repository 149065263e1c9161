import Accounts
import Foundation
import HTTPTypes
import NIOCore
import OAuth
import Projects
import Secrets
import Storage
import StrictJSON
import Text

/// The endpoints that applications and resource servers call: token, userinfo, introspection and revocation.
struct OAuthTokenRoutes {
    let accounts: AccountsService
    let configuration: ConfigurationStore
    let deployment: Deployment

    var routes: [Route] {
        typealias Endpoint = ProviderMetadata.Endpoint
        return [
            Route(.post, Endpoint.token.path, on: .service, errors: .oauth, .open(grant)),
            Route(.post, Endpoint.push.path, on: .service, errors: .oauth, .open(push)),
            Route(.post, Endpoint.beginDevice.path, on: .service, errors: .oauth, .open(beginDevice)),
            Route(.get, Endpoint.userInfo.path, on: .service, errors: .oauth, .open(showUser)),
            Route(.post, Endpoint.userInfo.path, on: .service, errors: .oauth, .open(showUser)),
            Route(.post, Endpoint.introspect.path, on: .service, errors: .oauth, .open(introspect)),
            Route(.post, Endpoint.revoke.path, on: .service, errors: .oauth, .open(revoke)),
        ]
    }

    // MARK: Token

    private func grant(_ call: Call) async throws -> Response {
        let (form, caller) = (try OAuthParameters(call), try caller(call))
        let client = try await client(call, form, caller)
        return try await proving(call, at: .token, caller) { try await grant(form, key: $0, by: client, caller) }
    }

    private func grant(
        _ form: OAuthParameters,
        key: String?,
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> Response {
        let grants = accounts.grantApplicationTokens
        let name = try form.required("grant_type")
        guard let type = ClientMetadata.GrantType(rawValue: name) else {
            throw OAuthError(.unsupportedGrantType, "grant_type must be one that discovery lists")
        }
        guard client.metadata.grantTypes.contains(type) else {
            throw OAuthError(.unauthorizedClient, "The client is not registered for this grant_type")
        }
        switch type {
        case .authorizationCode:
            return Self.response(
                try await grants.redeem(
                    Secret(try form.required("code")),
                    verifier: form["code_verifier"].map { Secret($0) },
                    redirectURI: form["redirect_uri"],
                    resources: form.all("resource"),
                    key: key,
                    by: client,
                    caller
                )
            )
        case .refreshToken:
            return Self.response(
                try await grants.refresh(
                    Secret(try form.required("refresh_token")),
                    scopes: form["scope"].map { Scopes.list($0) },
                    resources: form.all("resource"),
                    key: key,
                    by: client,
                    caller
                )
            )
        case .deviceCode:
            let code = Secret(try form.required("device_code"))
            let resources = form.all("resource")
            return Self.response(
                try await grants.redeem(deviceCode: code, resources: resources, key: key, by: client, caller)
            )
        case .tokenExchange:
            return try await exchange(form, key, client, caller)
        }
    }

    /// RFC 8693 §2.
    private func exchange(
        _ form: OAuthParameters,
        _ key: String?,
        _ client: OAuthClient,
        _ caller: Caller
    ) async throws -> Response {
        guard try form.required("subject_token_type") == TokenType.idToken else {
            throw OAuthError(.invalidRequest, "subject_token_type must be \(TokenType.idToken)")
        }
        guard form["requested_token_type"] ?? TokenType.accessToken == TokenType.accessToken else {
            throw OAuthError(.invalidRequest, "requested_token_type must be \(TokenType.accessToken)")
        }
        guard form["actor_token"] == nil, form["actor_token_type"] == nil else {
            throw OAuthError(.invalidRequest, "actor_token is not supported: the client is the actor")
        }
        guard form["audience"] == nil else {
            throw OAuthError(.invalidTarget, "audience is not supported: name the target by resource")
        }
        let result = try await accounts.exchangeIDToken(
            Secret(try form.required("subject_token")),
            scope: form["scope"],
            resources: form.all("resource"),
            key: key,
            by: client,
            caller
        )
        return Self.response(result, issuedType: TokenType.accessToken)
    }

    /// RFC 8693 §3.
    private enum TokenType {
        static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
        static let idToken = "urn:ietf:params:oauth:token-type:id_token"
    }

    /// OAuth 2.1 §3.2.3, OpenID Connect Core 1.0 §3.1.3.3.
    private static func response(
        _ result: GrantApplicationTokens.Result,
        issuedType: String? = nil
    ) -> Response {
        .json { json in
            json.member("access_token", result.accessToken.reveal())
            json.member("issued_token_type", issuedType)
            json.member("token_type", result.isBoundToKey ? "DPoP" : "Bearer")
            json.member("expires_in", number: result.expiresIn)
            json.member("refresh_token", result.refreshToken?.reveal())
            json.member("id_token", result.idToken)
            // Also if there is none: without the member, the client would have what it asked for (RFC 6749 §5.1).
            json.member("scope", result.scopes.joined(separator: " "))
        }
    }

    // MARK: Before a user decides

    /// RFC 9126 §2.
    private func push(_ call: Call) async throws -> Response {
        let (form, caller) = (try OAuthParameters(call), try caller(call))
        let client = try await client(call, form, mayBeNew: true, caller)
        let uri = try await proving(call, at: .push, caller) { key in
            try await accounts.pushAuthorization(form.fields, key: key, by: client, caller)
        }
        var response = Response.json { json in
            json.member("request_uri", uri.reveal())
            json.member("expires_in", number: PushAuthorization.lifetime)
        }
        response.status = .created
        return response
    }

    /// RFC 8628 §3.1.
    private func beginDevice(_ call: Call) async throws -> Response {
        let (form, caller) = (try OAuthParameters(call), try caller(call))
        let client = try await client(call, form, mayBeNew: true, caller)
        guard client.metadata.grantTypes.contains(.deviceCode) else {
            throw OAuthError(.unauthorizedClient, "The client is not registered for devices")
        }
        let asked = try await accounts.authorizeDevice(
            scope: form["scope"],
            resources: form.all("resource"),
            by: client,
            caller
        )
        return .json { json in
            json.member("device_code", asked.deviceCode.reveal())
            json.member("user_code", asked.userCode)
            json.member("verification_uri", asked.page)
            json.member("verification_uri_complete", "\(asked.page)?user_code=\(asked.userCode)")
            json.member("expires_in", number: AuthorizeDevice.lifetime)
            json.member("interval", number: AuthorizeDevice.interval)
        }
    }

    // MARK: Questions about tokens

    private func showUser(_ call: Call) async throws -> Response {
        let caller = try caller(call)
        if let token = call.token(of: "dpop") {
            return try await proving(call, at: .userInfo, accessToken: token, caller) { key in
                Self.response(
                    try await accounts.readApplicationTokens.userInfo(accessToken: token, key: key, caller)
                )
            }
        }
        let posted = call.bearer == nil && call.method == .post ? try OAuthParameters(call)["access_token"] : nil
        guard let token = call.bearer ?? posted.map({ Secret($0) }) else {
            // A challenge without a code, because no credential came (RFC 6750 §3.1).
            throw WireError.status(.unauthorized, "UNAUTHENTICATED", "An access token is required")
        }
        return Self.response(try await accounts.readApplicationTokens.userInfo(accessToken: token, key: nil, caller))
    }

    private func introspect(_ call: Call) async throws -> Response {
        let (form, caller) = (try OAuthParameters(call), try caller(call))
        let client = try await client(call, form, caller)
        let token = Secret(try form.required("token"))
        return Self.response(try await accounts.readApplicationTokens.introspect(token, for: client, caller))
    }

    private func revoke(_ call: Call) async throws -> Response {
        let (form, caller) = (try OAuthParameters(call), try caller(call))
        let client = try await client(call, form, caller)
        try await accounts.readApplicationTokens.revoke(Secret(try form.required("token")), by: client, caller)
        return .json { _ in }
    }

    private static func response(_ object: JSONObject) -> Response {
        .json { json in for member in object.members { json.name(member.name); json.value(member.value) } }
    }

    // MARK: Who calls

    private func caller(_ call: Call) throws -> Caller {
        Caller(call, project: try configuration.openIDProvider(of: call, at: deployment), apiKey: nil)
    }

    /// Runs a request with the thumbprint of the key that its sender has proved to have; nil without a proof.
    ///
    /// - Parameter accessToken: one that requires a proof.
    private func proving<Result: Sendable>(
        _ call: Call,
        at endpoint: ProviderMetadata.Endpoint,
        accessToken: Secret? = nil,
        _ caller: Caller,
        _ body: (_ keyThumbprint: String?) async throws -> Result
    ) async throws -> Result {
        guard let header = call.headers[.dpop] ?? accessToken.map({ _ in "" }) else { return try await body(nil) }
        let proof = try accounts.provePossession(
            header,
            method: call.method.rawValue,
            at: endpoint,
            accessToken: accessToken,
            caller
        )
        if endpoint == .token { try await accounts.provePossession.requireUnused(proof, caller) }
        let result = try await body(proof.thumbprint)
        try await accounts.provePossession.use(proof, caller)
        return result
    }

    /// - Parameter mayBeNew: whether an application may begin here, so that an unknown one's metadata document is read.
    private func client(
        _ call: Call,
        _ form: OAuthParameters,
        mayBeNew: Bool = false,
        _ caller: Caller
    ) async throws -> OAuthClient {
        try await accounts.authenticateClient(try form.credentials(call), mayBeNew: mayBeNew, caller)
    }
}

extension OAuthParameters {
    /// The form of a call.
    ///
    /// - Throws: ``OAuth/OAuthError`` for another type of body, and for a repeated parameter.
    init(_ call: Call) throws(OAuthError) {
        let type = call.headers[.contentType]?.lowercased() ?? ""
        guard type.isEmpty || type.hasPrefix("application/x-www-form-urlencoded"),
            let fields = FormFields(strict: call.body.readableBytesView)
        else { throw OAuthError(.invalidRequest, "The body must be application/x-www-form-urlencoded") }
        self.init(fields)
        guard repeated == nil else { throw OAuthError(.invalidRequest, "A parameter is repeated") }
    }

    /// One of the ways that discovery lists (OAuth 2.1 §2.4, RFC 7523 §2.2).
    func credentials(_ call: Call) throws(OAuthError) -> AuthenticateClient.Credentials {
        let header = call.headers[.authorization]
        let ways = [header != nil, self["client_secret"] != nil, self["client_assertion"] != nil]
        guard ways.filter(\.self).count <= 1 else {
            throw OAuthError(.invalidRequest, "The client authenticates in two ways")
        }
        if let assertion = self["client_assertion"] {
            guard self["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" else {
                throw OAuthError(.invalidRequest, "client_assertion_type is unknown")
            }
            return AuthenticateClient.Credentials(id: self["client_id"], .assertion(Secret(assertion)))
        }
        guard let header else {
            let secret = self["client_secret"].map { AuthenticateClient.Credentials.Proof.secret(Secret($0)) }
            return AuthenticateClient.Credentials(id: self["client_id"], secret ?? .none)
        }
        guard let basic = BasicCredentials(header), self["client_id"] ?? basic.name == basic.name else {
            throw OAuthError(.invalidClient, "The Authorization header is malformed, or names another client")
        }
        // An empty secret is as good as none (RFC 6749 §2.3.1).
        let isEmpty = basic.password.reveal().isEmpty
        return AuthenticateClient.Credentials(id: basic.name, isEmpty ? .none : .secret(basic.password))
    }
}

/// A Basic header whose parts are form-encoded (RFC 6749 §2.3.1).
private struct BasicCredentials {
    let name: String
    let password: Secret

    init?(_ header: String) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1]))
        else {
            return nil
        }
        let bytes = [UInt8](data)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let name = PercentEncoding.decode(bytes[..<colon], plusIsSpace: true),
            let password = PercentEncoding.decode(bytes[colon...].dropFirst(), plusIsSpace: true)
        else { return nil }
        (self.name, self.password) = (name, Secret(password))
    }
}

extension Call {
    /// The token of an `Authorization: Bearer` header (RFC 6750 §2.1).
    var bearer: Secret? { token(of: "bearer") }

    /// - Parameter scheme: of the `Authorization` header, in lowercase.
    fileprivate func token(of scheme: String) -> Secret? {
        let parts = (headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == scheme ? Secret(String(parts[1])) : nil
    }
}
