package import IdentityService
import Yams

extension WireValue {
    /// The member of an object; nil for another value and another name.
    package subscript(name: String) -> WireValue? {
        members.first { $0.name == name }?.value
    }

    /// The element of an array.
    package subscript(index: Int) -> WireValue? {
        elements.indices.contains(index) ? elements[index] : nil
    }

    /// The members of an object; none for another value.
    package var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }

    /// The elements of an array; none for another value.
    package var elements: [WireValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    /// The text of a string; nil for another value.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var number: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits)
    }

    package var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// A YAML node as JSON would have it.
    init(yaml node: Node) throws {
        switch node {
        case .mapping(let mapping):
            self = .object(
                try mapping.map { key, value in
                    guard case .scalar(let name) = key else { throw OpenAPIError.notUnderstood("a key") }
                    return Member(name: name.string, value: try WireValue(yaml: value))
                }
            )
        case .sequence(let sequence): self = .array(try sequence.map { try WireValue(yaml: $0) })
        case .scalar(let scalar):
            switch scalar.style {
            case .any, .plain:
                if let flag = node.bool {
                    self = .bool(flag)
                } else if node.int != nil || node.float != nil {
                    self = .number(scalar.string)
                } else if node.null != nil {
                    self = .null
                } else {
                    self = .string(scalar.string)
                }
            default: self = .string(scalar.string)
            }
        case .alias: throw OpenAPIError.notUnderstood("an alias")
        }
    }
}
