package import struct Foundation.Date
import Secrets

/// Tokens and codes without a visit to the authorization endpoint.
extension TestTenant {
    /// An ID token as this provider would issue it to a native app.
    ///
    /// - Parameters:
    ///   - nonce: the claim as it stands in the token; an app that follows Firebase puts the lower-case hex SHA-256 of
    ///     its raw nonce here.
    ///   - accessToken: binds the token to it by `at_hash`.
    ///   - code: binds the token to it by `c_hash`.
    package func mintIDToken(
        for user: TestUser,
        client: String = "client",
        scopes: Set<String> = ["openid", "email", "profile"],
        nonce: String? = nil,
        accessToken: String? = nil,
        code: String? = nil,
        authenticatedAt: Date? = nil,
        changes: IDTokenChanges = .none
    ) throws -> String {
        try withState { state in
            try state.mintIDToken(
                user: user,
                client: client,
                scopes: scopes,
                nonce: nonce,
                accessToken: accessToken,
                code: code,
                authenticatedAt: authenticatedAt,
                changes: changes
            )
        }
    }

    package func mintAccessToken(
        for user: TestUser,
        client: String = "client",
        scopes: [String] = ["openid", "email", "profile"]
    ) -> String {
        withState { $0.mintAccessToken(user: user, client: client, scopes: scopes) }
    }

    /// An access token of OAuth 1.0a, with its secret.
    package func mintOAuth1Token(
        for user: TestUser,
        client: String = "client"
    ) -> (token: String, secret: String) {
        withState { $0.mintOAuth1Token(user: user, client: client) }
    }

    package func mintRefreshToken(for user: TestUser, client: String = "client", scopes: [String] = []) -> String {
        withState { state in
            let token = state.random.handle()
            state.refreshTokens[token] = TenantState.TokenGrant(client: client, user: user, scopes: scopes)
            return token
        }
    }

    /// Those that are good now.
    package var refreshTokens: [String] { withState { $0.refreshTokens.keys.sorted() } }

    /// A code that is bound to these parameters, as if the browser had just come back with it.
    package func mintCode(
        for user: TestUser,
        client: String = "client",
        redirectURI: String?,
        scopes: [String] = ["openid", "email", "profile"],
        nonce: String? = nil,
        codeChallenge: String? = nil,
        idToken: IDTokenChanges = .none
    ) -> String {
        withState { state in
            let code = state.random.handle()
            state.codes[code] = TenantState.CodeGrant(
                client: client,
                user: user,
                redirectURI: redirectURI,
                scopes: scopes,
                nonce: nonce,
                challenge: codeChallenge,
                authenticatedAt: state.now(),
                sendsAuthenticationTime: state.personality.alwaysSendsAuthenticationTime,
                issuesRefreshToken: state.personality.refreshTokens == .always,
                idToken: idToken,
                expiresAt: state.now().addingTimeInterval(Double(state.personality.codeLifetime))
            )
            return code
        }
    }
}

/// The life of the tenant's keys.
extension TestTenant {
    /// Signs with a new key from now on.
    ///
    /// - Parameters:
    ///   - keepOld: goes on publishing the keys so far.
    ///   - publish: false for a key that is used before it is published.
    @discardableResult
    package func rotateKeys(keepOld: Bool = true, publish: Bool = true) throws -> TestSigningKey {
        try withState { try $0.keys.rotate(keepOld: keepOld, publish: publish) }
    }

    /// The key that signs now.
    package func signingKey() throws -> TestSigningKey {
        try withState { try $0.keys.signer() }
    }

    /// Publishes a key of any kind without signing with it.
    @discardableResult
    package func addKey(_ key: TestSigningKey) -> TestSigningKey {
        withState { $0.keys.add(key) }
        return key
    }

    /// Publishes a JWK as text: odd, broken or hostile.
    package func addRawKey(_ jwk: String, first: Bool = false) throws {
        try withState { state in
            _ = try state.keys.signer()  // so that "first" is before it
            state.keys.addRaw(jwk, first: first)
        }
    }

    /// Publishes exactly these keys.
    package func publishKeys(only kids: [String]) {
        withState { $0.keys.publish(only: kids) }
    }

    /// Signs with a key that was added or used before.
    package func sign(with kid: String) {
        withState { $0.keys.sign(with: kid) }
    }
}
