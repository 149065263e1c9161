import Linking
import Projects
import Secrets
import Sessions
import Storage

/// A session about to be written, with the secret that only its client will know.
struct PreparedSession: Sendable {
    var values: NewSession
    var secret: Secret
}

extension Parts {
    /// - Parameters:
    ///   - id: the session to renew; nil for a new one.
    func prepareSession(
        _ id: SessionID?,
        provider: ProviderID,
        claims: String? = nil,
        attributes: String? = nil,
        caller: Caller
    ) -> PreparedSession {
        let secret = Secret(random.handle())
        let values = NewSession(
            id: id ?? SessionID(random: random),
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

    func issueTokens(for account: Account, _ session: PreparedSession, caller: Caller) throws -> IssuedTokens {
        let idToken = try mint(
            for: account,
            session: session.values.id,
            authTime: session.values.authTime,
            provider: session.values.signInProvider,
            claims: session.values.claims,
            attributes: session.values.signInAttributes,
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
        project: Project,
        tenant: TenantID
    ) throws -> String {
        let algorithm: SigningAlgorithm = project.settings.signWithES256 ? .es256 : .rs256
        guard let key = configuration.signingKeys.signer(for: algorithm) else { throw NoSigningKey() }
        var identities: [String: [String]] = [:]
        if let email = account.email { identities["email"] = [email.canonical] }
        if let phoneNumber = account.phoneNumber { identities["phone"] = [phoneNumber] }
        for credential in account.linked { identities[credential.provider.rawValue] = [credential.subject] }
        let token = try IDTokenMinter.mint(
            IDTokenClaims(
                issuer: project.issuer,
                project: project.id,
                account: account.id,
                session: session,
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
                signInAttributes: attributes
            ),
            with: key
        )
        tokenVerifier.remember(token)
        return token
    }
}

extension Project {
    /// `iss` of the project's ID tokens: Firebase's, because Admin SDKs know no other.
    var issuer: String { "https://securetoken.google.com/\(id)" }
}

/// No usable signing key: the service is not ready.
struct NoSigningKey: Error {}
