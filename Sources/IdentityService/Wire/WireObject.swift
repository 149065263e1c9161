package import Foundation
import Secrets
package import StrictJSON

/// A JSON object of a request, read member by member with the rules of protobuf's JSON.
///
/// Names are camelCase here and may be sent in snake_case; an explicit null counts as absent; members that are not read
/// are ignored; one value is a list of one. A value of the wrong type throws a ``WireError`` that names the path, as in Firebase.
package struct WireObject: Sendable {
    /// As received, including nulls.
    package let members: [JSONObject.Member]
    /// `users[0]`, in snake_case; empty at the top level.
    private let path: String
    /// Every value is text: a flag may be `true` or Python's `True`.
    private let isForm: Bool

    package init(_ members: [JSONObject.Member] = [], path: String = "", isForm: Bool = false) {
        self.members = members
        self.path = path
        self.isForm = isForm
    }

    /// The top level of a request: a JSON object or nothing.
    package init(_ value: JSONValue) throws(WireError) {
        guard let object = value.object else {
            throw .invalidRequest("Invalid JSON payload received. The request must be an object.", field: nil)
        }
        self.init(object.members)
    }

    // MARK: Typed members

    package func string(_ name: String) throws(WireError) -> String? {
        guard let value = try value(name) else { return nil }
        guard case .string(let text) = value else { throw mismatch(name, "TYPE_STRING", value) }
        return text
    }

    /// A text that says something: as in proto3, an empty one is absent.
    package func text(_ name: String) throws(WireError) -> String? {
        try string(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameter readsText: also `"true"` and `"false"`, as `firebase auth:import` sends what a CSV contains.
    package func bool(_ name: String, readsText: Bool = false) throws(WireError) -> Bool? {
        guard let value = try value(name) else { return nil }
        switch value {
        case .bool(let flag): return flag
        case .string("true") where readsText || isForm, .string("True") where isForm: return true
        case .string("false") where readsText || isForm, .string("False") where isForm: return false
        default: throw mismatch(name, "TYPE_BOOL", value)
        }
    }

    /// A JSON number or a string of digits.
    package func int64(_ name: String) throws(WireError) -> Int64? {
        guard let value = try value(name) else { return nil }
        let number: Int64? =
            switch value {
            case .number: value.wholeNumber
            case .string(let digits): digits.hasPrefix("+") ? nil : Int64(digits)
            default: nil
            }
        guard let number else { throw mismatch(name, "TYPE_INT64", value) }
        return number
    }

    /// Base64 in either alphabet, padded or not.
    ///
    /// The error does not repeat an invalid value, because it may be a key or a hash.
    package func bytes(_ name: String) throws(WireError) -> [UInt8]? {
        guard let value = try value(name) else { return nil }
        var digits: [UInt8] = []
        if case .string(let text) = value {
            digits = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? 0x5f : $0 }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        guard case .string = value, let bytes = Base64URL.decode(digits[...]) else {
            let field = join(name)
            throw .invalidRequest("Invalid value at '\(field)' (TYPE_BYTES), Base64 decoding failed", field: field)
        }
        return bytes
    }

    /// Milliseconds since 1970, until the year 9999.
    package func time(_ name: String) throws(WireError) -> Date? {
        guard let milliseconds = try int64(name) else { return nil }
        guard (0..<253_402_300_800_000).contains(milliseconds) else {
            throw mismatch(name, "TYPE_INT64", .number("\(milliseconds)"))
        }
        return Date(milliseconds: milliseconds)
    }

    /// The time of an account in milliseconds since 1970, or in seconds, which many files have.
    ///
    /// No account is from before March 1973, so a number below 10^11 is in seconds, and one below 10^8 is neither. Zero
    /// counts as absent.
    package func accountTime(_ name: String) throws(WireError) -> Date? {
        guard let number = try int64(name), number != 0 else { return nil }
        guard (100_000_000..<253_402_300_800_000).contains(number) else {
            throw mismatch(name, "TYPE_INT64", .number("\(number)"))
        }
        return Date(milliseconds: number < 100_000_000_000 ? number * 1_000 : number)
    }

    /// Seconds since 1970, up to the year 9999.
    package func seconds(_ name: String) throws(WireError) -> Int64? {
        guard let seconds = try int64(name) else { return nil }
        guard (0..<253_402_300_800).contains(seconds) else { throw mismatch(name, "TYPE_INT64", .number("\(seconds)")) }
        return seconds
    }

    /// A time (RFC 3339), in the format of protobuf's `Timestamp`.
    package func timestamp(_ name: String) throws(WireError) -> Date? {
        guard let value = try value(name) else { return nil }
        guard case .string(let text) = value, let date = Date(timestamp: text) else {
            throw mismatch(name, "TYPE_MESSAGE", value)
        }
        return date
    }

    /// The one member that is present, of several that exclude each other.
    package func oneOf(_ names: [String], as field: String) throws(WireError) -> String? {
        var found: String?
        for name in names where try has(name) {
            guard found == nil else {
                throw .invalidRequest(
                    "Invalid value (oneof), oneof field '\(field)' is already set. Cannot set '\(name)'",
                    field: nil
                )
            }
            found = name
        }
        return found
    }

    /// Empty when absent.
    package func strings(_ name: String) throws(WireError) -> [String] {
        var texts: [String] = []
        for (index, value) in try values(name).enumerated() {
            guard case .string(let text) = value else { throw mismatch("\(name)[\(index)]", "TYPE_STRING", value) }
            texts.append(text)
        }
        return texts
    }

    package func object(_ name: String) throws(WireError) -> WireObject? {
        guard let value = try value(name) else { return nil }
        guard let object = value.object else { throw mismatch(name, "TYPE_MESSAGE", value) }
        return WireObject(object.members, path: join(name))
    }

    /// Empty when absent.
    package func objects(_ name: String) throws(WireError) -> [WireObject] {
        var objects: [WireObject] = []
        for (index, value) in try values(name).enumerated() {
            guard let object = value.object else { throw mismatch("\(name)[\(index)]", "TYPE_MESSAGE", value) }
            objects.append(WireObject(object.members, path: join("\(name)[\(index)]")))
        }
        return objects
    }

    /// A map of messages, whose names are the caller's own.
    ///
    /// Empty if absent.
    package func messages(_ name: String) throws(WireError) -> [String: WireObject] {
        guard let object = try object(name) else { return [:] }
        var messages: [String: WireObject] = [:]
        for member in object.members where !member.value.isNull {
            let path = "\(name)[\"\(member.name)\"]"
            guard let message = member.value.object else { throw mismatch(path, "TYPE_MESSAGE", member.value) }
            guard messages.updateValue(WireObject(message.members, path: join(path)), forKey: member.name) == nil else {
                throw .duplicate(member.name, field: join(name))
            }
        }
        return messages
    }

    /// A map of texts, such as `customParameter{}`, whose names are the caller's own.
    ///
    /// Empty if absent.
    package func texts(_ name: String) throws(WireError) -> [String: String] {
        guard let object = try object(name) else { return [:] }
        var texts: [String: String] = [:]
        for member in object.members where !member.value.isNull {
            guard case .string(let text) = member.value else {
                throw mismatch("\(name)[\"\(member.name)\"]", "TYPE_STRING", member.value)
            }
            // The parser distinguishes names by their bytes, but a dictionary treats equivalent ones as equal.
            guard texts.updateValue(text, forKey: member.name) == nil else {
                throw .duplicate(member.name, field: join(name))
            }
        }
        return texts
    }

    /// An enum value by name, number, or number in digits; numbers start at 0 in the order of `cases`.
    package func choice(_ name: String, of cases: [String]) throws(WireError) -> String? {
        guard let value = try value(name) else { return nil }
        return try choice(name, value, cases)
    }

    /// Enum values, each as in ``choice(_:of:)``.
    ///
    /// Empty if absent.
    package func choices(_ name: String, of cases: [String]) throws(WireError) -> [String] {
        var choices: [String] = []
        for (index, value) in try values(name).enumerated() {
            choices.append(try choice("\(name)[\(index)]", value, cases))
        }
        return choices
    }

    private func choice(_ name: String, _ value: JSONValue, _ cases: [String]) throws(WireError) -> String {
        switch value {
        case .string(let text) where cases.contains(text): return text
        // As protobuf's lenient parsers, for GodotFirebase's `password_reset`.
        case .string(let text) where cases.contains(text.uppercased()): return text.uppercased()
        case .string(let digits), .number(let digits):
            if let index = Int(digits), cases.indices.contains(index) { return cases[index] }
        default: break
        }
        throw mismatch(name, "TYPE_ENUM", value)
    }

    // MARK: Raw members

    /// The member in either spelling; nil if absent or null.
    package func value(_ name: String) throws(WireError) -> JSONValue? {
        var found: JSONValue?
        let snakeCase = Self.snakeCase(name)  // once: a body can have a hundred thousand members
        for member in members where member.isNamed(name) || member.isNamed(snakeCase) {
            guard found == nil else { throw .duplicate(name, field: join(name)) }
            found = member.value
        }
        return found.flatMap { $0.isNull ? nil : $0 }
    }

    package func has(_ name: String) throws(WireError) -> Bool { try value(name) != nil }

    package var isEmpty: Bool { members.isEmpty }

    /// The camelCase name of a member that was sent in either of the spellings that are read; any other as it is.
    static func name(sent: String) -> String {
        guard sent.utf8.contains(UInt8(ascii: "_")) else { return sent }
        let camel = FieldMask.camelCase(sent)
        return snakeCase(camel) == sent ? camel : sent
    }

    private func values(_ name: String) throws(WireError) -> [JSONValue] {
        guard let value = try value(name) else { return [] }
        switch value {
        case .array(let values): return values
        case .object(let object) where object.members.isEmpty: throw mismatch(name, "TYPE_LIST", value)
        // As Google's front end reads it.
        default: return [value]
        }
    }

    // MARK: Names

    private func join(_ name: String) -> String {
        let name = Self.snakeCase(name)
        return path.isEmpty ? name : "\(path).\(name)"
    }

    private func mismatch(_ name: String, _ type: String, _ value: JSONValue) -> WireError {
        let field = join(name)
        return .invalidRequest("Invalid value at '\(field)' (\(type)), \(value.jsonText)", field: field)
    }

    static func snakeCase(_ camel: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(camel.utf8.count + 4)
        for byte in camel.utf8 {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            if isCapital { bytes.append(UInt8(ascii: "_")) }
            bytes.append(isCapital ? byte | 0x20 : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Date {
    /// RFC 3339 with any number of fraction digits and `Z` or an offset.
    fileprivate init?(timestamp text: String) {
        guard let match = text.wholeMatch(of: /([0-9T:\-]{19})(\.[0-9]{1,9})?(Z|[+\-][0-9]{2}:[0-9]{2})/),
            let date = try? Date("\(match.1)\(match.3)", strategy: .iso8601)
        else { return nil }
        self = date.addingTimeInterval(match.2.flatMap { Double("0\($0)") } ?? 0)
    }
}
