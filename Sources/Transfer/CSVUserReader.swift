import Foundation
import IdentityService
import StrictJSON

/// Reads the CSV of `firebase auth:export`: 52 columns without a header, with a trailing comma; before firebase-tools
/// 15.19, 28 columns.
///
/// A header, which others add, is skipped if its columns are Firebase's.
///
/// Users choose the texts in it, so no text may become a row. In our own files, whose first field is quoted, and in those of
/// firebase-tools from 15.23 on, RFC 4180 holds. Earlier ones escape neither quotes nor line breaks: where a row can be
/// read in two ways, nothing after it is read.
struct CSVUserReader: UserFileReader {
    private var bytes: ByteReader
    private var number: Int
    /// Whether the file is one of ours.
    private let isOurs: Bool
    /// Whether rows have all of Firebase's columns; nil before the first row.
    private var areFull: Bool?

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

    init(_ bytes: ByteReader, after rows: Int) throws(UserFileError) {
        self.bytes = bytes
        number = rows
        isOurs = try self.bytes.peek() == UInt8(ascii: "\"")
    }

    mutating func next() throws -> UserRow? {
        while let fields = try row() {
            if case .success(let fields) = fields {
                // Empty lines are skipped.
                if fields == [""] { continue }
                if number == 0, try isHeader(fields) { continue }
                try check(fields)
            }
            number += 1
            return UserRow(number: number, end: bytes.offset, user: fields.flatMap { Self.user($0) })
        }
        return nil
    }

    // MARK: Rows

    /// A file has all of Firebase's columns in each row, or was made by hand, where empty ones may be missing at the ends.
    ///
    /// - Throws: ``UserFileError`` for a row that is shorter than the others: a piece of one, which a text of a user broke.
    private mutating func check(_ fields: [String]) throws(UserFileError) {
        let isFull = Self.isFull(fields)
        guard fields.count >= Self.names.count, isFull || fields.count >= Self.oldColumns || areFull != true else {
            throw broken("has only \(fields.count) columns")
        }
        if isFull, areFull == false { throw broken("has more columns than the rows before it") }
        if isFull || fields.count < Self.oldColumns { areFull = isFull }
    }

    private func broken(_ problem: String) -> UserFileError {
        bytes.error(
            "row \(number + 1) \(problem): firebase-tools before 15.23 escapes neither quotes nor line breaks in names, so what "
                + "follows may be a user's text; export as JSON, or mend the row"
        )
    }

    /// Whether the row has all columns of one of the releases; the trailing comma may be missing.
    private static func isFull(_ fields: [String]) -> Bool {
        [oldColumns, columns].contains { fields.count == $0 || fields.count == $0 + 1 && fields.last == "" }
    }

    /// Whether the columns are as many as Firebase's, or fewer.
    ///
    /// An unquoted comma in an old row must not move its last columns to those of further providers.
    private static func isRow(_ fields: [String]) -> Bool {
        isFull(fields) || fields.count < oldColumns
            || fields.count < columns && (fields.count - oldColumns).isMultiple(of: 4)
    }

    /// The fields of the next row; nil at the end.
    ///
    /// A quote that closes nothing is part of its field: Firebase quoted texts with commas without escaping their quotes.
    /// Such a row must end with its line.
    ///
    /// - Throws: ``UserFileError`` where the row's end is uncertain.
    private mutating func row() throws(UserFileError) -> Result<[String], UserRow.RowError>? {
        guard try bytes.peek() != nil else { return nil }
        var row = CSVRow()
        // The current line, if the row began in an earlier one.
        var line: [UInt8] = []
        var length = 0
        while let byte = try bytes.next() {
            length += 1
            guard length <= Self.mostBytes else {
                guard !row.isQuoted else { throw broken("is longer than \(Self.mostBytes) bytes") }
                if byte == 0x0a { break }
                continue
            }
            if byte == 0x0a {
                try requirePiece(line)
                guard row.isQuoted else { break }
                guard !row.hasStrayQuote else { throw broken("has a quote that does not end") }
                line = []
            } else if row.hasLineBreak {
                line.append(byte)
            }
            if row.take(byte, before: try bytes.peek()), let second = try bytes.next(), row.hasLineBreak {
                line.append(second)
            }
        }
        try requirePiece(line)
        guard length <= Self.mostBytes else { return .refused("is longer than \(Self.mostBytes) bytes") }
        if row.isQuoted {
            guard !row.hasLineBreak else { throw broken("has a quote that does not end") }
            return .refused("a quote is not closed")
        }
        guard let fields = row.end() else { return .refused("is not UTF-8") }
        return .success(fields)
    }

    /// - Throws: ``UserFileError`` for a line that would be a row by itself, though a quote before it makes it a part of one.
    private func requirePiece(_ line: [UInt8]) throws(UserFileError) {
        guard !isOurs, CSVRow.fields(of: line).map(Self.isFull) == true else { return }
        throw broken("has a quoted text with a row in it")
    }

    // MARK: Columns

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
        guard isRow(fields) else {
            return .refused("has \(fields.count) columns instead of \(columns), or \(oldColumns)")
        }
        let fields = fields + Array(repeating: "", count: max(0, columns - fields.count))
        var user = JSONObject()
        for (index, name) in Array(names.enumerated()) + laterNames where !fields[index].isEmpty {
            switch name {
            case "emailVerified", "disabled":
                // Spreadsheets write TRUE.
                guard let flag = Bool(fields[index].lowercased()) else {
                    return .refused("\(name) is neither true nor false")
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
}

extension Result where Failure == UserRow.RowError {
    fileprivate static func refused(_ reason: String) -> Self { .failure(UserRow.RowError(reason: reason)) }
}

/// A row of CSV (RFC 4180), byte by byte.
private struct CSVRow {
    private(set) var isQuoted = false
    /// Whether a quote in a quoted text was neither doubled nor its end.
    private(set) var hasStrayQuote = false
    private(set) var hasLineBreak = false
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var isEnded = false
    private var isUTF8 = true

    /// - Parameter next: the byte after this one; nil at the end.
    /// - Returns: whether the next byte belongs to this one.
    @discardableResult mutating func take(_ byte: UInt8, before next: UInt8?) -> Bool {
        switch byte {
        case UInt8(ascii: "\"") where isQuoted:
            switch next {
            case UInt8(ascii: "\""):
                field.append(byte)
                return true
            case UInt8(ascii: ","), 0x0a, 0x0d, nil: (isQuoted, isEnded) = (false, true)
            default:
                hasStrayQuote = true
                field.append(byte)
            }
        case UInt8(ascii: "\"") where field.isEmpty && !isEnded: isQuoted = true
        case UInt8(ascii: ",") where !isQuoted: close()
        case 0x0d where !isQuoted: if next != 0x0a, next != nil { field.append(byte) }
        default:
            if byte == 0x0a { hasLineBreak = true }
            field.append(byte)
        }
        return false
    }

    /// Nil if it is not UTF-8.
    mutating func end() -> [String]? {
        close()
        return isUTF8 ? fields : nil
    }

    private mutating func close() {
        if let text = String(validating: field, as: UTF8.self) { fields.append(text) } else { isUTF8 = false }
        (field, isEnded) = ([], false)
    }

    /// Those of a single line; nil if it is none.
    static func fields(of line: [UInt8]) -> [String]? {
        var row = CSVRow()
        var index = 0
        while index < line.count {
            let next = index + 1 < line.count ? line[index + 1] : nil
            index += row.take(line[index], before: next) ? 2 : 1
        }
        return row.isQuoted ? nil : row.end()
    }
}
