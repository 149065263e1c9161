import Linking
import Projects
import Secrets
import StrictJSON

/// An ID token whose form and signature are right, before anyone looked at issuer, audience or times.
struct SignedIDToken: Sendable {
    let issuer: String
    let audience: String
    let token: VerifiedIDToken

    /// Reads a JWS in compact form (RFC 7515 §3.1) and verifies it with the key that its header names, by the algorithm
    /// that is that key's own (RFC 8725 §3.1).
    ///
    /// - Parameter isKnown: the signature was right before.
    init(_ text: [UInt8], keys: SigningKeys, isKnown: Bool) throws(IDTokenError) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]).flatMap(JSONObject.init(ours:)),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        // Letter by letter the header that a key writes, or read as any other.
        let key = if let key = keys.key(header: parts[0]) { key } else { try Self.key(for: parts[0], in: keys) }
        guard isKnown || key.verifies(signature, of: Array(text[..<parts[1].endIndex])) else { throw .badSignature }
        guard let issuer = payload["iss"]?.string, let audience = payload["aud"]?.string,
            let token = VerifiedIDToken(payload, kid: key.kid)
        else { throw .malformed }
        self.issuer = issuer
        self.audience = audience
        self.token = token
    }

    /// The header is ours when it has `alg`, `kid` and `typ` and nothing else: no `crit`, no key of its own.
    private static func key(
        for part: ArraySlice<UInt8>,
        in keys: SigningKeys
    ) throws(IDTokenError) -> SigningKey {
        guard let header = Base64URL.decode(part).flatMap(JSONObject.init(ours:)), header.members.count == 3,
            let name = header["alg"]?.string, let kid = header["kid"]?.string,
            header["typ"]?.string == "JWT"
        else { throw .malformed }
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw .wrongAlgorithm }
        guard let key = keys.key(kid) else { throw .unknownKey }
        guard key.algorithm == algorithm else { throw .wrongAlgorithm }
        return key
    }
}

extension VerifiedIDToken {
    /// Nil when a claim that all our tokens have is absent or of another type.
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
