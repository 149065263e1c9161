/// A JWS in compact form (RFC 7515 §3.1): three parts of canonical base64url; nothing in it is verified.
package struct CompactJWS: Sendable {
    private let text: [UInt8]
    /// As in the text, not decoded.
    package let encodedHeader: ArraySlice<UInt8>
    package let payload: [UInt8]
    package let signature: [UInt8]
    private let payloadEnd: Int

    /// Nil for any other text; the header is decoded when it is read.
    package init?(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { return nil }
        self.text = text
        self.encodedHeader = parts[0]
        self.payload = payload
        self.signature = signature
        self.payloadEnd = parts[1].endIndex
    }

    package init?(_ text: String) { self.init(Array(text.utf8)) }

    /// Nil if it is not base64url.
    package var header: [UInt8]? { Base64URL.decode(encodedHeader) }

    /// Header and payload, as they are signed.
    package var signedBytes: [UInt8] { Array(text[..<payloadEnd]) }
}
