/// JSON as it was sent: numbers keep their text, objects their order, and no name stands twice (T-C11, T-B18).
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The number's text: 64-bit ids lose nothing.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

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

    /// A whole number that fits; `3600` and `3600.0` alike.
    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        if let exact = Int64(text) { return exact }
        guard let value = Double(text), value.rounded() == value, abs(value) < 9e15 else { return nil }
        return Int64(value)
    }

    /// A string, or a number's text: how ids are read.
    package var scalarText: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .null, .bool, .array, .object: nil
        }
    }

    /// The value at a path of member names, `data.id`; a member whose own name has dots wins over the path.
    package subscript(path path: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        if let value = object[path] { return value }
        guard let dot = path.firstIndex(of: "."), let next = object[String(path[..<dot])] else { return nil }
        return next[path: String(path[path.index(after: dot)...])]
    }
}

/// The members of a JSON object, in order.
package struct JSONObject: Sendable, Hashable {
    package private(set) var members: [Member] = []

    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue
    }

    package init() {}

    /// Setting nil removes the member.
    package subscript(name: String) -> JSONValue? {
        get { members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        set {
            let index = members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// For the parser, which has made sure that the name is new.
    mutating func append(_ name: String, _ value: JSONValue) {
        members.append(Member(name: name, value: value))
    }
}
