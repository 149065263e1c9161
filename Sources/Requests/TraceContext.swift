import Synchronization
import Text

/// The trace of a request (W3C Trace Context, Recommendation of 2021-11-23).
///
/// It consists of numbers and of characters that the recommendation permits, so nothing else from a header is passed on.
package struct TraceContext: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64
    private let isSampled: Bool
    /// `tracestate`, for services that the operator trusts with it.
    package let state: String?

    /// Starts a new trace.
    ///
    /// Not marked as sampled: nothing is recorded here, and called services decide for themselves.
    package init() {
        (high, low, isSampled, state) = (Numbers.next(), Numbers.next(), false, nil)
    }

    /// Reads the headers of a request, each with all of its occurrences.
    ///
    /// - Returns: nil without a `traceparent`, or if it is invalid or repeated; an invalid `tracestate` is
    ///   dropped.
    package init?(parent: [String], state: [String] = []) {
        guard parent.count == 1, let fields = Self.fields(Array(parent[0].utf8)) else { return nil }
        (high, low, isSampled) = fields
        self.state = Self.state(state.joined(separator: ","))
    }

    /// 32 lower-case hexadecimal digits.
    package var id: String { Self.hex(high) + Self.hex(low) }

    /// `traceparent` for one outgoing call: the trace and a new parent.
    package func parent() -> String {
        "00-\(id)-\(Self.hex(Numbers.next()))-\(isSampled ? "01" : "00")"
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    // MARK: traceparent (§3.2)

    /// `00-<trace>-<parent>-<flags>`; for later versions, the part that this one defines (§4.3).
    private static func fields(_ text: [UInt8]) -> (high: UInt64, low: UInt64, isSampled: Bool)? {
        let dash = UInt8(ascii: "-")
        guard text.count >= 55, text[2] == dash, text[35] == dash, text[52] == dash,
            let version = number(text[0..<2]), version != 0xff,
            version == 0 ? text.count == 55 : text.count == 55 || text[55] == dash,
            let high = number(text[3..<19]), let low = number(text[19..<35]), high | low != 0,
            let parent = number(text[36..<52]), parent != 0, let flags = number(text[53..<55])
        else { return nil }
        return (high, low, flags & 1 == 1)
    }

    /// Only lowercase digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case 48...57: number = number << 4 | UInt64(digit - 48)
            case 97...102: number = number << 4 | UInt64(digit - 87)
            default: return nil
            }
        }
        return number
    }

    // MARK: tracestate (§3.3)

    /// The list without spaces; nil if it is empty, too long or invalid.
    private static func state(_ text: String) -> String? {
        guard text.utf8.count <= 512 else { return nil }
        var members: [String] = []
        var keys: Set<String> = []
        for part in text.utf8.split(separator: UInt8(ascii: ",")) {
            let trimmed = part.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
            guard !trimmed.isEmpty else { continue }
            let member = String(decoding: trimmed, as: UTF8.self)
            guard let equals = member.firstIndex(of: "="), keys.insert(String(member[..<equals])).inserted,
                isKey(Array(member[..<equals].utf8)), isValue(Array(member[member.index(after: equals)...].utf8))
            else { return nil }
            members.append(member)
        }
        return members.isEmpty || members.count > 32 ? nil : members.joined(separator: ",")
    }

    /// §3.3.2.2.1: a letter, then letters, digits, `_-*/`; or the same after a tenant and `@`.
    private static func isKey(_ text: [UInt8]) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        let characters = { (part: ArraySlice<UInt8>) in part.allSatisfy(keyCharacters.contains) }
        switch parts.count {
        case 1: return (1...256).contains(text.count) && ASCIISet.lowercase.contains(text[0]) && characters(parts[0])
        case 2:
            guard (1...241).contains(parts[0].count), (1...14).contains(parts[1].count) else { return false }
            let first = parts[0][parts[0].startIndex]
            return (ASCIISet.lowercase + .digits).contains(first) && characters(parts[0])
                && ASCIISet.lowercase.contains(parts[1][parts[1].startIndex]) && characters(parts[1])
        default: return false
        }
    }

    private static let keyCharacters: ASCIISet = .lowercase + .digits + "_-*/"
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// §3.3.2.2.2: visible characters and inner blanks, without `,` and `=`.
    private static func isValue(_ text: [UInt8]) -> Bool {
        guard (1...256).contains(text.count), text.last != 0x20 else { return false }
        return text.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }
}

/// Numbers for IDs, never 0: a counter from a random start, mixed as in SplitMix64, for the same reasons as request
/// IDs.
private enum Numbers {
    private static let counter = Atomic(UInt64.random(in: .min ... .max))

    static func next() -> UInt64 {
        var number = counter.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        number ^= number >> 31
        return number == 0 ? 1 : number
    }
}
