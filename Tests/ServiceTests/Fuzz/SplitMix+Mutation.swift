import TestKit

extension SplitMix {
    /// Bytes at which parsers turn, and starts of what is not UTF-8.
    private static let turns: [UInt8] =
        Array("\0\t\n\r \"#%&'()*+,-./:;<=>?@[\\]^_`{|}~019azAZ".utf8) + [0x7f, 0x80, 0xc0, 0xed, 0xf4, 0xff]

    /// Characters that folding, trimming or another parser makes something else of.
    private static let odd = [
        "\u{130}", "\u{131}", "\u{212a}", "\u{fb03}", "\u{ff20}", "\u{ff0e}", "\u{3002}", "\u{ff0f}", "\u{2100}",
        "\u{200d}", "\u{ad}", "\u{301}", "\u{df}", "\u{1e9e}", "\u{2028}", "\u{202e}", "\u{fffd}", "\u{1f600}",
        "\u{661}", "\u{feff}", "\u{37e}",
    ]

    /// One of `pool`, changed at one to four places.
    mutating func mutation(of pool: [[UInt8]], _ words: [String], upTo length: Int) -> [UInt8] {
        var input = pool[Int.random(in: 0..<pool.count, using: &self)]
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let start = Int.random(in: 0...input.count, using: &self)
            let end = Int.random(in: start...min(input.count, start + 16), using: &self)
            switch Int.random(in: 0..<9, using: &self) {
            case 0 where start < input.count: input[start] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: input.insert(Self.turns[Int.random(in: 0..<Self.turns.count, using: &self)], at: start)
            case 2: input.removeSubrange(start..<end)
            case 3: input.insert(contentsOf: input[start..<end], at: start)
            case 4:
                let other = pool[Int.random(in: 0..<pool.count, using: &self)]
                input.replaceSubrange(start..., with: other[min(start, other.count)...])
            case 5 where start < input.count:
                input[start] = Self.turns[Int.random(in: 0..<Self.turns.count, using: &self)]
            case 6:
                let odd = Self.odd[Int.random(in: 0..<Self.odd.count, using: &self)]
                input.replaceSubrange(start..<end, with: odd.utf8)
            case 7: input.insert(UInt8.random(in: 0...255, using: &self), at: start)
            default:
                guard !words.isEmpty else { continue }
                input.replaceSubrange(
                    start..<end,
                    with: words[Int.random(in: 0..<words.count, using: &self)].utf8
                )
            }
        }
        return Array(input.prefix(length))
    }
}
