import StrictJSON
import Crypto
import Secrets

extension IDTokenExpectation {
    /// Refuses another issuer; done before keys are loaded, so that a foreign token causes no request.
    func checkIssuer(_ claims: JSONObject) throws(FederationError) {
        let got = claims["iss"]?.string
        guard let got, SafeText.isOne(got, of: issuers) else {
            throw .issuerMismatch(
                got: SafeText.short(got ?? claims["iss"]?.jsonText ?? ""),
                want: issuers.first ?? ""
            )
        }
    }

    /// Checks the claims of a token with a valid signature.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: the subject.
    func check(_ claims: JSONObject, algorithm: SignatureAlgorithm, now: Int64) throws(FederationError) -> String {
        try checkIssuer(claims)
        // Only logout tokens and security events have it (T-C10).
        guard claims["events"] == nil else { throw .signatureInvalid(.header) }
        try checkAudience(claims)
        try checkTimes(claims, now: now)
        guard case .string(let subject) = claims["sub"], (1...255).contains(subject.utf8.count),
            !subject.utf8.contains(0)
        else { throw .missingSubject(claims: SafeText.short(JSONValue.object(claims).jsonText)) }
        try checkNonce(claims["nonce"])
        try checkHash(claims["at_hash"], of: accessToken, algorithm)
        try checkHash(claims["c_hash"], of: code, algorithm)
        return subject
    }

    private func checkAudience(_ claims: JSONObject) throws(FederationError) {
        let got: [String]
        let wellFormed: Bool
        switch claims["aud"] {
        case .string(let text): (got, wellFormed) = ([text], true)
        case .array(let values):
            got = values.map { $0.string ?? $0.jsonText }
            wellFormed = values.allSatisfy { $0.string != nil }
        case .some(let other): (got, wellFormed) = ([other.jsonText], false)
        case nil: (got, wellFormed) = ([], false)
        }
        var mismatch: FederationError {
            .audienceMismatch(got: got.prefix(8).map(SafeText.short), want: audiences.first ?? "")
        }
        guard wellFormed, got.contains(where: { SafeText.isOne($0, of: audiences) }) else { throw mismatch }
        switch claims["azp"] {
        case nil: guard got.count == 1 else { throw .authorizedPartyMismatch("") }
        case .string(let party):
            guard SafeText.isOne(party, of: authorizedParties) else {
                throw .authorizedPartyMismatch(SafeText.short(party))
            }
        default: throw .authorizedPartyMismatch("")
        }
    }

    private func checkTimes(_ claims: JSONObject, now: Int64) throws(FederationError) {
        var stale: FederationError { .staleIDToken(issuedAt: SafeText.short(claims["iat"]?.jsonText ?? "")) }
        guard let issued = claims["iat"]?.numericDate, let expires = claims["exp"]?.numericDate else { throw stale }
        guard now < expires + Self.skew, issued <= now + Self.skew else { throw stale }
        if let maximumAge, now - issued > Int64(maximumAge) + Self.skew { throw stale }
        var earliest = authenticatedSince ?? 0
        if let maximumAuthenticationAge { earliest = max(earliest, now - Int64(maximumAuthenticationAge)) }
        // `prompt=login` alone does not require the provider to send `auth_time`.
        let mayLack = maximumAuthenticationAge == nil
        guard earliest > 0, !mayLack || claims["auth_time"] != nil else { return }
        guard let time = claims["auth_time"]?.numericDate, time >= earliest - Self.skew, time <= now + Self.skew
        else { throw .authenticationTooOld }
    }

    private func checkNonce(_ claim: JSONValue?) throws(FederationError) {
        switch nonce {
        case .sent(nil):
            guard claim == nil else { throw .nonceMismatch }
        case .sent(let sent?):
            guard let got = claim?.string, ConstantTime.equal(got, sent) else { throw .nonceMismatch }
        case .client(let raw, let rules):
            guard claim != nil || rules.requiresNonce else { return }
            guard let raw else {
                guard rules.rawNonce == .ifSent, claim != nil else { throw .nonceMissingInRequest }
                return
            }
            guard let got = claim?.string else { throw .nonceMismatch }
            let exact = ConstantTime.equal(got, raw)
            let hashed = ConstantTime.equal(got, SecureHash.sha256Hex(raw))
            let matches =
                switch rules.clientNonce {
                case .sha256: hashed
                case .exact: exact
                case .either: exact || hashed
                }
            guard matches else { throw .nonceMismatch }
        }
    }

    /// OIDC Core §3.1.3.6, §3.3.2.11: the left half of the hash for the signature's algorithm.
    private func checkHash(
        _ claim: JSONValue?,
        of text: String?,
        _ algorithm: SignatureAlgorithm
    ) throws(FederationError) {
        guard let text else { return }
        guard let claim else {
            guard !requiresHashes else { throw .hashMismatch }
            return
        }
        let bytes = Array(text.utf8)
        let hash: [UInt8] =
            switch algorithm {
            case .rs256, .ps256, .es256: Array(SHA256.hash(data: bytes))
            case .rs384, .ps384, .es384: Array(SHA384.hash(data: bytes))
            case .rs512, .ps512, .es512, .edDSA: Array(SHA512.hash(data: bytes))
            }
        guard let got = claim.string, ConstantTime.equal(got, Base64URL.encode(hash.prefix(hash.count / 2))) else {
            throw .hashMismatch
        }
    }
}
