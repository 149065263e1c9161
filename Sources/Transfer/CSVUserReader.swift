import Foundation
import IdentityService
import StrictJSON

/// Reads the CSV of `firebase auth:export`: 28 columns without a header, with a trailing comma.
struct CSVUserReader: UserFileReader {
    private var bytes: ByteReader
    private var number: Int

    private static let mostBytes = 1 << 20
    /// The columns before those of providers.
    private static let names = ["localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl"]
    /// The first of a provider's four columns: ID, email, name, photo.
    static let providers = [(7, "google.com"), (11, "facebook.com"), (15, "twitter.com"), (19, "github.com")]
    private static let laterNames = [
        (23, "createdAt"), (24, "lastLoginAt"), (25, "phoneNumber"), (26, "disabled"), (27, "customAttributes"),
    ]
    static let columns = 28

    init(_ bytes: ByteReader, after rows: Int) {
        self.bytes = bytes
        number = rows
    }

    mutating func next() throws -> UserRow? {
        while true {
            guard let line = try line() else { return nil }
            // Empty lines are skipped.
            if case .success(let fields) = line, fields == [""] { continue }
            number += 1
            return UserRow(number: number, end: bytes.offset, user: line.flatMap { Self.user($0) })
        }
    }

    private static func user(_ fields: [String]) -> Result<WireObject, UserRow.RowError> {
        // The trailing comma and empty trailing columns may be missing.
        guard (names.count...columns + 1).contains(fields.count), fields.count <= columns || fields[columns].isEmpty
        else {
            return .failure(UserRow.RowError(reason: "has \(fields.count) columns instead of \(columns)"))
        }
        let fields = fields + Array(repeating: "", count: max(0, columns - fields.count))
        var user = JSONObject()
        for (index, name) in Array(names.enumerated()) + laterNames where !fields[index].isEmpty {
            switch name {
            case "emailVerified", "disabled":
                guard let flag = Bool(fields[index]) else {
                    return .failure(UserRow.RowError(reason: "\(name) is neither true nor false"))
                }
                user[name] = .bool(flag)
            default: user[name] = .string(fields[index])
            }
        }
        var linked: [JSONValue] = []
        for (start, provider) in providers where !fields[start].isEmpty {
            var credential = JSONObject()
            credential["providerId"] = .string(provider)
            for (index, name) in ["rawId", "email", "displayName", "photoUrl"].enumerated() {
                let text = fields[start + index]
                if !text.isEmpty { credential[name] = .string(text) }
            }
            linked.append(.object(credential))
        }
        if !linked.isEmpty { user["providerUserInfo"] = .array(linked) }
        return .success(WireObject(user.members))
    }

    /// The fields of a line (RFC 4180).
    ///
    /// A quote that closes nothing is part of its field, because Firebase quotes names with commas without escaping the
    /// quotes in them.
    ///
    /// - Returns: nil at the end.
    private mutating func line() throws(UserFileError) -> Result<[String], UserRow.RowError>? {
        guard try bytes.peek() != nil else { return nil }
        var fields: [String] = []
        var field: [UInt8] = []
        var length = 0
        var isQuoted = false
        var isBroken = false
        func close() {
            if let text = String(validating: field, as: UTF8.self) { fields.append(text) } else { isBroken = true }
            field = []
        }
        line: while let byte = try bytes.next() {
            length += 1
            guard length <= Self.mostBytes else {
                isQuoted = false
                if byte == 0x0a { break line }
                continue
            }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted:
                switch try bytes.peek() {
                case UInt8(ascii: "\""):
                    _ = try bytes.next()
                    field.append(byte)
                case UInt8(ascii: ","), 0x0a, 0x0d, nil: isQuoted = false
                default: field.append(byte)
                }
            case UInt8(ascii: "\"") where field.isEmpty: isQuoted = true
            case UInt8(ascii: ",") where !isQuoted: close()
            case 0x0d where !isQuoted: if try bytes.peek() != 0x0a { field.append(byte) }
            case 0x0a where !isQuoted: break line
            default: field.append(byte)
            }
        }
        guard length <= Self.mostBytes else {
            return .failure(UserRow.RowError(reason: "is longer than \(Self.mostBytes) bytes"))
        }
        if isQuoted { return .failure(UserRow.RowError(reason: "a quote is not closed")) }
        close()
        return isBroken ? .failure(UserRow.RowError(reason: "is not UTF-8")) : .success(fields)
    }
}
