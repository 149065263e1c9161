import Secrets
import StrictJSON

/// What the browser says about the request that it passed to the authenticator (WebAuthn §5.8.1).
package struct ClientData: Sendable, Equatable {
    package let type: String
    /// Names the pending request, before anything is verified.
    package let challenge: [UInt8]
    package let origin: String
    package let isCrossOrigin: Bool
    package let topOrigin: String?
    /// SHA-256 of the text, which the authenticator signs.
    package let hash: [UInt8]

    /// Parses the text as the browser sent it; members that WebAuthn does not define are ignored.
    ///
    /// - Throws: `malformedClientData`, also for a repeated member.
    package init(_ text: [UInt8]) throws(PasskeyError) {
        guard text.count <= CBORReader.limit else { throw .malformedClientData }
        // UTF-8 decode removes a byte order mark.
        let json = text.starts(with: [0xef, 0xbb, 0xbf]) ? text[3...] : text[...]
        guard let object = (try? JSONValue(parsing: json, depth: 16))?.object, let type = object["type"]?.string,
            let challenge = object["challenge"]?.string.flatMap({ Base64URL.decode($0) }),
            let origin = object["origin"]?.string
        else { throw .malformedClientData }
        switch object["crossOrigin"] {
        case nil: isCrossOrigin = false
        case .bool(let flag): isCrossOrigin = flag
        default: throw .malformedClientData
        }
        switch object["topOrigin"] {
        case nil: topOrigin = nil
        case .string(let text): topOrigin = text
        default: throw .malformedClientData
        }
        self.type = type
        self.challenge = challenge
        self.origin = origin
        self.hash = SecureHash.sha256(text)
    }
}
