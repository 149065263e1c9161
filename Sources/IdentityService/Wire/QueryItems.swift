import StrictJSON

/// `name=value` pairs of a query or a form body (`application/x-www-form-urlencoded`).
package struct QueryItems: Sendable {
    private let items: [(name: String, value: String)]

    /// Nil for bad percent-encoding, bad UTF-8 or a NUL.
    package init?(_ text: String) { self.init(utf8: text.utf8) }

    /// Nil for bad percent-encoding, bad UTF-8 or a NUL.
    package init?(utf8: some Collection<UInt8>) {
        var items: [(name: String, value: String)] = []
        var rest = Array(utf8)[...]
        while !rest.isEmpty {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[pair.endIndex...].dropFirst()
            guard !pair.isEmpty else { continue }
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(pair[..<end], plusIsSpace: true),
                let value = PercentEncoding.decode(pair[end...].dropFirst(), plusIsSpace: true)
            else { return nil }
            items.append((name, value))
        }
        self.items = items
    }

    package static let none = QueryItems(items: [])

    private init(items: [(name: String, value: String)]) { self.items = items }

    /// All pairs, in order.
    package var pairs: [(name: String, value: String)] { items }

    /// Nil if the name is absent.
    ///
    /// - Throws: if it is repeated, because two readers could use different values.
    package func value(_ name: String) throws(WireError) -> String? {
        var found: String?
        for item in items where item.name == name {
            guard found == nil else {
                throw .invalidRequest("Invalid request. Duplicate parameter \"\(name)\".", field: name)
            }
            found = item.value
        }
        return found
    }

    /// A form as the equivalent JSON object.
    ///
    /// - Throws: if a name is repeated.
    package func object() throws(WireError) -> WireObject {
        var members: [JSONObject.Member] = []
        for item in items {
            guard !members.contains(where: { $0.name == item.name }), members.count < 64 else {
                throw .invalidRequest("Invalid request. Duplicate parameter \"\(item.name)\".", field: nil)
            }
            members.append(JSONObject.Member(name: item.name, value: .string(item.value)))
        }
        return WireObject(members)
    }
}

/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// Nil for an invalid escape, invalid UTF-8, or a NUL.
    package static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        let isPlain = text.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") && $0 != 0 }
        if isPlain { return String(validating: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
