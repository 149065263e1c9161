import Foundation
import StrictJSON

/// A JSON value as tests write and compare it; members that are `nil` are left out when written.
package enum JSON: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    package init(nilLiteral: ()) { self = .null }
    /// A string, or null.
    package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    package subscript(index: Int) -> JSON? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var number: Double? { if case .number(let value) = self { value } else { nil } }
    package var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    package var object: [String: JSON]? { if case .object(let members) = self { members } else { nil } }

    /// JSON text with sorted members; null members are left out.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): value == value.rounded() ? String(Int64(value)) : String(value)
        case .string(let text): JSON.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.filter { $0.value != .null }.sorted { $0.key < $1.key }
                .map { JSON.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}

extension JSON {
    /// - Throws: for text that the service itself would not take, such as a name that stands twice.
    package init(parsing bytes: [UInt8]) throws { self.init(try JSONValue(parsing: bytes)) }

    init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .number(let text): .number(Double(text) ?? .nan)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map { JSON($0) })
            case .object(let object): .object(Dictionary(object.members.map { ($0.name, JSON($0.value)) }) { $1 })
            }
    }
}
