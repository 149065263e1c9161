package import Sessions
import StrictJSON

/// Accepts custom tokens of Admin SDKs that use an emulator: JWTs with `alg` none, or plain JSON.
///
/// Anyone who can reach the service can sign in as anyone with these: only `identity dev` uses this, and nothing else
/// imports this module.
package enum UnsignedCustomTokens {
    /// Nil for a signed token, a JWT for another audience, and text that is not a token; plain JSON needs no audience.
    package static func read(_ text: String) -> CustomToken? {
        guard let payload = UnsignedJWT.payload(of: text), let content = (try? JSONValue(parsing: payload))?.object,
            text.hasPrefix("{") || content["aud"] == .string(CustomToken.audience)
        else { return nil }
        return CustomToken(content)
    }
}
