package import StrictJSON

/// The content of a custom token: the user to sign in, and the claims.
///
/// Only the signer has been checked so far.
package struct CustomToken: Sendable {
    /// `aud` of every custom token.
    package static let audience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    package var uid: String?
    package var claims: JSONValue?
    package var tenant: String?
    /// Seconds since 1970; nil only for JSON that replaces a token.
    package var issuedAt: Int64?

    /// Reads a token's payload, or the JSON that replaces one in development.
    package init(_ payload: JSONObject) {
        uid = payload["uid"]?.string ?? payload["user_id"]?.string
        claims = payload["claims"]
        tenant = payload["tenant_id"]?.string
        issuedAt = payload["iat"]?.numericDate
    }
}
