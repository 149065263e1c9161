/// A path with captures: `/v2/projects/{project}/oauthIdpConfigs/{config}`.
struct RoutePattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        /// `{name}` and the required suffix: empty or `:verb`.
        case capture(String, suffix: String)
    }

    private let segments: [Segment]

    init(_ path: String) {
        segments = path.split(separator: "/").map { text in
            guard text.hasPrefix("{"), let end = text.firstIndex(of: "}") else { return .literal(String(text)) }
            return .capture(
                String(text[text.index(after: text.startIndex)..<end]),
                suffix: String(text[text.index(after: end)...])
            )
        }
    }

    var count: Int { segments.count }

    var isFixed: Bool {
        segments.allSatisfy { if case .literal = $0 { true } else { false } }
    }

    /// The captures; nil if the path does not match.
    ///
    /// A capture is never empty, and contains no `:` if the pattern has no verb.
    func match(_ path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var captures: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            switch segment {
            case .literal(let literal):
                guard literal == text else { return nil }
            case .capture(let name, let suffix):
                guard text.hasSuffix(suffix), text.count > suffix.count else { return nil }
                let value = String(text.dropLast(suffix.count))
                guard !value.contains(":") else { return nil }
                captures[name] = value
            }
        }
        return captures
    }

    /// The decoded segments of a path; nil for a path that does not start with `/`, has an empty segment (except the
    /// root path), or an invalid escape.
    static func segments(of path: String) -> [String]? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        if path == "/" { return [] }
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard !part.isEmpty, let text = PercentEncoding.decode(ArraySlice(part)), !text.contains("/") else {
                return nil
            }
            segments.append(text)
        }
        return segments
    }
}
