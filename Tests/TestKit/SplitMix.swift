/// Numbers that look random and are the same for the same seed (SplitMix64).
package struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// Text with what breaks careless writers: quotes, backslashes, control characters, other scripts, emoji.
    package mutating func text(upTo limit: Int) -> String {
        let odd: [Unicode.Scalar] = [
            "\"", "\\", "/", "\n", "\u{1}", "\u{1f}", "\u{7f}", "\u{2028}", "é", "ß", "日", "\u{301}", "😀", "\u{fffd}",
            "&", "=", "%", "+", " ",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...limit, using: &self) {
            let isOdd = Int.random(in: 0..<4, using: &self) == 0
            text.append(
                isOdd
                    ? odd[Int.random(in: 0..<odd.count, using: &self)]
                    : Unicode.Scalar(UInt8.random(in: 0x61...0x7a, using: &self))
            )
        }
        return String(text)
    }
}
