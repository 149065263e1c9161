/// JSON as it was sent: numbers keep their text, objects their order, and no name is repeated (T-C11, T-B18).
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number's text, so 64-bit IDs lose nothing.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    package var isNull: Bool { self == .null }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var object: JSONObject? {
        guard case .object(let object) = self else { return nil }
        return object
    }

    package var array: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// A whole number that fits, written without fraction and exponent.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    /// A whole number that fits, in any notation: `3600`, `3600.0` and `3.6e3`.
    package var wholeNumber: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }

    /// A string, or a number's text: for IDs.
    package var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .null, .bool, .array, .object: nil
        }
    }

    /// The member of an object; nil for another value and another name.
    package subscript(name: String) -> JSONValue? { object?[name] }

    /// The value at a path of member names, `data.id`; a member whose own name contains dots takes precedence, and null
    /// is no value.
    package subscript(path path: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        if let value = object[stated: path] { return value }
        guard let dot = path.firstIndex(of: "."), let next = object[String(path[..<dot])] else { return nil }
        return next[path: String(path[path.index(after: dot)...])]
    }
}
