/// `application/x-www-form-urlencoded` (WHATWG URL §5): the pairs of a query or of a form's body, in order.
package struct FormFields: Sendable {
    package let pairs: [(name: String, value: String)]

    package init(_ pairs: [(name: String, value: String)] = []) { self.pairs = pairs }

    package init(pairs: [(String, String)]) { self.init(pairs.map { (name: $0.0, value: $0.1) }) }

    /// Reads any text, as browsers do.
    package init(_ text: String) {
        pairs = Self.split(text).map { name, value in
            (
                PercentEncoding.decodeLeniently(name, plusIsSpace: true),
                PercentEncoding.decodeLeniently(value, plusIsSpace: true)
            )
        }
    }

    /// Nil for an invalid escape, invalid UTF-8, or a NUL.
    package init?(strict utf8: some Collection<UInt8>) {
        var pairs: [(name: String, value: String)] = []
        var rest = Array(utf8)[...]
        while !rest.isEmpty {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[pair.endIndex...].dropFirst()
            guard !pair.isEmpty else { continue }
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(pair[..<end], plusIsSpace: true),
                let value = PercentEncoding.decode(pair[end...].dropFirst(), plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
        }
        self.pairs = pairs
    }

    package init?(strict text: String) { self.init(strict: text.utf8) }

    /// The pairs as they stand: split at `&`, then at the first `=`; names and values still encoded.
    package static func split(_ text: some StringProtocol) -> [(name: Substring, value: Substring)] {
        String(text).utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            return (Substring(pair[..<end]), Substring(pair[end...].dropFirst()))
        }
    }

    /// The first value of that name; nil if there is none.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// `name=value&…`; everything except RFC 3986's unreserved characters is encoded.
    package var text: String {
        pairs.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
    }
}

extension String {
    /// Adds parameters to a URL's query, before its fragment; they replace those of the same names.
    ///
    /// - Parameter ignoringCase: whether names that differ only in case are the same.
    package func adding(_ parameters: [(name: String, value: String)], ignoringCase: Bool = false) -> String {
        func key(_ name: String) -> String { ignoringCase ? name.lowercased() : name }
        let added = Set(parameters.map { key($0.name) })
        let end = firstIndex(of: "#") ?? endIndex
        let parts = self[..<end].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let kept = parts.dropFirst().first?.split(separator: "&").filter { pair in
            let name = PercentEncoding.decodeLeniently(pair.prefix { $0 != "=" }, plusIsSpace: true)
            return !added.contains(key(name))
        }
        let query = (kept ?? []).map { String($0) } + [FormFields(parameters).text]
        return parts[0] + "?" + query.joined(separator: "&") + self[end...]
    }
}
