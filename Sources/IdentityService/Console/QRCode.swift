/// A QR code (ISO/IEC 18004) of a text in bytes, with error correction level M: about 15 % of it may be unreadable.
package struct QRCode: Sendable {
    /// Modules on each side, without the quiet zone.
    package private(set) var size: Int
    /// Row by row; true is dark.
    private var modules: [Bool]
    /// Modules of the patterns that readers look for, which carry no data.
    private var isFixed: [Bool]

    /// Nil for a text of more than 2331 bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = Version.all.first(where: { bytes.count <= $0.capacity }) else { return nil }
        size = version.size
        modules = [Bool](repeating: false, count: size * size)
        isFixed = modules
        drawPatterns(version)
        draw(version.codewords(of: bytes))
        let candidates = (0..<8).map { masked(by: $0) }
        guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { return nil }
        self = best
    }

    package func isDark(_ x: Int, _ y: Int) -> Bool { modules[y * size + x] }

    // MARK: Patterns

    private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
        modules[y * size + x] = isDark
        isFixed[y * size + x] = true
    }

    private mutating func drawPatterns(_ version: Version) {
        for position in 0..<size {
            set(6, position, position % 2 == 0)
            set(position, 6, position % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        let centers = version.alignmentCenters
        for (row, y) in centers.enumerated() {
            for (column, x) in centers.enumerated() {
                let last = centers.count - 1
                // The finders are in these corners.
                if [(0, 0), (0, last), (last, 0)].contains(where: { $0 == (row, column) }) { continue }
                drawAlignment(x, y)
            }
        }
        drawFormat(mask: 0)
        if version.number >= 7 { drawVersion(version.number) }
    }

    private mutating func drawFinder(_ x: Int, _ y: Int) {
        for (dx, dy) in Self.square(radius: 4) {
            let (column, row) = (x + dx, y + dy)
            guard (0..<size).contains(column), (0..<size).contains(row) else { continue }
            let distance = max(abs(dx), abs(dy))
            set(column, row, distance != 2 && distance != 4)
        }
    }

    private mutating func drawAlignment(_ x: Int, _ y: Int) {
        for (dx, dy) in Self.square(radius: 2) { set(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) }
    }

    private static func square(radius: Int) -> [(Int, Int)] {
        (-radius...radius).flatMap { y in (-radius...radius).map { x in (x, y) } }
    }

    /// Level and mask, twice, with a BCH code of their own (§7.9).
    private mutating func drawFormat(mask: Int) {
        // Level M is 0.
        let bits = (mask << 10 | Self.remainder(of: mask, by: 0x537, bits: 10)) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0..<6 { set(8, index, bit(index)) }
        set(8, 7, bit(6))
        set(8, 8, bit(7))
        set(7, 8, bit(8))
        for index in 9..<15 { set(14 - index, 8, bit(index)) }
        for index in 0..<8 { set(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { set(8, size - 15 + index, bit(index)) }
        set(8, size - 8, true)
    }

    /// The version, twice (§7.10).
    private mutating func drawVersion(_ version: Int) {
        let bits = version << 12 | Self.remainder(of: version, by: 0x1f25, bits: 12)
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            set(far, near, bits >> index & 1 == 1)
            set(near, far, bits >> index & 1 == 1)
        }
    }

    private static func remainder(of value: Int, by polynomial: Int, bits: Int) -> Int {
        var rest = value
        for _ in 0..<bits { rest = rest << 1 ^ (rest >> (bits - 1)) * polynomial }
        return rest
    }

    // MARK: Data

    /// In pairs of columns from the right, up and down in turns, past the column of the timing pattern.
    private mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        let rights = Array(stride(from: size - 1, to: 6, by: -2)) + Array(stride(from: 5, to: 0, by: -2))
        for (number, right) in rights.enumerated() {
            for step in 0..<size {
                let y = number % 2 == 0 ? size - 1 - step : step
                for x in [right, right - 1] where !isFixed[y * size + x] && index < codewords.count * 8 {
                    modules[y * size + x] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
        }
    }

    private func masked(by mask: Int) -> QRCode {
        var code = self
        for y in 0..<size {
            for x in 0..<size where !isFixed[y * size + x] && Self.inverts(mask, x, y) {
                code.modules[y * size + x].toggle()
            }
        }
        code.drawFormat(mask: mask)
        return code
    }

    private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// How hard the code is to read (§7.8.3).
    private var penalty: Int {
        let rows = (0..<size).map { y in (0..<size).map { isDark($0, y) } }
        let columns = (0..<size).map { x in (0..<size).map { isDark(x, $0) } }
        var penalty = (rows + columns).reduce(0) { $0 + Self.penalty(ofLine: $1) }
        for y in 0..<(size - 1) {
            for x in 0..<(size - 1) {
                let color = isDark(x, y)
                if color == isDark(x + 1, y), color == isDark(x, y + 1), color == isDark(x + 1, y + 1) { penalty += 3 }
            }
        }
        let dark = modules.count { $0 }
        return penalty + abs(dark * 20 - modules.count * 10) / modules.count * 10
    }

    /// For long runs of one color, and for what looks like a finder.
    private static func penalty(ofLine line: [Bool]) -> Int {
        var penalty = 0
        var run = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        let quiet = [Bool](repeating: false, count: 4)
        for start in 0..<max(0, line.count - 10) {
            let part = Array(line[start..<(start + 11)])
            if part == quiet + finder || part == finder + quiet { penalty += 40 }
        }
        return penalty
    }
}
