package import Text

/// The parameters of a request; an empty one counts as absent, and only `resource` may be repeated (RFC 6749 §3.1, §3.2,
/// RFC 8707 §2).
package struct OAuthParameters: Sendable {
    package let fields: FormFields
    /// The first name that is repeated although it must not be.
    package let repeated: String?

    package init(_ fields: FormFields) {
        self.fields = fields
        var seen: Set<String> = []
        repeated = fields.pairs.first { $0.name != "resource" && !seen.insert($0.name).inserted }?.name
    }

    package subscript(name: String) -> String? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }

    package func all(_ name: String) -> [String] {
        fields.pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
    }

    /// - Throws: ``OAuthError`` if it is absent.
    package func required(_ name: String) throws(OAuthError) -> String {
        guard let value = self[name] else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        return value
    }
}
