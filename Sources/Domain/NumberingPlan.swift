/// How the numbers of a calling code are written, as libphonenumber has it.
struct NumberingPlan: Sendable {
    let code: String
    /// The possible numbers of digits of a national number.
    private let lengths: Set<Int>
    /// What is dialed before a national number inside the country, and not from abroad.
    let nationalPrefix: String
    private let prefixPattern: String
    /// What takes the prefix's place: digits, then a group of the pattern.
    private let replacement: (digits: Substring, group: Int)?
    private let numberPattern: String

    private init(_ line: Substring) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
        let field = { (index: Int) in index < fields.count ? fields[index] : "" }
        (code, nationalPrefix, numberPattern) = (field(0), field(2), field(5))
        let parts = field(4).split(separator: "$", omittingEmptySubsequences: false)
        replacement = parts.count == 2 ? Int(parts[1]).map { (parts[0], $0) } : nil
        lengths = Set(field(1).split(separator: ",").compactMap { Int($0) })
        prefixPattern = field(3).isEmpty && !numberPattern.isEmpty ? nationalPrefix : field(3)
    }

    private static let all = Dictionary(
        table.split(separator: "\n").map { NumberingPlan($0) }.map { ($0.code, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    /// The plan of the calling code with which digits begin; nil if there is none.
    static func of(_ digits: Substring) -> NumberingPlan? {
        (1...3).lazy.compactMap { all[String(digits.prefix($0))] }.first
    }

    /// The national number without a national prefix; nil if none of the calling code has as many digits.
    func normalize(_ national: Substring) -> String? {
        let all = String(national)
        return [withoutPrefix(all), all].compactMap(\.self).first { lengths.contains($0.utf8.count) }
    }

    /// Nil if it begins with no prefix, or is a number as it is and none without what looks like a prefix.
    private func withoutPrefix(_ national: String) -> String? {
        guard !prefixPattern.isEmpty, let pattern = try? Regex(prefixPattern), let number = try? Regex(numberPattern),
            let prefix = national.prefixMatch(of: pattern)
        else { return nil }
        let groups = prefix.output.dropFirst().map(\.substring)
        var rest = String(national[prefix.range.upperBound...])
        if let (digits, group) = replacement, groups.last ?? nil != nil, let kept = groups[group - 1] {
            rest = digits + kept + rest
        }
        guard national.wholeMatch(of: number) == nil || rest.wholeMatch(of: number) != nil else { return nil }
        return rest
    }
}
