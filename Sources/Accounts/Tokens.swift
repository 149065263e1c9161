import Domain
import Projects
import Secrets
import Sessions
import Storage

/// A session about to be opened, with the secret that only its client will have.
struct PreparedSession: Sendable {
    var values: NewSession
    let secret: Secret
}

/// The secret with which the caller's session continues.
struct Renewal: Sendable {
    let secret: Secret
    private let hash: [UInt8]

    init(random: RandomSource) {
        secret = Secret(random.handle())
        hash = RefreshToken.hash(of: secret)
    }

    /// - Parameter method: see ``ContinuedSession/init(_:secretHash:method:)``.
    func of(
        _ session: StoredSession,
        method: (provider: ProviderID, attributes: String?)? = nil
    ) -> ContinuedSession {
        ContinuedSession(session, secretHash: hash, method: method)
    }
}

extension AccountsService {
    /// - Parameters:
    ///   - evidence: the proof that opens the session.
    ///   - secret: nil for a new one.
    func prepareSession(
        _ evidence: Evidence,
        provider: ProviderID,
        claims: String? = nil,
        attributes: String? = nil,
        secret: Secret? = nil,
        caller: Caller
    ) -> PreparedSession {
        let secret = secret ?? Secret(random.handle())
        let values = NewSession(
            id: SessionID(random: random),
            secretHash: RefreshToken.hash(of: secret),
            evidence: evidence,
            signInProvider: provider,
            claims: claims,
            signInAttributes: attributes,
            userAgent: caller.userAgent,
            addressPrefix: caller.addressPrefix,
            pace: SignInPace(caller.project.settings.rateLimits)
        )
        return PreparedSession(values: values, secret: secret)
    }

    func prepareRenewal() -> Renewal { Renewal(random: random) }

    /// - Parameter account: as it is after the session was written.
    func issueTokens(for account: Account, _ session: PreparedSession, caller: Caller) throws -> IssuedTokens {
        let written = session.values.written(validSince: account.validSince)
        return try issueTokens(for: account, written, session.secret, caller: caller)
    }

    /// The tokens of a session that a change opened or continued.
    func issueTokens(after changed: ChangedAccount, _ secret: Secret, caller: Caller) throws -> IssuedTokens {
        let tokens = try issueTokens(for: try changed.existing, changed.changes.session, secret, caller: caller)
        guard let tokens else { throw AccountsError.contended }
        return tokens
    }

    /// The tokens of a session that was opened or continued; nil if neither.
    func issueTokens(
        for account: Account,
        _ session: SessionEffect,
        _ secret: Secret,
        caller: Caller
    ) throws -> IssuedTokens? {
        guard let session = session.written(validSince: account.validSince) else { return nil }
        return try issueTokens(for: account, session, secret, caller: caller)
    }

    func issueTokens(
        for account: Account,
        _ session: StoredSession,
        _ secret: Secret,
        caller: Caller
    ) throws -> IssuedTokens {
        let refreshToken = RefreshToken(
            projectNumber: caller.project.number,
            tenant: caller.tenant,
            account: account.id,
            session: session.id,
            secret: secret,
            generation: session.generation,
            under: keyRing
        )
        return IssuedTokens(
            idToken: try mint(for: account, session, caller),
            refreshToken: Secret(refreshToken.text)
        )
    }

    /// A token states about the sign-in exactly what the session's row contains.
    func mint(for account: Account, _ session: StoredSession, _ caller: Caller) throws -> String {
        let claims = try claims(of: account, session, caller)
        let token = try short(account.id, caller) { limit, key throws(IDTokenMintingError) in
            try IDTokenMinter.mint(claims, within: limit, with: key)
        }
        options.tokenVerifier.remember(token)
        return token
    }

    /// Looks whether the tokens of a session that is about to be opened fit where their client keeps them.
    ///
    /// - Throws: ``AccountsError/cookieTooLarge``.
    func requireFittingToken(of account: Account, _ session: PreparedSession, _ caller: Caller) throws {
        guard caller.longestIDToken != nil else { return }
        let claims = try claims(of: account, session.values.written(validSince: account.validSince), caller)
        _ = try short(account.id, caller) { limit, key throws(IDTokenMintingError) in
            try IDTokenMinter.payload(of: claims, within: limit, by: key)
        }
    }

    private func short<T>(
        _ account: AccountID,
        _ caller: Caller,
        _ make: (Int?, any TokenSigner) throws(IDTokenMintingError) -> T
    ) throws -> T {
        let algorithm: SigningAlgorithm = caller.project.settings.signWithES256 ? .es256 : .rs256
        let key: (any TokenSigner)? =
            options.tokenSigner ?? configuration.signingKeys.signer(for: algorithm, at: seconds)
        guard let key else { throw NoSigningKey() }
        do throws(IDTokenMintingError) { return try make(caller.longestIDToken, key) } catch .tooLong {
            AccountEvent.cookieTooLarge.log(account, caller)
            throw AccountsError.cookieTooLarge
        }
    }

    private func claims(of account: Account, _ session: StoredSession, _ caller: Caller) throws -> IDTokenClaims {
        let project = caller.project
        var identities: [String: [String]] = [:]
        if let email = account.email { identities["email"] = [email.canonical] }
        if let phoneNumber = account.phoneNumber { identities["phone"] = [phoneNumber] }
        for credential in account.linked { identities[credential.provider.rawValue] = [credential.subject] }
        return IDTokenClaims(
            issuer: try issuer(of: project),
            project: project.id,
            account: account.id,
            session: session.id,
            id: Base64URL.encode(random.bytes(12)),
            tenant: caller.tenant,
            authTime: session.authTime,
            issuedAt: seconds,
            signInProvider: session.signInProvider,
            name: account.displayName,
            picture: account.photoURL,
            email: account.email?.canonical,
            emailVerified: account.emailVerified,
            phoneNumber: account.phoneNumber,
            identities: identities,
            accountClaims: account.customAttributes,
            sessionClaims: session.claims,
            signInAttributes: session.signInAttributes,
            secondFactor: session.secondFactor
        )
    }

    /// `iss` of the tokens that the service signs for a project.
    func issuer(of project: Project) throws -> String {
        guard let issuer = deployment.issuer(of: project) else { throw NoPublicURL() }
        return issuer
    }
}

extension AccountChanges {
    /// Continues the session with a new secret, and ends all others with everything that they started.
    mutating func endOthers(keeping session: ContinuedSession) {
        validSince = session.authTime
        self.session = .renew(session, retiresOldSecret: true)
        endedSessions = .others
    }
}

/// No usable signing key: the service is not ready.
struct NoSigningKey: Error {}

/// The project's tokens must name this service as their issuer, but the node does not know its URL.
struct NoPublicURL: Error {}
