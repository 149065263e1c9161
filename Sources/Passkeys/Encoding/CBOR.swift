/// One item of CBOR (RFC 8949) in CTAP2's canonical form, of the kinds that WebAuthn uses.
///
/// Canonical means definite lengths, the shortest integers, and maps whose keys are sorted and unique, so that one value
/// has one encoding (CTAP 2.1 §8). Tags, floating-point numbers and other simple values are refused.
package enum CBOR: Sendable, Hashable {
    case unsigned(UInt64)
    /// −1 − n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([Entry])
    case bool(Bool)
    case null

    package struct Entry: Sendable, Hashable {
        package let key: CBOR
        package let value: CBOR

        package init(key: CBOR, value: CBOR) {
            self.key = key
            self.value = value
        }
    }

    /// Reads one item, which must be all of the bytes.
    package init(_ bytes: [UInt8]) throws(CBORError) {
        var reader = try CBORReader(bytes)
        self = try reader.item()
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}

extension CBOR {
    /// An integer that fits.
    package var integer: Int? {
        switch self {
        case .unsigned(let number): Int(exactly: number)
        case .negative(let number): Int(exactly: number).map { -1 - $0 }
        default: nil
        }
    }

    package var bytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    package var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    package var array: [CBOR]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    package var map: [Entry]? {
        guard case .map(let entries) = self else { return nil }
        return entries
    }

    /// The value of a map's text key.
    package subscript(name: String) -> CBOR? { map?.first { $0.key.text == name }?.value }

    /// The value of a map's integer key, such as a COSE label.
    package subscript(label: Int) -> CBOR? { map?.first { $0.key.integer == label }?.value }
}
