/// What an authorization request needs next.
package enum AuthorizationStep: Sendable, Hashable {
    case signIn
    case consent
    /// A code for the client.
    case grant
    case refuse(OAuthError)

    /// The browser's session, as far as it matters here.
    package struct SignedIn: Sendable, Hashable {
        /// Seconds since 1970.
        package var authTime: Int64
        /// Whether the user is the one whom the request names, if it names one.
        package var isNamed: Bool
        /// Whether the user signed in for this request.
        package var isForThis: Bool
        /// Whether the sign-in is recent, with a second factor if the account has one.
        package var isStrong: Bool
        /// Whether the application may get codes without the user's doing, for now.
        package var maySilently: Bool

        package init(authTime: Int64, isNamed: Bool, isForThis: Bool, isStrong: Bool, maySilently: Bool) {
            self.authTime = authTime
            self.isNamed = isNamed
            self.isForThis = isForThis
            self.isStrong = isStrong
            self.maySilently = maySilently
        }
    }

    /// Decides by the request, the session and earlier consent alone.
    ///
    /// - Parameters:
    ///   - session: nil if nobody is signed in.
    ///   - granted: what the user granted the client before, in sessions that still exist.
    ///   - hasAgreed: whether the user has just agreed.
    ///   - now: seconds since 1970.
    package static func next(
        for request: AuthorizationRequest,
        of client: OAuthClient,
        session: SignedIn?,
        granted: [ApplicationGrant],
        hasAgreed: Bool,
        now: Int64
    ) -> AuthorizationStep {
        let isSilent = request.prompt.contains(.none)
        if let session, session.isForThis, !session.isNamed {
            return .refuse(OAuthError(.loginRequired, "Another user has signed in than id_token_hint names"))
        }
        guard let session, session.isNamed, isCurrent(session, for: request, now: now),
            session.isStrong || !isSensitive(request, of: client, granted)
        else {
            return isSilent ? .refuse(OAuthError(.loginRequired, "The user must sign in")) : .signIn
        }
        let maySilently = session.isForThis || session.maySilently
        guard hasAgreed || maySilently && !needsConsent(request, of: client, granted) else {
            return isSilent ? .refuse(OAuthError(.consentRequired, "The user must consent")) : .consent
        }
        return .grant
    }

    private static func isCurrent(_ session: SignedIn, for request: AuthorizationRequest, now: Int64) -> Bool {
        if session.isForThis { return true }
        guard request.prompt.isDisjoint(with: [.login, .selectAccount]) else { return false }
        return request.maxAge.map { now - session.authTime <= $0 } ?? true
    }

    /// Whether a thief of the session alone must not get it: access of a new client, or access that outlives the session.
    ///
    /// For the project's own clients an admin has granted the first.
    private static func isSensitive(
        _ request: AuthorizationRequest,
        of client: OAuthClient,
        _ granted: [ApplicationGrant]
    ) -> Bool {
        client.mayRefresh(request.grant) || !client.isTrusted && granted.isEmpty
    }

    /// Anybody can send a request in the name of a client whose code any program on the device may receive, so neither an
    /// earlier consent nor an admin's trust counts for it (RFC 8252 §8.6).
    private static func needsConsent(
        _ request: AuthorizationRequest,
        of client: OAuthClient,
        _ granted: [ApplicationGrant]
    ) -> Bool {
        let isNative = RedirectURI(request.redirectURI)?.isNative ?? true
        if request.prompt.contains(.consent) || isNative { return true }
        return !client.isTrusted && !granted.contains { $0.covers(request.grant) }
    }
}
