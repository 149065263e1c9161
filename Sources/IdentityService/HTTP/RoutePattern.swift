import Text

/// A path with captures: `/v2/projects/{project}/oauthIdpConfigs/{config}`.
struct RoutePattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        /// `{name}` and the required suffix: empty or `:verb`.
        case capture(String, suffix: String)

        /// What it captures is not looked at.
        func mayBe(_ text: String) -> Bool {
            switch self {
            case .literal(let literal): literal == text
            case .capture(_, let suffix): text.utf8.count > suffix.utf8.count && text.hasSuffix(suffix)
            }
        }
    }

    private let segments: [Segment]
    /// The captures that may be URLs: the ID of a client that describes itself is one.
    private static let urls: Set = ["client"]

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

    /// The captures, decoded; nil if the path does not match.
    ///
    /// A capture is never empty and contains no `/`, and no `:` if the pattern has no verb, unless it may be a URL.
    ///
    /// - Parameter path: from ``segments(of:)``.
    func match(_ path: [String]) -> [String: String]? {
        // Most patterns differ in their literals, and many are tried.
        guard path.count == segments.count, zip(segments, path).allSatisfy({ $0.mayBe($1) }) else { return nil }
        var captures: [String: String] = [:]
        for case (.capture(let name, let suffix), let text) in zip(segments, path) {
            let value = Array(text.utf8.dropLast(suffix.utf8.count))
            guard let decoded = PercentEncoding.decode(value[...]) else { return nil }
            let isPlain = !value.contains(UInt8(ascii: ":")) && !decoded.utf8.contains(UInt8(ascii: "/"))
            guard isPlain || Self.urls.contains(name) else { return nil }
            captures[name] = decoded
        }
        return captures
    }

    /// The segments of a path, in which only `:` and `@` are decoded, because SDKs send them as `%3A` and `%40`.
    ///
    /// Any other spelling of a route's path would get around a proxy's rule for that path.
    ///
    /// - Returns: nil for a path that does not start with `/`, has an empty segment (except the root path), or is not
    ///   ASCII.
    static func segments(of path: String) -> [String]? {
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if path == "/" { return [] }
        let isEncoded = path.utf8.contains(UInt8(ascii: "%"))
        let decoded =
            isEncoded
            ? path.replacing("%3A", with: ":").replacing("%3a", with: ":").replacing("%40", with: "@") : path
        let parts = decoded.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        return parts.contains("") ? nil : parts.map { String($0) }
    }
}
