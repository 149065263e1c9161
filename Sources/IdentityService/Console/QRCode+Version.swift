extension QRCode {
    /// A size of the code, with level M's blocks of error correction (ISO/IEC 18004, table 9).
    struct Version: Sendable {
        /// 1 to 40.
        let number: Int

        static let all = (1...40).map { Version(number: $0) }

        var size: Int { number * 4 + 17 }

        /// The maximum number of bytes of a text.
        var capacity: Int { (dataCodewords * 8 - 4 - lengthBits) / 8 }

        private var lengthBits: Int { number < 10 ? 8 : 16 }
        private var blocks: Int { Self.blocks[number - 1] }
        private var correction: Int { Self.correction[number - 1] }
        private var dataCodewords: Int { codewords - blocks * correction }

        /// All that fit beside the patterns.
        private var codewords: Int {
            var modules = (16 * number + 128) * number + 64
            if number >= 2 {
                let count = number / 7 + 2
                modules -= (25 * count - 10) * count - 55
            }
            if number >= 7 { modules -= 36 }
            return modules / 8
        }

        /// Rows and columns of the centers of alignment patterns.
        var alignmentCenters: [Int] {
            guard number > 1 else { return [] }
            let count = number / 7 + 2
            let step = (number * 8 + count * 3 + 5) / (count * 4 - 4) * 2
            return [6] + (0..<(count - 1)).map { size - 7 - $0 * step }.reversed()
        }

        /// The data and the correction of a text, interleaved by blocks (§7.6).
        func codewords(of bytes: [UInt8]) -> [UInt8] {
            let data = data(of: bytes)
            let short = dataCodewords / blocks
            let long = dataCodewords % blocks
            var parts: [ArraySlice<UInt8>] = []
            var start = 0
            for block in 0..<blocks {
                let end = start + short + (block < blocks - long ? 0 : 1)
                parts.append(data[start..<end])
                start = end
            }
            let corrections = parts.map { ReedSolomon.remainder(of: $0, count: correction) }
            let interleaved = (0...short).flatMap { index in
                parts.compactMap { index < $0.count ? $0[$0.startIndex + index] : nil }
            }
            return interleaved + (0..<correction).flatMap { index in corrections.map { $0[index] } }
        }

        /// Mode, length and bytes, filled up.
        private func data(of bytes: [UInt8]) -> [UInt8] {
            var bits: [Bool] = []
            func append(_ value: Int, _ count: Int) {
                bits += (0..<count).reversed().map { value >> $0 & 1 == 1 }
            }
            append(0b0100, 4)
            append(bytes.count, lengthBits)
            for byte in bytes { append(Int(byte), 8) }
            append(0, 4)
            append(0, (8 - bits.count % 8) % 8)
            var data = stride(from: 0, to: bits.count, by: 8).map { start in
                bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            }
            for index in 0..<max(0, dataCodewords - data.count) { data.append(index % 2 == 0 ? 0xec : 0x11) }
            return data
        }

        private static let correction = [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28,
            28,
            28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ]
        private static let blocks = [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29,
            31,
            33, 35, 37, 38, 40, 43, 45, 47, 49,
        ]
    }
}

/// The error correction of QR codes, over the field of 256 elements with the polynomial 0x11d.
private enum ReedSolomon {
    static func remainder(of data: ArraySlice<UInt8>, count: Int) -> [UInt8] {
        let divisor = divisor(count)
        var rest = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in rest.indices { rest[index] ^= multiply(divisor[index], factor) }
        }
        return rest
    }

    /// (x - 1)(x - 2)(x - 4)…, without the leading coefficient.
    private static func divisor(_ count: Int) -> [UInt8] {
        var divisor = [UInt8](repeating: 0, count: count - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in divisor.indices {
                divisor[index] = multiply(divisor[index], root)
                if index + 1 < count { divisor[index] ^= divisor[index + 1] }
            }
            root = multiply(root, 2)
        }
        return divisor
    }

    private static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product = 0
        for bit in (0..<8).reversed() {
            product = product << 1 ^ (product >> 7) * 0x11d
            product ^= Int(right >> bit & 1) * Int(left)
        }
        return UInt8(truncatingIfNeeded: product)
    }
}
