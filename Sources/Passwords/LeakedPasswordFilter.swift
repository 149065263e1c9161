import Foundation
package import Secrets

/// A file that tells whether a password was leaked: a Bloom filter, in blocks of one cache line (Putze, Sanders, Singler
/// 2007, "Cache-, Hash- and Space-Efficient Bloom Filters").
///
/// Two bytes for each password. It finds every password of its list, and takes about one other in 700 for leaked, whose
/// user has to choose another one. A lookup reads one block of the file, which the system keeps in its cache, so that nodes
/// on one machine share it. The file is not mapped: shortening a mapped file ends every process that reads it.
///
/// ```
/// 8 bytes   IDLEAKS1
/// 8 bytes   the number of passwords, little-endian
/// 48 bytes  zeros
/// 64 bytes  for each block
/// ```
package struct LeakedPasswordFilter: LeakedPasswords {
    static let magic = Array("IDLEAKS1".utf8)
    static let blockSize = 64
    /// 16 bits for each of 32 passwords.
    static let passwordsPerBlock = 32

    private let file: OpenFile
    private let blocks: UInt64
    /// How many passwords it was made of.
    package let count: UInt64

    /// - Throws: ``Unusable``.
    package init(path: String) throws(Unusable) {
        guard let file = OpenFile(path: path) else { throw .unreadable }
        guard let header = file.bytes(Self.blockSize, at: 0), header.starts(with: Self.magic) else { throw .foreign }
        count = header.dropFirst(8).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        blocks = Self.blocks(for: count)
        guard file.size == (blocks + 1) * UInt64(Self.blockSize) else { throw .cut }
        self.file = file
    }

    package enum Unusable: Error, Sendable {
        case unreadable
        /// Not made by `identity passwords build-filter`.
        case foreign
        /// Shorter or longer than its header says.
        case cut
    }

    /// - Throws: ``Unusable/cut`` if the file got shorter since it was opened.
    package func contains(_ password: Secret, share: String) throws -> Bool {
        try contains(LeakedPasswordHash(of: password))
    }

    func contains(_ hash: LeakedPasswordHash) throws(Unusable) -> Bool {
        let place = Place(hash, blocks)
        guard let block = file.bytes(Self.blockSize, at: (place.block + 1) * UInt64(Self.blockSize)) else { throw .cut }
        return place.bits.allSatisfy { bit in block[Int(bit) / 8] & (1 << UInt8(bit % 8)) != 0 }
    }

    static func blocks(for count: UInt64) -> UInt64 { max(1, (count + 31) / UInt64(passwordsPerBlock)) }

    /// Where a hash is in the filter: ten bits of one block.
    struct Place {
        let block: UInt64
        /// 0…511.
        let bits: [UInt16]

        init(_ hash: LeakedPasswordHash, _ blocks: UInt64) {
            func number(_ range: Range<Int>) -> UInt64 { hash.bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
            // In the order of the hashes, so that a sorted list fills the file from its beginning to its end.
            block = number(0..<8).multipliedFullWidth(by: blocks).high
            let (seven, three) = (number(8..<16), number(16..<20))
            bits = (0..<7).map { UInt16(seven >> (9 * $0) & 511) } + (0..<3).map { UInt16(three >> (9 * $0) & 511) }
        }
    }
}

/// A file that stays open: another one under its name changes nothing until the next start.
private final class OpenFile: Sendable {
    private let descriptor: Int32

    init?(path: String) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// In bytes, when it is called.
    var size: UInt64 { UInt64(max(0, lseek(descriptor, 0, SEEK_END))) }

    /// Nil if there are fewer.
    func bytes(_ count: Int, at offset: UInt64) -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = unsafe max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        return bytes.count == count ? bytes : nil
    }
}
