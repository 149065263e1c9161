package import StrictJSON

/// What a custom token says: who is to be signed in, and with which claims.
///
/// Nothing of it was judged yet but who says it.
package struct CustomToken: Sendable {
    /// `aud` of every custom token.
    package static let audience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

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
