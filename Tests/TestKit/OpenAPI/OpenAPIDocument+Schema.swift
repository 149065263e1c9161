import StrictJSON

// The part of JSON Schema that the document uses. A keyword that is not known here is a problem, not a pass.

extension OpenAPIDocument {
    /// The value behind `$ref`, or the value itself.
    func resolve(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.text else { return value }
        return target(of: reference).map(resolve) ?? .null
    }

    func problems(of value: JSONValue, against schema: JSONValue, at path: String) -> [String] {
        let schema = resolve(schema)
        guard case .object(let keywords) = schema else { return ["\(path): the schema cannot be found"] }
        return keywords.members.flatMap { keyword in
            switch keyword.name {
            case "type":
                let types = keyword.value.text.map { [$0] } ?? keyword.value.elements.compactMap(\.text)
                return types.contains { value.isOf(type: $0) }
                    ? [] : ["\(path): is no \(types.joined(separator: " or "))"]
            case "const":
                return value == keyword.value ? [] : ["\(path): is not \(keyword.value.text ?? "the constant")"]
            case "enum": return keyword.value.elements.contains(value) ? [] : ["\(path): is none of the allowed values"]
            case "pattern": return matches(value, keyword.value) ? [] : ["\(path): does not match the pattern"]
            case "minItems":
                return value.elements.count >= (keyword.value.number ?? 0) ? [] : ["\(path): has too few elements"]
            case "items":
                return value.elements.enumerated().flatMap { index, element in
                    problems(of: element, against: keyword.value, at: "\(path)[\(index)]")
                }
            case "required":
                return keyword.value.elements.compactMap(\.text).filter { value[$0] == nil }
                    .map { "\(path).\($0): is missing" }
            case "properties": return problems(ofMembers: value, properties: keyword.value, at: path)
            case "additionalProperties":
                return problems(ofOthers: value, properties: schema["properties"], rule: keyword.value, at: path)
            case "description", "format", "example", "examples", "writeOnly", "default", "minimum", "maximum": return []
            default: return ["\(path): the keyword \(keyword.name) is not understood"]
            }
        }
    }

    private func problems(ofMembers value: JSONValue, properties: JSONValue, at path: String) -> [String] {
        properties.members.flatMap { property -> [String] in
            guard let member = value[property.name] else { return [] }
            let path = "\(path).\(property.name)"
            if property.value["writeOnly"] == .bool(true) { return ["\(path): must never be sent"] }
            if member.isNull { return ["\(path): is null"] }
            return problems(of: member, against: property.value, at: path)
        }
    }

    private func problems(
        ofOthers value: JSONValue,
        properties: JSONValue?,
        rule: JSONValue,
        at path: String
    ) -> [String] {
        value.members.filter { properties?[$0.name] == nil }.flatMap { member -> [String] in
            switch rule {
            case .bool(true): []
            case .bool(false): ["\(path).\(member.name): is not described"]
            default: problems(of: member.value, against: rule, at: "\(path).\(member.name)")
            }
        }
    }

    private func matches(_ value: JSONValue, _ pattern: JSONValue) -> Bool {
        guard let text = value.text, let pattern = pattern.text, let regex = try? Regex(pattern) else { return false }
        return text.firstMatch(of: regex) != nil
    }
}

extension JSONValue {
    fileprivate func isOf(type: String) -> Bool {
        switch (self, type) {
        case (.string, "string"), (.bool, "boolean"), (.array, "array"), (.object, "object"), (.number, "number"): true
        case (.number(let digits), "integer"): Int64(digits) != nil
        default: false
        }
    }
}
