import Domain
package import Projects
import Secrets
package import StrictJSON

/// The claims of an ID token before issuer, audience and times are checked.
package struct IDTokenContent: Sendable {
    private let issuer: String
    private let audience: String
    private let token: VerifiedIDToken

    /// Nil if a claim that all our tokens have is absent or of another type.
    ///
    /// - Parameter kid: the ID of the key that signed them.
    package init?(_ payload: JSONObject, kid: String) {
        guard let issuer = payload["iss"]?.string, let audience = payload["aud"]?.string,
            let token = VerifiedIDToken(payload, kid: kid)
        else { return nil }
        self.issuer = issuer
        self.audience = audience
        self.token = token
    }

    /// The tenant that a token names, without any verification; nil if it names none.
    package static func claimedTenant(of token: String) -> TenantID? {
        guard token.utf8.count <= IDTokenVerifier.maximumLength,
            let payload = CompactJWS(token).flatMap({ JSONObject(ours: $0.payload) })
        else { return nil }
        return payload["firebase"]?.object?["tenant"]?.string.map { TenantID(rawValue: $0) }
    }

    /// Checks issuer, audience, times and tenant, in this order, `exp` last.
    package func checked(
        project: ProjectID,
        issuers: [String],
        tenant: TenantID?,
        now: Int64
    ) throws(IDTokenError) -> VerifiedIDToken {
        guard issuers.contains(where: { $0.utf8.elementsEqual(issuer.utf8) }) else { throw .wrongIssuer }
        guard audience == project.rawValue else { throw .wrongAudience }
        guard token.issuedAt <= now + IDTokenVerifier.clockSkew else { throw .issuedInFuture }
        if let tenant, token.tenant != tenant { throw .wrongTenant }
        guard now < token.expiresAt else { throw .expired }
        return token
    }
}

extension VerifiedIDToken {
    /// Nil if a claim that all our tokens have is absent or of another type.
    fileprivate init?(_ payload: JSONObject, kid: String) {
        guard let subject = payload["sub"]?.string, !subject.isEmpty, payload["user_id"]?.string == subject,
            let authTime = payload["auth_time"]?.integer, let issuedAt = payload["iat"]?.integer,
            let expiresAt = payload["exp"]?.integer, let firebase = payload["firebase"]?.object,
            let session = firebase["sid"]?.string.flatMap(SessionID.init(rawValue:)),
            let provider = firebase["sign_in_provider"]?.string
        else { return nil }
        self.account = AccountID(subject)
        self.session = session
        self.authTime = authTime
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.signInProvider = ProviderID(provider)
        self.kid = kid
        switch firebase["tenant"] {
        case nil: self.tenant = .none
        case .string(let tenant) where !tenant.isEmpty: self.tenant = TenantID(rawValue: tenant)
        default: return nil
        }
        switch (firebase["sign_in_second_factor"], firebase["second_factor_identifier"]) {
        case (nil, nil): self.secondFactor = nil
        case (.string(let kind), .string(let enrollment)):
            self.secondFactor = IDTokenClaims.SecondFactor(kind: kind, enrollment: enrollment)
        default: return nil
        }
    }
}
