/// The `response_type` of an authorization request: always a code, and what else comes through the browser (OAuth 2.0
/// Multiple Response Type Encoding Practices §5).
package struct ResponseType: Sendable, Hashable, Codable {
    package enum Part: String, Sendable, Hashable, Codable, CaseIterable {
        case code
        case idToken = "id_token"
        /// An access token.
        case token
    }

    package let parts: Set<Part>

    package static let code = ResponseType([.code])

    package init(_ parts: Set<Part>) { self.parts = parts.union([.code]) }

    /// Reads words in any order, each once; nil without `code`, which is always required.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let parts = Set(words.compactMap { Part(rawValue: String($0)) })
        guard parts.count == words.count, parts.contains(.code) else { return nil }
        self.parts = parts
    }

    /// The words in the order of the specification.
    package var text: String { Part.allCases.filter(parts.contains).map(\.rawValue).joined(separator: " ") }
}
