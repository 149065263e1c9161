/// Why a text is no JSON that the service takes, and where.
///
/// The description quotes nothing of the text, which may hold secrets.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    package let reason: Reason
    /// Where reading stopped, in bytes from the start; of a member that comes twice, where it begins the second time.
    package let offset: Int
    /// The name that comes twice, for whoever answers the sender: it is the sender's own text.
    package let duplicate: String?

    package enum Reason: Sendable, Hashable {
        case unexpectedEnd
        case unexpectedToken
        /// Bad UTF-8, a bad escape, half of a surrogate pair, or a bare control character in a string.
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
