/// A value that ``JSONReader`` read.
indirect enum JSONValue: Sendable, Equatable {
    case object(JSONObject)
    case array([JSONValue])
    case string(String)
    /// As it was written.
    case number(String)
    case bool(Bool)
    case null

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// A whole number without fraction or exponent.
    var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    var object: JSONObject? {
        guard case .object(let object) = self else { return nil }
        return object
    }
}

/// A JSON object: members in their order, with no name twice.
struct JSONObject: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        let name: String
        let value: JSONValue
        /// The value as it was written.
        let text: ArraySlice<UInt8>
    }

    let members: [Member]

    subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }
}
