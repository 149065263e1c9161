import StrictJSON

/// The claims that an admin or a custom token adds at the top level of ID tokens, as the text of a JSON object.
package enum CustomClaims {
    /// Names that custom claims must not have (OIDC's, JWT's and Firebase's own).
    package static let reservedNames: Set<String> = [
        "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat", "iss", "jti",
        "nbf", "nonce", "sub",
    ]

    /// Names that custom claims may have, but without effect: they must not override our claims about the account, even
    /// if we omit the claim because the account lacks the value.
    static let ownNames: Set<String> = ["email", "email_verified", "phone_number", "provider_id", "user_id"]

    /// The names of the members, in order; nil unless the text is a JSON object that ``IDTokenMinter`` accepts.
    package static func names(in text: String) -> [String]? {
        JSONObject(ours: text.utf8)?.members.map(\.name)
    }

    /// Account and session claims as they appear in a token; session claims take precedence.
    static func merged(
        account: String?,
        session: String?
    ) throws(IDTokenMintingError) -> [JSONObject.Member] {
        guard account != nil || session != nil else { return [] }
        let ofSession = try members(session, else: .invalidSessionClaims)
        let names = Set(ofSession.map { Array($0.name.utf8) })
        let ofAccount = try members(account, else: .invalidAccountClaims)
            .filter { !names.contains(Array($0.name.utf8)) }
        return ofAccount + ofSession
    }

    private static func members(
        _ text: String?,
        else error: IDTokenMintingError
    ) throws(IDTokenMintingError) -> [JSONObject.Member] {
        guard let text else { return [] }
        guard let object = JSONObject(ours: text.utf8) else { throw error }
        return object.members.filter { !reservedNames.contains($0.name) && !ownNames.contains($0.name) }
    }
}

extension JSONObject {
    /// A JSON object from a token that we create or read; nil for anything else.
    ///
    /// NUL is allowed, because users' display names are written unchanged.
    init?(ours bytes: some Sequence<UInt8>) {
        guard let object = (try? JSONValue(parsing: bytes, allowsNUL: true))?.object else { return nil }
        self = object
    }
}
