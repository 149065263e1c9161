import StrictJSON

extension WireError {
    /// A body that is not JSON, with Firebase's message if there is one.
    init(_ error: JSONError) {
        let problem =
            switch error.reason {
            case .unexpectedEnd: "Unexpected end of string."
            case .unexpectedToken: "Unexpected token."
            case .invalidText: "Invalid UTF-8 or escape in a string."
            case .nul: "A string contains the character U+0000."
            case .tooDeep: "Message too deep. Max recursion depth reached."
            case .duplicateMember: Self.twice(error.duplicate ?? "")
            }
        self = .invalidJSON(problem, field: nil)
    }

    /// A repeated member, in two spellings.
    static func duplicate(_ name: String, field: String) -> WireError { invalidJSON(twice(name), field: field) }

    private static func twice(_ name: String) -> String { "Duplicate name \"\(name)\"." }

    private static func invalidJSON(_ problem: String, field: String?) -> WireError {
        invalidRequest("Invalid JSON payload received. \(problem)", field: field)
    }
}
