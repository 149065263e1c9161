import Secrets

/// A JSON value as the test provider writes it: members keep their order and may repeat, and text may be put in raw.
package indirect enum TestJSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([TestJSON])
    case object([Member])
    /// Copied into the output as it is, valid or not.
    case raw(String)

    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: TestJSON

        package init(_ name: String, _ value: TestJSON) {
            self.name = name
            self.value = value
        }
    }

    /// The first member of that name; nil when there is none, or when this is no object.
    package subscript(name: String) -> TestJSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// Replaces the member, or appends it.
    package mutating func set(_ name: String, _ value: TestJSON) {
        guard case .object(var members) = self else { return }
        if let index = members.firstIndex(where: { $0.name == name }) {
            members[index].value = value
        } else {
            members.append(Member(name, value))
        }
        self = .object(members)
    }

    package mutating func set(_ name: String, ifPresent value: String?) {
        if let value { set(name, .string(value)) }
    }

    package mutating func remove(_ name: String) {
        guard case .object(let members) = self else { return }
        self = .object(members.filter { $0.name != name })
    }

    package var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }
}

// MARK: - Text

extension TestJSON {
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .double(let value): String(value)
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
        case .raw(let text): text
        }
    }

    private static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20: text += "\\u00" + [UInt8(scalar.value)].lowercaseHex
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

// MARK: - Literals

extension TestJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(arrayLiteral elements: TestJSON...) { self = .array(elements) }
    /// Keeps the order, and repeated names.
    package init(dictionaryLiteral elements: (String, TestJSON)...) {
        self = .object(elements.map { Member($0, $1) })
    }
    package init(nilLiteral: ()) { self = .null }
}
