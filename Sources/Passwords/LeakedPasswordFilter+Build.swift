import Foundation
import Text

extension LeakedPasswordFilter {
    /// Makes a filter of lists with one SHA-1 in hexadecimal digits per line, alone or followed by `:` and how often the
    /// password was found, as Have I Been Pwned publishes them.
    ///
    /// Reads the lists twice and holds the filter, two bytes for each password, in memory. The file appears under its name
    /// when it is complete.
    ///
    /// - Parameter minimumCount: passwords that were found less often are left out; lines without a number count as 1.
    /// - Returns: the number of passwords.
    /// - Throws: ``InvalidList``, and errors of the file system.
    package static func build(from lists: [String], minimumCount: UInt64 = 1, at path: String) throws -> UInt64 {
        var count: UInt64 = 0
        for list in lists { try read(list, minimumCount) { _ in count += 1 } }
        let blocks = blocks(for: count)
        var bytes = [UInt8](repeating: 0, count: Int(blocks + 1) * blockSize)
        bytes.replaceSubrange(0..<8, with: magic)
        for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: count >> (8 * UInt64(index))) }
        for list in lists {
            try read(list, minimumCount) { hash in
                let place = Place(hash, blocks)
                for bit in place.bits {
                    bytes[(Int(place.block) + 1) * blockSize + Int(bit) / 8] |= 1 << UInt8(bit % 8)
                }
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        return count
    }

    /// A line of a list is no hash.
    package struct InvalidList: Error, Sendable, Hashable {
        package let path: String
        /// From 1.
        package let line: Int
    }

    private static func read(_ path: String, _ minimum: UInt64, _ body: (LeakedPasswordHash) -> Void) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var rest: [UInt8] = []
        var number = 0
        func take(_ line: ArraySlice<UInt8>) throws {
            number += 1
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !line.isEmpty else { return }
            guard let (hash, count) = entry(line) else { throw InvalidList(path: path, line: number) }
            if count >= minimum { body(hash) }
        }
        while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
            rest += chunk
            // No line of a list is nearly as long.
            guard rest.count <= 2 << 20 else { throw InvalidList(path: path, line: number + 1) }
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                try take(rest[start..<end])
                start = end + 1
            }
            rest.removeFirst(start)
        }
        try take(rest[...])
    }

    /// `SHA-1[:count]`.
    private static func entry(_ line: ArraySlice<UInt8>) -> (LeakedPasswordHash, UInt64)? {
        guard line.count >= 40, let bytes = [UInt8](hexadecimal: line.prefix(40)) else { return nil }
        let rest = line.dropFirst(40)
        var count: UInt64 = 1
        if !rest.isEmpty {
            guard rest.first == UInt8(ascii: ":"),
                let number = UInt64(String(decoding: rest.dropFirst(), as: UTF8.self))
            else { return nil }
            count = number
        }
        return (LeakedPasswordHash(bytes: bytes), count)
    }
}
