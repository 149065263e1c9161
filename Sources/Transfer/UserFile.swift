import Foundation
package import IdentityService

/// A row of a file of users.
package struct UserRow: Sendable {
    /// From 1.
    package var number: Int
    /// Where the next row can start, in bytes from the file's start.
    package var end: UInt64
    /// The user in the format of an upload, or why the row cannot be read.
    package var user: Result<WireObject, RowError>

    package struct RowError: Error, Sendable, Hashable {
        package var reason: String
    }
}

/// Reads a file of `firebase auth:export`, or of ``ExportUsers``, row by row: a file may be larger than the memory.
package protocol UserFileReader {
    /// - Returns: nil at the end.
    /// - Throws: ``UserFileError`` if nothing after this can be read.
    mutating func next() throws -> UserRow?
}

/// Why a file cannot be read or written: the file and the reason.
package struct UserFileError: Error, Sendable, Hashable, CustomStringConvertible {
    package var file: String
    package var reason: String

    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    package var description: String { "\(file): \(reason)" }
}

package enum UserFileFormat: String, Sendable, CaseIterable {
    case json
    case csv

    /// By the name's extension.
    package init?(file: String) { self.init(rawValue: URL(filePath: file).pathExtension.lowercased()) }

    /// - Parameters:
    ///   - start: the end of a row, where an earlier reader stopped; 0 for the file's start.
    ///   - rows: the number of rows before it.
    package func reader(of file: String, from start: UInt64 = 0, after rows: Int = 0) throws -> any UserFileReader {
        let bytes = try ByteReader(file: file, from: start)
        return switch self {
        case .json: JSONUserReader(bytes, after: rows)
        case .csv: try CSVUserReader(bytes, after: rows)
        }
    }
}

/// The bytes of a file, in blocks.
struct ByteReader {
    let file: String
    private let handle: FileHandle
    private var block: [UInt8] = []
    private var position = 0
    /// The position of the block's first byte.
    private var start: UInt64

    init(file: String, from start: UInt64) throws(UserFileError) {
        self.file = file
        self.start = start
        do {
            handle = try FileHandle(forReadingFrom: URL(filePath: file))
            try handle.seek(toOffset: start)
        } catch {
            throw UserFileError(file: file, reason: "cannot be read: \(error.localizedDescription)")
        }
        if start == 0 { try skipByteOrderMark() }
    }

    /// Spreadsheets begin a file with one.
    private mutating func skipByteOrderMark() throws(UserFileError) {
        guard try peek() != nil else { return }
        if block.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        guard !block.starts(with: [0xff, 0xfe]), !block.starts(with: [0xfe, 0xff]) else {
            throw error("is UTF-16: save it as UTF-8")
        }
    }

    /// The position of the next byte.
    var offset: UInt64 { start + UInt64(position) }

    /// - Returns: nil at the end.
    mutating func peek() throws(UserFileError) -> UInt8? {
        if position == block.count, try !fill() { return nil }
        return block[position]
    }

    mutating func next() throws(UserFileError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        return byte
    }

    private mutating func fill() throws(UserFileError) -> Bool {
        start += UInt64(block.count)
        position = 0
        do {
            block = try handle.read(upToCount: 1 << 18).map { [UInt8]($0) } ?? []
        } catch {
            throw UserFileError(file: file, reason: "cannot be read at byte \(start): \(error.localizedDescription)")
        }
        return !block.isEmpty
    }

    func error(_ reason: String) -> UserFileError { UserFileError(file: file, reason: reason) }
}
