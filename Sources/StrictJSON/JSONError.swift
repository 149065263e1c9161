/// Why a text is not JSON that the service accepts, and where.
///
/// The description quotes nothing from the text, which may contain secrets.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    package let reason: Reason
    /// Where reading stopped, in bytes from the start; for a repeated member, the start of the repetition.
    package let offset: Int
    /// The repeated name, which only the sender of the text may be told.
    package let duplicate: String?

    package enum Reason: Sendable, Hashable {
        case unexpectedEnd
        case unexpectedToken
        /// Invalid UTF-8, an invalid escape, half of a surrogate pair, or an unescaped control character in a string.
        case invalidText
        case nul
        case tooDeep
        case duplicateMember
    }

    init(_ reason: Reason, at offset: Int, duplicate: String? = nil) {
        self.reason = reason
        self.offset = offset
        self.duplicate = duplicate
    }

    package var description: String {
        let problem =
            switch reason {
            case .unexpectedEnd: "the text ends too early"
            case .unexpectedToken: "unexpected token"
            case .invalidText: "bad UTF-8 or a bad escape in a string"
            case .nul: "a string contains U+0000"
            case .tooDeep: "arrays and objects are nested too deeply"
            case .duplicateMember: "a member is repeated"
            }
        return "\(problem) (byte \(offset))"
    }
}
