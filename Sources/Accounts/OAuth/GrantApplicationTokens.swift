package import OAuth
package import Secrets
import Linking
import Projects
import Sessions
import Storage

extension AccountsService {
    package var grantApplicationTokens: GrantApplicationTokens { GrantApplicationTokens(parts: parts) }
}

/// The token endpoint: exchanges a code, and refreshes.
package struct GrantApplicationTokens: Sendable {
    let parts: Parts

    package struct Result: Sendable {
        package var accessToken: Secret
        /// In seconds.
        package var expiresIn: Int64
        /// Whether only the key's owner may use the access token (RFC 9449 §5); otherwise it is a bearer token.
        package var isBoundToKey = false
        /// Nil without the scope `openid`.
        package var idToken: String?
        /// Nil if the client may not refresh.
        package var refreshToken: Secret?
        package var scopes: [String]
    }

    /// - Parameters:
    ///   - redirectURI: nil if the client did not repeat it, as OAuth 2.1 §4.1.3 allows.
    ///   - resources: the audiences of this access token; empty for all that were granted.
    ///   - key: the thumbprint of the key that the client has proved to have, likewise below.
    package func redeem(
        _ text: Secret,
        verifier: Secret?,
        redirectURI: String?,
        resources: [String],
        key keyThumbprint: String?,
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> Result {
        guard let challenge = verifier.flatMap({ CodeChallenge.of($0.reveal()) }) else {
            throw OAuthError(.invalidRequest, "code_verifier is missing or malformed")
        }
        let refused = OAuthError(.invalidGrant, "The code is unknown, expired, used, or another client's")
        guard let code = AuthorizationCode(text), let key = code.key(caller) else { throw refused }
        let hash = code.hash(challenge: challenge)
        try await requireGranted(resources, to: client, by: hash, of: key)
        let secret = Secret(parts.random.handle())
        let found = try await parts.sessions.redeem(
            code: hash,
            of: key,
            by: client.id,
            redirectURI: redirectURI,
            key: KeyProof(shown: keyThumbprint, binds: client.isPublic),
            secretHash: RefreshToken.hash(of: secret),
            now: parts.now()
        )
        guard let found else {
            if try await parts.sessions.endReplayed(code: hash, of: key, in: caller.scope, now: parts.now()) {
                AccountEvent.refreshTokenReused.log(key.account, caller)
            }
            throw refused
        }
        return try result(of: found, secret, resources: resources, key: keyThumbprint, client, caller)
    }

    /// Refuses a resource that was not granted while the code is still good: once it is used up, the client would have
    /// neither tokens nor a code, and the user a session that nobody can use.
    ///
    /// Only the redemption itself says whether the code is good; what it grants never changes.
    private func requireGranted(
        _ resources: [String],
        to client: OAuthClient,
        by code: [UInt8],
        of key: SessionKey
    ) async throws {
        guard !resources.isEmpty, let grant = try await parts.sessions.grant(ofCode: code, of: key, to: client.id)
        else {
            return
        }
        _ = try Self.granted(resources, of: grant)
    }

    private static func granted(_ resources: [String], of grant: ApplicationGrant) throws(OAuthError) -> [String] {
        guard let named = grant.resources(named: resources) else {
            throw OAuthError(.invalidTarget, "resource must be one that was granted")
        }
        return named
    }

    /// - Parameter resources: as of a code.
    /// - Throws: ``OAuthError`` until the user has agreed (RFC 8628 §3.5).
    package func redeem(
        deviceCode: Secret,
        resources: [String],
        key keyThumbprint: String?,
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> Result {
        let refused = OAuthError(.invalidGrant, "The code is unknown, expired, used, or another client's")
        let hash = AuthorizeDevice.hash(of: deviceCode)
        let answer = try await parts.stores.deviceCodes.poll(
            hash,
            by: client.id,
            // Clocks and networks are not exact.
            interval: Double(AuthorizeDevice.interval) - 1,
            in: caller.project.id,
            now: parts.now()
        )
        switch answer {
        case nil: throw refused
        case .pending: throw OAuthError(.authorizationPending, "The user has not decided yet")
        case .tooFast: throw OAuthError(.slowDown, "Ask every \(AuthorizeDevice.interval) seconds")
        case .denied: throw OAuthError(.accessDenied, "The user refused")
        case .expired: throw OAuthError(.expiredToken, "The code has expired")
        case .granted(let key):
            try await requireGranted(resources, to: client, by: hash, of: key)
            let secret = Secret(parts.random.handle())
            let found = try await parts.sessions.redeem(
                code: hash,
                of: key,
                by: client.id,
                redirectURI: nil,
                key: KeyProof(shown: keyThumbprint, binds: client.isPublic),
                secretHash: RefreshToken.hash(of: secret),
                now: parts.now()
            )
            guard let found else { throw refused }
            return try result(of: found, secret, resources: resources, key: keyThumbprint, client, caller)
        }
    }

    private func result(
        of found: ApplicationSession,
        _ secret: Secret,
        resources: [String],
        key keyThumbprint: String?,
        _ client: OAuthClient,
        _ caller: Caller
    ) throws -> Result {
        guard found.isAlive else { throw OAuthError(.invalidGrant, "The user's session has ended") }
        let refreshToken = RefreshToken(
            projectNumber: caller.project.number,
            account: found.account.id,
            session: found.session.id,
            secret: secret
        )
        return try result(
            for: found.account,
            found.session,
            found.grant,
            resources: resources,
            nonce: found.grant.nonce,
            key: keyThumbprint,
            refreshToken: mayRefresh(client, found.grant) ? Secret(refreshToken.text) : nil,
            client,
            caller
        )
    }

    /// - Parameters:
    ///   - scopes: some of those granted; nil for all.
    ///   - resources: the audiences of this access token; empty for all that were granted, at each refresh.
    package func refresh(
        _ text: Secret,
        scopes: [String]?,
        resources: [String],
        key keyThumbprint: String?,
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> Result {
        let refused = OAuthError(.invalidGrant, "The refresh token is unknown, expired, revoked, or another client's")
        let used: Refresh.Used
        do {
            used = try await Refresh(parts: parts).use(
                text,
                of: client.id,
                key: client.isPublic ? keyThumbprint : nil,
                rotates: true,
                caller
            )
        } catch let error as AccountsError where error.endsSession {
            throw refused
        }
        guard var grant = used.grant, mayRefresh(client, grant) else { throw refused }
        if let scopes {
            guard Set(scopes).isSubset(of: grant.scopes) else {
                throw OAuthError(.invalidScope, "scope must not exceed what was granted")
            }
            grant.scopes = scopes
        }
        return try result(
            for: used.account,
            used.session,
            grant,
            resources: resources,
            nonce: nil,
            key: keyThumbprint,
            refreshToken: used.refreshToken,
            client,
            caller
        )
    }

    /// A sign-in alone ends with its tokens; access without the user is asked for (OpenID Connect Core 1.0 §11), by
    /// public clients too.
    private func mayRefresh(_ client: OAuthClient, _ grant: ApplicationGrant) -> Bool {
        client.metadata.grantTypes.contains(.refreshToken)
            && (grant.scopes.contains(Scopes.offlineAccess) || !grant.scopes.contains(Scopes.openID))
    }

    private func result(
        for account: Account,
        _ session: StoredSession,
        _ grant: ApplicationGrant,
        resources: [String],
        nonce: String?,
        key keyThumbprint: String?,
        refreshToken: Secret?,
        _ client: OAuthClient,
        _ caller: Caller
    ) throws -> Result {
        let settings = caller.project.settings.oauth
        var grant = grant
        // A server expects what the list says now.
        grant.resources = grant.resources.map { settings.listed(resource: $0) ?? $0 }
        let resources = try Self.granted(resources, of: grant)
        var tokens = try parts.applicationTokens(of: client, account, session, grant, caller)
        tokens.keyThumbprint = keyThumbprint
        let lifetime = settings.accessTokenSeconds
        let accessToken = try parts.sign(
            tokens.accessToken(for: resources, id: parts.random.handle(), lifetime: lifetime),
            type: ApplicationTokens.accessTokenType,
            of: caller.project
        )
        var idToken: String?
        if grant.scopes.contains(Scopes.openID) {
            let payload = tokens.idToken(of: account, nonce: nonce, accessToken: accessToken, lifetime: lifetime)
            idToken = try parts.sign(payload, type: "JWT", of: caller.project)
        }
        return Result(
            accessToken: Secret(accessToken),
            expiresIn: lifetime,
            isBoundToKey: keyThumbprint != nil,
            idToken: idToken,
            refreshToken: refreshToken,
            scopes: grant.scopes
        )
    }
}
