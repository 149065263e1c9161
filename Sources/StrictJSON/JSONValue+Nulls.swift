extension JSONValue {
    /// Parses what a provider or an application wrote: its documents, keys, tokens and answers.
    ///
    /// A member that is null is absent, whatever reads it: many libraries write out what they have no value for. So a
    /// required member that is null is missing.
    ///
    /// - Parameters: as of ``init(parsing:depth:allowsNUL:)``, which keeps nulls.
    package init(
        sent bytes: some Sequence<UInt8>,
        depth: Int = 64,
        allowsNUL: Bool = false
    ) throws(JSONError) {
        self = try JSONValue(parsing: bytes, depth: depth, allowsNUL: allowsNUL).withoutNulls
    }

    /// Without members that are null, at every depth; a null in a list stays, because it has a place there.
    package var withoutNulls: JSONValue {
        switch self {
        case .object(let object): .object(object.withoutNulls)
        case .array(let values): .array(values.map(\.withoutNulls))
        case .null, .bool, .number, .string: self
        }
    }
}

extension JSONObject {
    /// As ``JSONValue/withoutNulls``.
    package var withoutNulls: JSONObject {
        JSONObject(
            members.compactMap { member in
                member.value.isNull ? nil : Member(name: member.name, value: member.value.withoutNulls)
            }
        )
    }
}
