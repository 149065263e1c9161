package import StrictJSON
import Yams

extension JSONValue {
    /// The element of an array.
    package subscript(index: Int) -> JSONValue? {
        elements.indices.contains(index) ? elements[index] : nil
    }

    /// The members of an object; none for another value.
    package var members: [JSONObject.Member] { object?.members ?? [] }

    /// The elements of an array; none for another value.
    package var elements: [JSONValue] { array ?? [] }

    /// The text of a string; nil for another value.
    package var text: String? { string }

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
            var members: [JSONObject.Member] = []
            var merged: [JSONObject.Member] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else { throw OpenAPIError.notUnderstood("a key") }
                let value = try JSONValue(yaml: value)
                if name.string == "<<" {
                    merged += value.members
                } else {
                    members.append(.init(name: name.string, value: value))
                }
            }
            // What a mapping says itself wins over what it merges.
            members += merged.filter { other in !members.contains { $0.name == other.name } }
            self = .object(JSONObject(members))
        case .sequence(let sequence): self = .array(try sequence.map { try JSONValue(yaml: $0) })
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
