extension URLParts {
    /// The URL in the normal form of RFC 3986 §6.2.2 and §6.2.3: two spellings of one resource have the same.
    ///
    /// Scheme and host are lowercase, escapes are uppercase and only where a character needs one, `.` and `..` are gone,
    /// and so is the scheme's own port; an empty path behind a host is `/`. What RFC 3986 keeps apart stays apart: other
    /// slashes at the end, an empty query, a dot behind the host.
    package var normalForm: String {
        var text = scheme + ":"
        if let authority {
            text += "//"
            if let at = authority.lastIndex(of: "@") { text += Self.normal(authority[...at]) }
            text += Self.normal(Self.normal(host ?? "").lowercased())
            if let port, port != defaultPort { text += ":\(port)" }
            text += Self.withoutDots(Self.normal(path), hasHost: !authority.isEmpty)
        } else {
            text += Self.normal(path)
        }
        if let query { text += "?" + Self.normal(query) }
        if let fragment { text += "#" + Self.normal(fragment) }
        return text
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// RFC 3986 §6.2.2.1, §6.2.2.2: unreserved characters plain, other escapes uppercase; what is no escape stays.
    private static func normal(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalDigit,
                let low = rest.dropFirst().first?.hexadecimalDigit
            else {
                bytes.append(byte)
                continue
            }
            rest = rest.dropFirst(2)
            let value = high << 4 | low
            if ASCIISet.unreserved.contains(value) {
                bytes.append(value)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(value >> 4)], digits[Int(value & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// RFC 3986 §5.2.4, of a path behind an authority, which starts with `/` or is empty.
    private static func withoutDots(_ path: String, hasHost: Bool) -> String {
        guard !path.isEmpty else { return hasHost ? "/" : "" }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            switch segment {
            case ".": break
            case "..": _ = kept.popLast()
            default:
                kept.append(segment)
                continue
            }
            // `/a/..` names the folder, so it ends with a slash.
            if index == segments.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/")
    }
}
