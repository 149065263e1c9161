import Secrets
package import Sessions
import StrictJSON

/// Accepts custom tokens of Admin SDKs that use an emulator: JWTs with `alg` none, or plain JSON.
///
/// Anyone who can reach the service can sign in as anyone with these: only `identity dev` uses this, and nothing else
/// imports this module.
package enum UnsignedCustomTokens {
    /// Nil for a signed token, a JWT for another audience, and text that is not a token; plain JSON needs no audience.
    package static func read(_ text: String) -> CustomToken? {
        if text.hasPrefix("{") { return (try? JSONValue(text))?.object.map { CustomToken($0) } }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].isEmpty, let header = Base64URL.decode(parts[0]),
            (try? JSONValue(header))?.object?["alg"] == .string("none"), let payload = Base64URL.decode(parts[1]),
            let content = (try? JSONValue(payload))?.object, content["aud"] == .string(CustomToken.audience)
        else { return nil }
        return CustomToken(content)
    }
}
