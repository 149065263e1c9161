import Secrets
import StrictJSON

/// What Firebase's emulator takes for a token: a JWT with `alg` none and no signature, or plain JSON.
enum UnsignedJWT {
    /// The JSON; nil for a signed token and for other text.
    static func payload(of text: String) -> [UInt8]? {
        if text.hasPrefix("{") { return Array(text.utf8) }
        guard let token = CompactJWS(text), token.signature.isEmpty, let header = token.header,
            (try? JSONValue(parsing: header))?.object?["alg"] == .string("none")
        else { return nil }
        return token.payload
    }
}
