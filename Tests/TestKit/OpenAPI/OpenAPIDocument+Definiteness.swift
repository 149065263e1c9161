import StrictJSON

// A document that takes anything checks nothing.

extension OpenAPIDocument {
    /// Default responses, and schemas that allow any value without a word why: `GET /x 200.details[]`.
    ///
    /// A request may have members that are not named, which are ignored; an answer may not.
    package var indefiniteParts: [String] {
        operations.sorted { $0.description < $1.description }.flatMap { operation -> [String] in
            guard let description = description(of: operation) else { return [] }
            let parameters = (description["parameters"]?.elements ?? []).map { parameter in
                (place: "\(operation) parameter", schema: resolve(parameter)["schema"], isAnswer: false)
            }
            let bodies = schemas(of: description["requestBody"]).map {
                (place: "\(operation) body", schema: $0, isAnswer: false)
            }
            let answers = (description["responses"]?.members ?? []).flatMap { response in
                schemas(of: response.value).map {
                    (place: "\(operation) \(response.name)", schema: $0, isAnswer: true)
                }
            }
            return (description["responses"]?["default"] == nil ? [] : ["\(operation): default"])
                + (parameters + bodies + answers).flatMap {
                    indefinite($0.schema ?? .null, at: $0.place, isAnswer: $0.isAnswer, within: [])
                }
        }
    }

    private func schemas(of body: JSONValue?) -> [JSONValue?] {
        (body.map(resolve)?["content"]?.members ?? []).map { $0.value["schema"] }
    }

    /// - Parameter within: the references that lead here; a schema that holds itself is looked at once.
    private func indefinite(
        _ schema: JSONValue,
        at place: String,
        isAnswer: Bool,
        within references: Set<String>
    ) -> [String] {
        var references = references
        if let reference = schema["$ref"]?.text, !references.insert(reference).inserted { return [] }
        let hasReason = schema["description"] != nil
        let schema = resolve(schema)
        let others = schema["additionalProperties"]
        let isNamed =
            switch schema["type"]?.text {
            case "object": others != nil && others != .bool(true) || schema["properties"] != nil && !isAnswer
            case nil: ["properties", "enum", "const", "anyOf", "oneOf", "allOf"].contains { schema[$0] != nil }
            default: true
            }
        var parts = isNamed || hasReason || schema["description"] != nil ? [] : [place]
        var inner = (schema["properties"]?.members ?? []).map { (place: "\(place).\($0.name)", schema: $0.value) }
        if let items = schema["items"] { inner.append(("\(place)[]", items)) }
        if let others, others.object != nil { inner.append(("\(place){}", others)) }
        for name in ["anyOf", "oneOf", "allOf"] { inner += (schema[name]?.elements ?? []).map { (place, $0) } }
        for (place, schema) in inner {
            parts += indefinite(schema, at: place, isAnswer: isAnswer, within: references)
        }
        return parts
    }
}
