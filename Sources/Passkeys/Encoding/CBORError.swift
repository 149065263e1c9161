/// Why bytes are not CBOR that the service accepts.
package enum CBORError: Error, Equatable, CaseIterable {
    /// More than 64 KiB.
    case tooLong
    case truncated
    /// Something follows the item.
    case trailingBytes
    /// More than eight maps and arrays inside each other.
    case tooDeep
    case indefiniteLength
    /// An integer or a length has a shorter encoding.
    case notShortest
    /// A map's keys are not in CTAP2's order.
    case unsortedKeys
    case duplicateKey
    /// A text is not UTF-8.
    case invalidText
    /// A tag, a floating-point number, another simple value, or a key that is neither an integer nor a string.
    case unsupported
    /// An encoding that RFC 8949 reserves.
    case reserved
}
