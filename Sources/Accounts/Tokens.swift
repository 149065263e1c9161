import Linking
import Projects
import Secrets
import Sessions
import Storage

/// A session about to be written, with the secret that only its client will know.
struct PreparedSession: Sendable {
    var values: NewSession
    var secret: Secret

    func proving(_ factor: IDTokenClaims.SecondFactor?) -> PreparedSession {
        var session = self
        session.values.secondFactor = factor
        return session
    }

    /// Goes on with a session: with the second factor that it has, and never before it began.
    func continuing(_ stored: StoredSession) -> PreparedSession {
        var session = proving(stored.secondFactor)
        session.values.authTime = max(session.values.authTime, stored.authTime)
        return session
    }
}

extension Parts {
    /// - Parameter token: of the session to renew; nil for a new one. What second factor a renewed one keeps says its row,
    ///   never a token.
    func prepareSession(
        _ token: VerifiedIDToken?,
        provider: ProviderID,
        claims: String? = nil,
        attributes: String? = nil,
        caller: Caller
    ) -> PreparedSession {
        let secret = Secret(random.handle())
        let values = NewSession(
            id: token?.session ?? SessionID(random: random),
            secretHash: RefreshToken.hash(of: secret),
            authTime: seconds,
            signInProvider: provider,
            claims: claims,
            signInAttributes: attributes,
            userAgent: caller.userAgent,
            addressPrefix: caller.addressPrefix
        )
        return PreparedSession(values: values, secret: secret)
    }

    /// - Parameter account: as it is after the session was written. The session is as old as its `validSince` at most, as
    ///   the statement has it that wrote the session.
    func issueTokens(for account: Account, _ session: PreparedSession, caller: Caller) throws -> IssuedTokens {
        let idToken = try mint(
            for: account,
            session: session.values.id,
            authTime: max(session.values.authTime, account.validSince),
            provider: session.values.signInProvider,
            claims: session.values.claims,
            attributes: session.values.signInAttributes,
            secondFactor: session.values.secondFactor,
            project: caller.project,
            tenant: caller.tenant
        )
        let refreshToken = RefreshToken(
            projectNumber: caller.project.number,
            account: account.id,
            session: session.values.id,
            secret: session.secret
        )
        return IssuedTokens(idToken: idToken, refreshToken: Secret(refreshToken.text))
    }

    func mint(
        for account: Account,
        session: SessionID,
        authTime: Int64,
        provider: ProviderID,
        claims: String?,
        attributes: String?,
        secondFactor: IDTokenClaims.SecondFactor?,
        project: Project,
        tenant: TenantID
    ) throws -> String {
        let algorithm: SigningAlgorithm = project.settings.signWithES256 ? .es256 : .rs256
        let key: (any TokenSigner)? = tokenSigner ?? configuration.signingKeys.signer(for: algorithm, at: seconds)
        guard let key else { throw NoSigningKey() }
        var identities: [String: [String]] = [:]
        if let email = account.email { identities["email"] = [email.canonical] }
        if let phoneNumber = account.phoneNumber { identities["phone"] = [phoneNumber] }
        for credential in account.linked { identities[credential.provider.rawValue] = [credential.subject] }
        let token = try IDTokenMinter.mint(
            IDTokenClaims(
                issuer: try issuer(of: project),
                project: project.id,
                account: account.id,
                session: session,
                id: Base64URL.encode(random.bytes(12)),
                tenant: tenant,
                authTime: authTime,
                issuedAt: seconds,
                signInProvider: provider,
                name: account.displayName,
                picture: account.photoURL,
                email: account.email?.canonical,
                emailVerified: account.emailVerified,
                phoneNumber: account.phoneNumber,
                identities: identities,
                accountClaims: account.customAttributes,
                sessionClaims: claims,
                signInAttributes: attributes,
                secondFactor: secondFactor
            ),
            with: key
        )
        tokenVerifier.remember(token)
        return token
    }

    /// `iss` of what the service signs for a project.
    func issuer(of project: Project) throws -> String {
        guard let issuer = project.issuer(at: ownURL()) else { throw NoOwnURL() }
        return issuer
    }
}

extension AccountChanges {
    /// The caller's session goes on with a new sign-in time and secret, all others end, and so does what they began.
    ///
    /// - Parameter provider: that signed in; nil for the one that did before.
    mutating func renew(_ session: PreparedSession, of user: SignedInAccount, provider: ProviderID? = nil) {
        var values = session.values
        values.authTime = max(values.authTime, user.session.authTime)
        values.signInProvider = provider ?? user.session.signInProvider
        values.claims = user.session.claims
        values.signInAttributes = user.session.signInAttributes
        validSince = values.authTime
        self.session = .renew(values, retiresOldSecret: true)
        endedSessions = .others
    }

    /// A prepared session as it was written; nil when none was.
    func written(_ session: PreparedSession) -> PreparedSession? {
        switch self.session {
        case .open(let values), .renew(let values, _): PreparedSession(values: values, secret: session.secret)
        case .none: nil
        }
    }
}

/// No usable signing key: the service is not ready.
struct NoSigningKey: Error {}

/// The project's tokens are to name this service, and the node does not know its URL.
struct NoOwnURL: Error {}
