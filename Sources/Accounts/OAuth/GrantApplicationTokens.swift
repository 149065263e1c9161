import Domain
package import OAuth
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService {
    package var grantApplicationTokens: GrantApplicationTokens { GrantApplicationTokens(service: self) }
}

/// The token endpoint: exchanges a code, and refreshes.
package struct GrantApplicationTokens: Sendable {
    let service: AccountsService

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
    ///   - resources: the audience of this access token, one that was granted (``OAuth/ApplicationGrant/audience(named:isRefresh:_:)``).
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
        guard
            let code = AuthorizationCode(
                text,
                of: client.id,
                challenge: challenge,
                openedBy: service.keyRing,
                in: caller.project.id
            ), let browser = SessionID(rawValue: code.browser), let session = SessionID(rawValue: code.session)
        else { throw Self.refused }
        let grant = code.grant
        let isGood =
            service.seconds < code.expiresAt && redirectURI ?? grant.redirectURI == grant.redirectURI
            && client.allows(redirectURI: grant.redirectURI)
            && grant.keyThumbprint ?? keyThumbprint == keyThumbprint
        let key = { SessionKey(scope: caller.scope, account: AccountID(code.account), session: $0) }
        if isGood {
            let begun = try await begin(
                session,
                from: key(browser),
                revokedVersion: code.revokedVersion,
                grant,
                resources: resources,
                key: keyThumbprint,
                client,
                caller
            )
            if let begun { return begun }
        }
        try await endReplayed(key(session), client, caller)
        throw Self.refused
    }

    private static let refused = OAuthError(.invalidGrant, "The code is unknown, expired, used, or another client's")

    /// Begins what a code grants.
    ///
    /// A resource that was not granted is refused before: otherwise the client would have neither tokens nor a code, and
    /// the user a session that nobody can use.
    ///
    /// - Returns: nil if it has begun before, the browser's session has ended, or the grant was withdrawn.
    private func begin(
        _ session: SessionID,
        from browser: SessionKey,
        revokedVersion: Int64?,
        _ granted: ApplicationGrant,
        resources: [String],
        key keyThumbprint: String?,
        _ client: OAuthClient,
        _ caller: Caller
    ) async throws -> Result? {
        let settings = caller.project.settings
        var grant = granted.current(of: client, settings.oauth)
        let audience = try grant.audience(named: resources, isRefresh: false, settings.oauth)
        grant.keyThumbprint = client.isPublic ? keyThumbprint : nil
        // What the user's part was asked about, too: a client may have given up `openid` since.
        grant.refreshes = client.mayRefresh(granted) && client.mayRefresh(grant)
        let secret = Secret(service.random.handle())
        let begun = try await service.sessions.open(
            NewApplicationSession(
                id: session,
                client: client.id,
                grant: grant,
                secretHash: RefreshToken.hash(of: secret),
                revokedVersion: revokedVersion
            ),
            from: browser,
            isTold: settings.delivery.takes(.grantCreated),
            now: service.now()
        )
        guard let begun else { return nil }
        let refreshToken = RefreshToken(
            projectNumber: caller.project.number,
            tenant: caller.tenant,
            account: begun.account.id,
            session: session,
            secret: secret,
            generation: begun.session.generation,
            under: service.keyRing
        )
        return try result(
            for: begun.account,
            begun.session,
            grant,
            audience: audience,
            nonce: grant.nonce,
            key: keyThumbprint,
            refreshToken: grant.refreshes == true ? Secret(refreshToken.text) : nil,
            client,
            caller
        )
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
        let hash = AuthorizeDevice.hash(of: deviceCode)
        let answer = try await service.stores.deviceCodes.poll(
            hash,
            by: client.id,
            // Clocks and networks are not exact.
            interval: Double(AuthorizeDevice.interval) - 1,
            in: caller.project.id,
            now: service.now()
        )
        switch answer {
        case nil: throw Self.refused
        case .pending: throw OAuthError(.authorizationPending, "The user has not decided yet")
        case .tooFast: throw OAuthError(.slowDown, "Ask every \(AuthorizeDevice.interval) seconds")
        case .denied: throw OAuthError(.accessDenied, "The user refused")
        case .expired: throw OAuthError(.expiredToken, "The code has expired")
        case .granted(let browser, let revokedVersion, let grant):
            let session = AuthorizeDevice.session(of: hash)
            let begun = try await begin(
                session,
                from: browser,
                revokedVersion: revokedVersion,
                grant,
                resources: resources,
                key: keyThumbprint,
                client,
                caller
            )
            if let begun { return begun }
            try await endReplayed(
                SessionKey(scope: browser.scope, account: browser.account, session: session),
                client,
                caller
            )
            throw Self.refused
        }
    }

    /// A code that was redeemed before ends what it gave.
    private func endReplayed(_ key: SessionKey, _ client: OAuthClient, _ caller: Caller) async throws {
        if try await service.sessions.endReplayed(key, of: client.id, now: service.now()) {
            AccountEvent.refreshTokenReused.log(key.account, caller)
        }
    }

    /// - Parameters:
    ///   - scopes: some of those granted; nil for all.
    ///   - resources: as of a code, at each refresh.
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
            used = try await Refresh(service: service).use(
                text,
                of: client.id,
                key: client.isPublic ? keyThumbprint : nil,
                rotates: true,
                caller
            )
        } catch let error as AccountsError where error.endsSession {
            throw refused
        }
        let settings = caller.project.settings.oauth
        guard var grant = used.grant, client.mayRefresh(grant), client.mayRefresh(grant.current(of: client, settings))
        else { throw refused }
        if let scopes {
            guard Set(scopes).isSubset(of: grant.scopes) else {
                throw OAuthError(.invalidScope, "scope must not exceed what was granted")
            }
            grant.scopes = scopes
        }
        grant = grant.current(of: client, settings)
        return try result(
            for: used.account,
            used.session,
            grant,
            audience: try grant.audience(named: resources, isRefresh: true, settings),
            nonce: nil,
            key: keyThumbprint,
            refreshToken: used.refreshToken,
            client,
            caller
        )
    }

    private func result(
        for account: Account,
        _ session: StoredSession,
        _ grant: ApplicationGrant,
        audience: String?,
        nonce: String?,
        key keyThumbprint: String?,
        refreshToken: Secret?,
        _ client: OAuthClient,
        _ caller: Caller
    ) throws -> Result {
        var tokens = try service.applicationTokens(of: client, account, session, grant, caller)
        tokens.keyThumbprint = keyThumbprint
        let lifetime = caller.project.settings.oauth.accessTokenSeconds
        let accessToken = try service.sign(
            tokens.accessToken(for: audience, id: service.random.handle(), lifetime: lifetime),
            type: ApplicationTokens.accessTokenType,
            of: caller.project
        )
        var idToken: String?
        if grant.scopes.contains(Scopes.openID) {
            let payload = tokens.idToken(of: account, nonce: nonce, accessToken: accessToken, lifetime: lifetime)
            idToken = try service.sign(payload, type: "JWT", of: caller.project)
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
