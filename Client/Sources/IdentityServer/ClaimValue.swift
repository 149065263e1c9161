/// A JSON value of a token's claims.
public enum ClaimValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([ClaimValue])
    case object([String: ClaimValue])

    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var arrayValue: [ClaimValue]? { if case .array(let value) = self { value } else { nil } }
    public var objectValue: [String: ClaimValue]? { if case .object(let value) = self { value } else { nil } }

    /// The member of an object; nil for other values.
    public subscript(name: String) -> ClaimValue? { objectValue?[name] }
}
