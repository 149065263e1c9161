import Foundation
import IdentityService
import StrictJSON

/// Reads the CSV of `firebase auth:export`: 52 columns without a header, with a trailing comma; before firebase-tools
/// 15.19, 28 columns.
///
/// A header, which others add, is skipped if its columns are Firebase's.
struct CSVUserReader: UserFileReader {
    private var bytes: ByteReader
    private var number: Int

    private static let mostBytes = 1 << 20
    /// The columns before those of providers.
    private static let names = ["localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl"]
    /// The first of a provider's four columns: ID, email, name, photo.
    ///
    /// Those that `firebase auth:import` accepts in JSON too.
    static let providers = [
        (7, "google.com"), (11, "facebook.com"), (15, "twitter.com"), (19, "github.com"), (28, "apple.com"),
        (32, "microsoft.com"), (36, "gc.apple.com"), (40, "playgames.google.com"), (44, "linkedin.com"),
        (48, "yahoo.com"),
    ]
    private static let laterNames = [
        (23, "createdAt"), (24, "lastLoginAt"), (25, "phoneNumber"), (26, "disabled"), (27, "customAttributes"),
    ]
    /// The columns of earlier releases; further providers have four each.
    private static let oldColumns = 28
    static let columns = 52

    init(_ bytes: ByteReader, after rows: Int) {
        self.bytes = bytes
        number = rows
    }

    mutating func next() throws -> UserRow? {
        while true {
            guard let line = try line() else { return nil }
            // Empty lines are skipped.
            if case .success(let fields) = line {
                if fields == [""] { continue }
                if number == 0, try isHeader(fields) { continue }
            }
            number += 1
            return UserRow(number: number, end: bytes.offset, user: line.flatMap { Self.user($0) })
        }
    }

    /// Whether the row can be Firebase's: the trailing comma may be missing, and empty columns after it.
    ///
    /// An unquoted comma in an old row must not move its last columns to those of further providers.
    private static func isComplete(_ fields: [String]) -> Bool {
        guard fields.count > oldColumns else { return fields.count >= names.count }
        let rest = (fields.count - oldColumns) % 4
        return fields.count <= columns + 1 && (rest == 0 || rest == 1 && fields.last == "")
    }

    /// - Throws: ``UserFileError`` if the header has other columns.
    private func isHeader(_ fields: [String]) throws(UserFileError) -> Bool {
        let fields = fields.map { $0.lowercased().filter(\.isLetter) }
        guard ["localid", "uid"].contains(fields[0]), fields.contains("email") else { return false }
        for (index, name) in Self.names.enumerated().dropFirst() where !name.isEmpty {
            let found = index < fields.count ? fields[index] : ""
            guard found.hasSuffix(name.lowercased()) else {
                throw bytes.error("has a header whose column \(index + 1) is not Firebase's \(name)")
            }
        }
        return true
    }

    private static func user(_ fields: [String]) -> Result<WireObject, UserRow.RowError> {
        guard isComplete(fields) else {
            let reason = "has \(fields.count) columns instead of \(columns), or \(oldColumns)"
            return .failure(UserRow.RowError(reason: reason))
        }
        let fields = fields + Array(repeating: "", count: max(0, columns - fields.count))
        var user = JSONObject()
        for (index, name) in Array(names.enumerated()) + laterNames where !fields[index].isEmpty {
            switch name {
            case "emailVerified", "disabled":
                // Spreadsheets write TRUE.
                guard let flag = Bool(fields[index].lowercased()) else {
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
