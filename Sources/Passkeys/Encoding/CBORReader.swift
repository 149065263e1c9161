/// Reads items of canonical CBOR from the front of bytes, without recursion deeper than ``depth``.
struct CBORReader {
    /// In bytes; an attestation object with a certificate chain has 2 to 8 KiB.
    static let limit = 65_536
    /// A compound attestation nests five levels, everything else three.
    private static let depth = 8

    private let bytes: [UInt8]
    /// Where the next item begins.
    private(set) var position: Int

    init(_ bytes: [UInt8], at position: Int = 0) throws(CBORError) {
        guard bytes.count <= Self.limit else { throw .tooLong }
        self.bytes = bytes
        self.position = position
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func item() throws(CBORError) -> CBOR { try item(depth: Self.depth) }

    /// - Parameter depth: the number of maps and arrays that may still be opened.
    private mutating func item(depth: Int) throws(CBORError) -> CBOR {
        guard let head = try take(1).first else { throw .truncated }
        let (majorType, information) = (head >> 5, head & 31)
        guard majorType < 7 else { return try simpleValue(information) }
        let argument = try argument(information)
        switch majorType {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(Array(try take(argument)))
        case 3:
            guard let text = String(validating: try take(argument), as: UTF8.self) else { throw .invalidText }
            return .text(text)
        case 4: return .array(try items(argument, depth: depth))
        case 5: return .map(try entries(argument, depth: depth))
        default: throw .unsupported  // a tag
        }
    }

    private mutating func items(_ count: UInt64, depth: Int) throws(CBORError) -> [CBOR] {
        guard depth > 0 else { throw .tooDeep }
        var items: [CBOR] = []
        // Each item consumes a byte at least, so a count that lies ends at the end of the bytes.
        for _ in 0..<count { items.append(try item(depth: depth - 1)) }
        return items
    }

    private mutating func entries(_ count: UInt64, depth: Int) throws(CBORError) -> [CBOR.Entry] {
        guard depth > 0 else { throw .tooDeep }
        var entries: [CBOR.Entry] = []
        var previous: ArraySlice<UInt8>?
        for _ in 0..<count {
            let start = position
            let key = try item(depth: 0)
            switch key {
            case .unsigned, .negative, .bytes, .text: break
            case .array, .map, .bool, .null: throw .unsupported
            }
            let encoded = bytes[start..<position]
            if let previous {
                guard !previous.elementsEqual(encoded) else { throw .duplicateKey }
                guard Self.precedes(previous, encoded) else { throw .unsortedKeys }
            }
            previous = encoded
            entries.append(CBOR.Entry(key: key, value: try item(depth: depth - 1)))
        }
        return entries
    }

    /// By major type, then by length, then bytewise (CTAP 2.1 §8).
    private static func precedes(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        let (type, otherType) = (one[one.startIndex] >> 5, other[other.startIndex] >> 5)
        guard type == otherType else { return type < otherType }
        guard one.count == other.count else { return one.count < other.count }
        return one.lexicographicallyPrecedes(other)
    }

    /// The number or length that the head of an item announces.
    private mutating func argument(_ information: UInt8) throws(CBORError) -> UInt64 {
        switch information {
        case 0..<24: return UInt64(information)
        case 24...27:
            let size = 1 << (information - 24)
            let argument = try take(UInt64(size)).reduce(0) { $0 << 8 | UInt64($1) }
            guard argument >= (size == 1 ? 24 : 1 << (size * 4)) else { throw .notShortest }
            return argument
        case 31: throw .indefiniteLength
        default: throw .reserved
        }
    }

    private func simpleValue(_ information: UInt8) throws(CBORError) -> CBOR {
        switch information {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 28...30: throw .reserved
        case 31: throw .indefiniteLength  // the end of one
        default: throw .unsupported
        }
    }

    private mutating func take(_ count: UInt64) throws(CBORError) -> ArraySlice<UInt8> {
        guard count <= UInt64(bytes.count - position) else { throw .truncated }
        defer { position += Int(count) }
        return bytes[position..<position + Int(count)]
    }
}
