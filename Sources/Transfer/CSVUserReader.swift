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
    /// Lines that were read, and belong to no row yet.
    private var lines: [Line] = []
    private var isBegun = false
    /// Whether one of the first lines has all of Firebase's columns: then a shorter one is a part of a row.
    private var hasFullRows = false

    private struct Line {
        /// Without the line feed; incomplete if it is longer than a row may be.
        var bytes: [UInt8] = []
        /// Where the next line starts.
        var end: UInt64 = 0
        var isTooLong = false
    }

    private static let mostBytes = 1 << 20
    /// Over how many lines a row can go, with and without quotes.
    private static let (mostQuotedLines, mostLines) = (4_096, 64)
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
        while let (fields, count) = try row() {
            let end = lines[count - 1].end
            lines.removeFirst(count)
            if case .success(let fields) = fields {
                // Empty lines are skipped.
                if fields == [""] { continue }
                if number == 0, try isHeader(fields) { continue }
            }
            number += 1
            return UserRow(number: number, end: end, user: fields.flatMap { Self.user($0) })
        }
        return nil
    }

    // MARK: Rows

    /// Whether the row has all columns of one of the releases; the trailing comma may be missing.
    private static func isFull(_ fields: [String]) -> Bool {
        [oldColumns, columns].contains { fields.count == $0 || fields.count == $0 + 1 && fields.last == "" }
    }

    /// In a file that somebody made by hand, empty columns may be missing at the ends of the rows.
    ///
    /// An unquoted comma in an old row must not move its last columns to those of further providers.
    private func isRow(_ fields: [String]) -> Bool {
        if Self.isFull(fields) { return true }
        guard !hasFullRows, fields.count < Self.columns else { return false }
        return fields.count < Self.oldColumns
            ? fields.count >= Self.names.count : (fields.count - Self.oldColumns).isMultiple(of: 4)
    }

    /// The next row, and the number of its lines; nil at the end.
    ///
    /// RFC 4180 comes first, which our own files keep to, whatever users call themselves. Releases of firebase-tools
    /// before 15.23 quoted only texts with a comma, and escaped neither quotes nor line breaks: such a row is taken if only
    /// one reading gives Firebase's columns.
    private mutating func row() throws -> (fields: Result<[String], UserRow.RowError>, lines: Int)? {
        guard let first = try line(0) else { return nil }
        if !isBegun {
            isBegun = true
            _ = try line(Self.mostLines)
            hasFullRows = lines.contains { CSVFields($0.bytes, .escaped).fields.map(Self.isFull) == true }
        }
        guard !first.isTooLong else { return (.refused("is longer than \(Self.mostBytes) bytes"), 1) }
        let plain = CSVFields(first.bytes, .escaped)
        switch plain {
        case .notUTF8: return (.refused("is not UTF-8"), 1)
        case .fields(let fields):
            if try isRow(fields) || fields == [""] || number == 0 && isHeader(fields) { return (.success(fields), 1) }
        case .open, .stray: break
        }
        // A comma in unquoted JSON must not fill the columns of further providers, so without quotes all must be there.
        let (quoted, unquoted) = (CSVFields(first.bytes, .asTheyAre).fields, CSVFields(first.bytes, .none).fields)
        let whole = quoted.flatMap { isRow($0) ? $0 : nil } ?? unquoted.flatMap { Self.isFull($0) ? $0 : nil }
        guard let (longer, count) = try joined(first, isOpen: plain == .open) else {
            if let whole { return (.success(whole), 1) }
            guard let fields = plain.fields else { return (.refused("a quote is not closed"), 1) }
            return (.refused("has \(fields.count) columns instead of \(Self.columns), or \(Self.oldColumns)"), 1)
        }
        // Where the text came from a user, a guess could make accounts of it.
        guard whole.map(Self.isFull) != true else {
            return (.refused("has a quote that may end in its first line or in its last"), count)
        }
        return (.success(longer), count)
    }

    /// The row that goes on over the next lines: an open quote ends, or a text that nobody quoted has a line break.
    private mutating func joined(_ first: Line, isOpen: Bool) throws -> (fields: [String], lines: Int)? {
        var text = first.bytes
        for index in 1..<(isOpen ? Self.mostQuotedLines : Self.mostLines) {
            guard let next = try line(index), !next.isTooLong, text.count + next.bytes.count < Self.mostBytes else {
                return nil
            }
            if !isOpen, CSVFields(next.bytes, .escaped).fields.map(Self.isFull) == true { return nil }
            text.append(0x0a)
            text += next.bytes
            if isOpen, !next.bytes.contains(UInt8(ascii: "\"")) { continue }
            switch CSVFields(text, .escaped) {
            case .open: continue
            case .fields(let fields) where Self.isFull(fields) || isOpen && isRow(fields): return (fields, index + 1)
            case .fields(let fields) where !isOpen && fields.count < Self.oldColumns: continue
            default: return nil
            }
        }
        return nil
    }

    /// A line of those that belong to no row yet; nil at the end.
    private mutating func line(_ index: Int) throws(UserFileError) -> Line? {
        while lines.count <= index {
            guard try bytes.peek() != nil else { return nil }
            var line = Line()
            while let byte = try bytes.next(), byte != 0x0a {
                if line.bytes.count < Self.mostBytes { line.bytes.append(byte) } else { line.isTooLong = true }
            }
            line.end = bytes.offset
            lines.append(line)
        }
        return lines[index]
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

/// What a text of CSV is, by one way of quoting.
private enum CSVFields: Equatable {
    case fields([String])
    /// The last quote does not end.
    case open
    /// A quote in a quoted text is not escaped.
    case stray
    case notUTF8

    enum Quotes {
        /// Texts may be quoted, and quotes in them are doubled (RFC 4180).
        case escaped
        /// Texts may be quoted; a quote that is not followed by a comma is part of the text.
        case asTheyAre
        /// Every quote is part of its text.
        case none
    }

    var fields: [String]? { if case .fields(let fields) = self { fields } else { nil } }

    init(_ line: [UInt8], _ quotes: Quotes) {
        let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        var fields: [String] = []
        var field: [UInt8] = []
        var (isQuoted, isEnded) = (false, false)
        var rest = line.last == 0x0d ? line.dropLast() : line[...]
        while true {
            let byte = rest.popFirst()
            switch byte {
            case quote where isQuoted:
                if rest.first == quote {
                    field.append(rest.removeFirst())
                } else if rest.isEmpty || rest.first == comma {
                    (isQuoted, isEnded) = (false, true)
                } else if quotes == .asTheyAre {
                    field.append(quote)
                } else {
                    self = .stray
                    return
                }
            case nil where isQuoted:
                self = .open
                return
            case quote where field.isEmpty && !isEnded && quotes != .none: isQuoted = true
            case comma where !isQuoted, nil:
                guard let text = String(validating: field, as: UTF8.self) else {
                    self = .notUTF8
                    return
                }
                fields.append(text)
                (field, isEnded) = ([], false)
                if byte == nil {
                    self = .fields(fields)
                    return
                }
            case let byte?: field.append(byte)
            }
        }
    }
}
