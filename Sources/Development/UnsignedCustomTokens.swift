import Secrets
package import Sessions
import StrictJSON

/// Takes the custom tokens of Admin SDKs that were told of an emulator: JWTs with `alg` none, or plain JSON.
///
/// Whoever can reach the service can be anybody with it: `identity dev` wires it, nothing else imports this module.
package enum UnsignedCustomTokens {
    /// Nil for a token that is signed, and for what is no token.
    package static func read(_ text: String) -> CustomToken? {
        if text.hasPrefix("{") { return (try? JSONValue(text))?.object.map { CustomToken($0) } }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].isEmpty, let header = Base64URL.decode(parts[0]),
            (try? JSONValue(header))?.object?["alg"] == .string("none"), let payload = Base64URL.decode(parts[1])
        else { return nil }
        return (try? JSONValue(payload))?.object.map { CustomToken($0) }
    }
}
