package import StrictJSON

/// What a custom token says: who is to be signed in, and with which claims.
///
/// Nothing of it was judged yet but who says it.
package struct CustomToken: Sendable {
    package var uid: String?
    package var claims: JSONValue?
    package var tenant: String?

    /// Reads the payload of a token, or the JSON that stands for one in development.
    package init(_ payload: JSONObject) {
        uid = payload["uid"]?.string ?? payload["user_id"]?.string
        claims = payload["claims"]
        tenant = payload["tenant_id"]?.string
    }
}

/// Why a custom token was refused; the text goes behind `INVALID_CUSTOM_TOKEN`.
package enum CustomTokenError: String, Error, Equatable, CaseIterable {
    case malformed = "Invalid assertion format"
    case wrongAlgorithm = "The assertion must be signed with RS256"
    case unknownSigner = "The assertion's issuer is no service account that may sign custom tokens"
    case badSignature = "The assertion's signature is invalid"
    case wrongAudience = "The assertion's audience is invalid"
    case issuedInFuture = "The assertion was issued in the future"
    case tooLong = "The assertion lives for more than an hour"
    case expired = "The assertion has expired"
}
