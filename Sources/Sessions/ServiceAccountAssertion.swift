import Secrets
package import StrictJSON
package import SystemCrypto

/// A JWT that a service account signed: a custom token, or an assertion for an access token (RFC 7523 §3).
///
/// It names its signer; the caller must find the signer's keys and verify the signature before it uses the content.
package struct ServiceAccountAssertion: Sendable {
    /// The maximum lifetime in seconds.
    package static let lifetime: Int64 = 3600
    /// How far ahead the back end's clock may be, in seconds.
    package static let clockSkew: Int64 = 60

    /// The service account that claims to have signed it.
    package let issuer: String
    /// The subject, if it is stated: must be the issuer.
    package let subject: String?
    /// Some SDKs send the key ID, others omit it.
    package let keyID: String?
    private let payload: JSONObject
    private let token: CompactJWS

    /// - Throws: ``AssertionError/malformed``, also if the subject is not the issuer;
    ///   ``AssertionError/wrongAlgorithm``.
    package init(_ text: String) throws(AssertionError) {
        let text = Array(text.utf8)
        guard text.count <= IDTokenVerifier.maximumLength else { throw .malformed }
        guard let token = CompactJWS(text), let header = token.header.flatMap(JSONObject.init(ours:)),
            let payload = JSONObject(ours: token.payload), header["crit"] == nil, let name = header["alg"]?.string,
            let issuer = payload["iss"]?.string, payload["sub"] == nil || payload["sub"]?.string == issuer
        else { throw .malformed }
        guard name == "RS256" else { throw .wrongAlgorithm }
        self.issuer = issuer
        self.subject = payload["sub"]?.string
        self.keyID = header["kid"]?.string
        self.payload = payload
        self.token = token
    }

    /// Whether this key's private half signed it.
    package func isSigned(by publicKey: RSAPublicKey) -> Bool {
        publicKey.verifies(token.signature, of: token.signedBytes)
    }

    /// The content, after the signature was verified.
    ///
    /// - Parameters:
    ///   - audiences: the allowed audiences.
    ///   - now: seconds since 1970.
    package func checked(for audiences: [String], now: Int64) throws(AssertionError) -> JSONObject {
        guard let audience = payload["aud"]?.string, audiences.contains(audience) else { throw .wrongAudience }
        try checkTimes(now: now)
        return payload
    }

    /// The end of an assertion that is itself the bearer token of calls (AIP-4111), in seconds since 1970, after the
    /// signature was verified.
    ///
    /// Its audience is the service, or it has none and names scopes. Custom tokens, which users get, have another audience.
    ///
    /// - Parameters:
    ///   - audiences: the allowed audiences.
    ///   - now: seconds since 1970.
    /// - Returns: also the scopes that it names; empty for an audience.
    package func checkedAsBearer(
        for audiences: [String],
        now: Int64
    ) throws(AssertionError) -> (scopes: [String], expiresAt: Int64) {
        let scopes = payload["scope"]?.string?.split(separator: " ").map { String($0) } ?? []
        if let audience = payload["aud"] {
            guard let audience = audience.string, audiences.contains(audience) else { throw .wrongAudience }
        } else if scopes.isEmpty {
            throw .wrongAudience
        }
        let scope = payload["scope"]
        guard subject != nil, payload["uid"] == nil, payload["claims"] == nil, scope == nil || scope?.string != nil
        else {
            throw .malformed
        }
        return (scopes, try checkTimes(now: now))
    }

    /// - Returns: `exp`.
    @discardableResult
    private func checkTimes(now: Int64) throws(AssertionError) -> Int64 {
        guard let issuedAt = payload["iat"]?.numericDate, let expiresAt = payload["exp"]?.numericDate else {
            throw .malformed
        }
        guard issuedAt <= now + Self.clockSkew else { throw .issuedInFuture }
        let (life, overflow) = expiresAt.subtractingReportingOverflow(issuedAt)
        // Google's PHP clients begin a minute ago, for clocks that differ, and end in an hour.
        guard !overflow, life <= Self.lifetime + Self.clockSkew else { throw .tooLong }
        guard now < expiresAt else { throw .expired }
        return expiresAt
    }
}

/// Why an assertion was refused; the text is appended to `INVALID_CUSTOM_TOKEN` and becomes `error_description`.
package enum AssertionError: String, Error, Equatable, CaseIterable {
    case malformed = "Invalid assertion format"
    case wrongAlgorithm = "The assertion must be signed with RS256"
    case unknownSigner = "The assertion's issuer is not a service account with this permission"
    case badSignature = "The assertion's signature is invalid"
    case wrongAudience = "The assertion's audience is invalid"
    case issuedInFuture = "The assertion was issued in the future"
    case tooLong = "The assertion is valid for more than an hour"
    case expired = "The assertion has expired"
    case revoked = "The assertion was issued before the user's tokens were revoked"
}
