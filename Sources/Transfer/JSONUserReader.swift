import Foundation
import IdentityService
import StrictJSON

/// Reads `{"users": [ … ]}`; other members are skipped.
///
/// Each row is found by its braces and parsed separately, so only a row that is not JSON is refused.
struct JSONUserReader: UserFileReader {
    private var bytes: ByteReader
    private var number: Int
    private var place: Place

    private enum Place {
        case start
        /// In the array, before its first row.
        case first
        case afterRow
        case end
    }

    /// The maximum size of an account, twice that of an upload.
    private static let mostBytes = 1 << 20

    init(_ bytes: ByteReader, after rows: Int) {
        self.bytes = bytes
        number = rows
        place = rows == 0 ? .start : .afterRow
    }

    mutating func next() throws -> UserRow? {
        if place == .start { try findUsers() }
        switch place {
        case .end, .start: return nil
        case .first:
            if try token() == UInt8(ascii: "]") { return try finish() }
        case .afterRow:
            switch try token() {
            case UInt8(ascii: ","): _ = try bytes.next()
            case UInt8(ascii: "]"): return try finish()
            default: throw broken("a comma or the end of users is missing")
            }
        }
        number += 1
        place = .afterRow
        guard try token() != nil else { throw broken("it ends") }
        let text = try value()
        return UserRow(number: number, end: bytes.offset, user: Self.user(text))
    }

    private static func user(_ text: [UInt8]?) -> Result<WireObject, UserRow.RowError> {
        guard let text else { return .failure(UserRow.RowError(reason: "is longer than \(mostBytes) bytes")) }
        do throws(JSONError) {
            guard let object = try JSONValue(parsing: text).object else {
                return .failure(UserRow.RowError(reason: "is not a JSON object"))
            }
            return .success(WireObject(renamed(object).members))
        } catch {
            return .failure(UserRow.RowError(reason: "is not valid JSON: \(error)"))
        }
    }

    /// Converts the file's own names of times.
    private static func renamed(_ user: JSONObject) -> JSONObject {
        guard let time = user["lastSignedInAt"], user["lastLoginAt"] == nil else { return user }
        var user = user
        user["lastLoginAt"] = time
        return user
    }

    // MARK: What stands around the rows

    private mutating func findUsers() throws(UserFileError) {
        guard try token() == UInt8(ascii: "{") else { throw broken("it does not start with {") }
        _ = try bytes.next()
        while true {
            guard try token() == UInt8(ascii: "\""), let name = try value() else {
                throw broken("it has no member users")
            }
            guard try token() == UInt8(ascii: ":") else { throw broken("a colon is missing") }
            _ = try bytes.next()
            if (try? JSONValue(parsing: name))?.string == "users" {
                guard try token() == UInt8(ascii: "[") else { throw broken("users is not an array") }
                _ = try bytes.next()
                place = .first
                return
            }
            guard try token() != nil else { throw broken("it ends") }
            _ = try value()
            guard try token() == UInt8(ascii: ",") else { throw broken("it has no member users") }
            _ = try bytes.next()
        }
    }

    /// A truncated file has no end.
    private mutating func finish() throws(UserFileError) -> UserRow? {
        _ = try bytes.next()
        while try token() == UInt8(ascii: ",") {
            _ = try bytes.next()
            guard try token() == UInt8(ascii: "\"") else { throw broken("a member's name is missing") }
            _ = try value()
            guard try token() == UInt8(ascii: ":") else { throw broken("a colon is missing") }
            _ = try bytes.next()
            guard try token() != nil else { throw broken("it ends") }
            _ = try value()
        }
        guard try bytes.next() == UInt8(ascii: "}"), try token() == nil else { throw broken("it does not end with }") }
        place = .end
        return nil
    }

    private func broken(_ reason: String) -> UserFileError {
        bytes.error(
            "is not valid JSON of users, at byte \(bytes.offset)\(number > 0 ? " after row \(number)" : ""): \(reason)"
        )
    }

    // MARK: Bytes

    /// The next byte that is not white space, without consuming it.
    private mutating func token() throws(UserFileError) -> UInt8? {
        while let byte = try bytes.peek() {
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            _ = try bytes.next()
        }
        return nil
    }

    /// The text of a value, up to where its braces, brackets and quotes are closed.
    ///
    /// - Returns: nil if it is too long.
    private mutating func value() throws(UserFileError) -> [UInt8]? {
        var text: [UInt8] = []
        var depth = 0
        var isLong = false
        var isInString = false
        var isEscaped = false
        while let byte = try bytes.peek() {
            if !isInString, depth == 0, !text.isEmpty, Self.ends(byte) { return isLong ? nil : text }
            _ = try bytes.next()
            if text.count < Self.mostBytes { text.append(byte) } else { isLong = true }
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return isLong ? nil : text }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 { return isLong ? nil : text }
            default: break
            }
        }
        throw broken("it ends in the middle of a value")
    }

    /// Whether a byte ends a number, `true`, `false` or `null`.
    private static func ends(_ byte: UInt8) -> Bool {
        [0x20, 0x0a, 0x0d, 0x09, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains(byte)
    }
}
