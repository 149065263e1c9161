import Domain
import Projects
import StrictJSON

/// Creates ID tokens: a JWS in compact form (RFC 7515 §3.1) with Firebase's claims, `firebase.sid` and `firebase.jti`.
package enum IDTokenMinter {
    /// Signs the claims; the token is valid for ``IDTokenClaims/lifetime``.
    ///
    /// - Parameter limit: see ``payload(of:within:by:)``.
    package static func mint(
        _ claims: IDTokenClaims,
        within limit: Int? = nil,
        with key: some TokenSigner
    ) throws(IDTokenMintingError) -> String {
        try key.token(of: payload(of: claims, within: limit, by: key))
    }

    /// What a key is to sign.
    ///
    /// - Parameter limit: the length of the token in bytes; what others can look up is left out to keep it. Nil for none.
    package static func payload(
        of claims: IDTokenClaims,
        within limit: Int?,
        by key: some TokenSigner
    ) throws(IDTokenMintingError) -> [UInt8] {
        let whole = try payload(of: claims)
        guard let limit, key.length(ofPayload: whole.count) > limit else { return whole }
        var claims = claims
        claims.picture = nil
        let short = try payload(of: claims)
        guard key.length(ofPayload: short.count) > limit else { return short }
        claims.signInAttributes = nil
        let shortest = try payload(of: claims)
        guard key.length(ofPayload: shortest.count) <= limit else { throw .tooLong }
        return shortest
    }

    /// The claims in Firebase's order.
    private static func payload(of claims: IDTokenClaims) throws(IDTokenMintingError) -> [UInt8] {
        let custom = try CustomClaims.merged(account: claims.accountClaims, session: claims.sessionClaims)
        var json = JSONText(capacity: 768)
        json.openObject()
        // Custom claims may replace name and picture, as in Firebase.
        if let name = claims.name, !name.isEmpty, !custom.contains(where: { $0.name == "name" }) {
            json.member("name", name)
        }
        if let picture = claims.picture, !picture.isEmpty, !custom.contains(where: { $0.name == "picture" }) {
            json.member("picture", picture)
        }
        for member in custom { json.member(member.name, member.value) }
        if claims.signInProvider == .anonymous { json.member("provider_id", ProviderID.anonymous.rawValue) }
        json.member("iss", claims.issuer)
        json.member("aud", claims.project.rawValue)
        json.member("auth_time", claims.authTime)
        json.member("user_id", claims.account.rawValue)
        json.member("sub", claims.account.rawValue)
        json.member("iat", claims.issuedAt)
        json.member("exp", claims.issuedAt + IDTokenClaims.lifetime)
        if let email = claims.email, !email.isEmpty {
            json.member("email", email)
            json.member("email_verified", claims.emailVerified)
        }
        if let phoneNumber = claims.phoneNumber, !phoneNumber.isEmpty { json.member("phone_number", phoneNumber) }
        try writeFirebase(of: claims, into: &json)
        json.closeObject()
        return json.bytes
    }

    private static func writeFirebase(
        of claims: IDTokenClaims,
        into json: inout JSONText
    ) throws(IDTokenMintingError) {
        json.openObject("firebase")
        json.openObject("identities")
        for (name, values) in claims.identities.sorted(by: { $0.key < $1.key }) { json.member(name, values) }
        json.closeObject()
        let provider = claims.signInProvider == .emailLink ? .password : claims.signInProvider
        json.member("sign_in_provider", provider.rawValue)
        if let factor = claims.secondFactor {
            json.member("sign_in_second_factor", factor.kind)
            json.member("second_factor_identifier", factor.enrollment)
        }
        if let attributes = claims.signInAttributes {
            guard let object = JSONObject(ours: attributes.utf8) else { throw .invalidSignInAttributes }
            json.member("sign_in_attributes", .object(object))
        }
        if claims.tenant != .none { json.member("tenant", claims.tenant.rawValue) }
        json.member("sid", claims.session.rawValue)
        json.member("jti", claims.id)
        json.closeObject()
    }
}

/// Turns claims into a token: always a ``SigningKey`` in production.
package protocol TokenSigner: Sendable {
    /// A JWS in compact form (RFC 7515 §3.1) of a payload.
    func token(of payload: [UInt8]) throws(IDTokenMintingError) -> String

    /// The length of the token in bytes.
    func length(ofPayload count: Int) -> Int
}

/// Why no ID token was created; the first three mean that unchecked values were stored.
package enum IDTokenMintingError: Error, Equatable {
    case invalidAccountClaims
    case invalidSessionClaims
    case invalidSignInAttributes
    case signingFailed
    /// Without all that can be left out, too.
    case tooLong
}
