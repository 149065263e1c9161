package import Passkeys

extension CBOR {
    /// The canonical encoding, of a map whose entries are in order.
    package var encoded: [UInt8] {
        switch self {
        case .unsigned(let number): Self.head(0, number)
        case .negative(let number): Self.head(1, number)
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let entries):
            Self.head(5, UInt64(entries.count)) + entries.flatMap { $0.key.encoded + $0.value.encoded }
        case .bool(let flag): [flag ? 0xf5 : 0xf4]
        case .null: [0xf6]
        }
    }

    private static func head(_ majorType: UInt8, _ argument: UInt64) -> [UInt8] {
        func head(_ information: UInt8, _ bytes: some FixedWidthInteger) -> [UInt8] {
            [majorType << 5 | information]
                + stride(from: bytes.bitWidth - 8, through: 0, by: -8)
                .map { UInt8(truncatingIfNeeded: bytes >> $0) }
        }
        return switch argument {
        case 0..<24: [majorType << 5 | UInt8(argument)]
        case ...0xff: head(24, UInt8(argument))
        case ...0xffff: head(25, UInt16(argument))
        case ...0xffff_ffff: head(26, UInt32(argument))
        default: head(27, argument)
        }
    }
}

extension CBOR: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    package init(integerLiteral number: Int) {
        self = number < 0 ? .negative(UInt64(-1 - number)) : .unsigned(UInt64(number))
    }
    package init(stringLiteral text: String) { self = .text(text) }
    package init(dictionaryLiteral entries: (CBOR, CBOR)...) {
        self = .map(entries.map { Entry(key: $0.0, value: $0.1) })
    }
}
