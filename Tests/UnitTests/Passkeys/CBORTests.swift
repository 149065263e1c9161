import Passkeys
import Secrets
import TestKit
import Testing

@Suite("CBOR")
struct CBORTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// RFC 8949, appendix A: what CTAP2's canonical form allows.
    @Test(
        "reads RFC 8949's examples in canonical form",
        arguments: [
            ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
            ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000),
            ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)), ("20", -1), ("29", -10),
            ("3863", -100), ("3903e7", -1000), ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
            ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", ""), ("6161", "a"), ("6449455446", "IETF"),
            ("62225c", "\"\\"), ("62c3bc", "\u{fc}"), ("63e6b0b4", "\u{6c34}"), ("64f0908591", "\u{10151}"),
            ("80", .array([])), ("83010203", .array([1, 2, 3])),
            ("8301820203820405", .array([1, .array([2, 3]), .array([4, 5])])),
            (
                "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
                .array((1...25).map { .unsigned($0) })
            ), ("a0", [:]), ("a201020304", [1: 2, 3: 4]),
            ("a26161016162820203", ["a": 1, "b": .array([2, 3])]), ("826161a161626163", .array(["a", ["b": "c"]])),
            ("a56161614161626142616361436164614461656145", ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"]),
        ] as [(String, CBOR)]
    )
    func readsExamples(_ hex: String, _ value: CBOR) throws {
        #expect(try CBOR(Self.bytes(hex)) == value)
        #expect(value.encoded == Self.bytes(hex))
    }

    /// RFC 8949, appendix A: the rest.
    @Test(
        "refuses RFC 8949's examples of what CTAP2 or WebAuthn does not have",
        arguments: [
            // Tags: bignums, dates, URIs, encoded CBOR
            ("c249010000000000000000", .unsupported), ("c349010000000000000000", .unsupported),
            ("c074323031332d30332d32315432303a30343a30305a", .unsupported), ("c11a514b67b0", .unsupported),
            ("c1fb41d452d9e8000000", .unsupported), ("d74401020304", .unsupported), ("d818456449455446", .unsupported),
            ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", .unsupported),
            // Floating-point numbers
            ("f90000", .unsupported), ("f93c00", .unsupported), ("fa47c35000", .unsupported),
            ("fb3ff199999999999a", .unsupported), ("f97c00", .unsupported), ("f97e00", .unsupported),
            // Other simple values
            ("f7", .unsupported), ("f0", .unsupported), ("f8ff", .unsupported),
            // Indefinite lengths
            ("5f42010243030405ff", .indefiniteLength), ("7f657374726561646d696e67ff", .indefiniteLength),
            ("9fff", .indefiniteLength), ("9f018202039f0405ffff", .indefiniteLength),
            ("83019f0203ff820405", .indefiniteLength), ("bf61610161629f0203ffff", .indefiniteLength),
            ("826161bf61626163ff", .indefiniteLength), ("bf6346756ef563416d7421ff", .indefiniteLength),
            ("ff", .indefiniteLength),
        ] as [(String, CBORError)]
    )
    func refusesExamples(_ hex: String, _ error: CBORError) {
        #expect(throws: error) { try CBOR(Self.bytes(hex)) }
    }

    @Test(
        "refuses what is malformed or not canonical",
        arguments: [
            ("", .truncated), ("18", .truncated), ("1901", .truncated), ("1b00000000000000", .truncated),
            ("42aa", .truncated), ("62c3", .truncated), ("8201", .truncated), ("a101", .truncated),
            ("5bffffffffffffffff00", .truncated), ("9bffffffffffffffff", .truncated),
            ("bbffffffffffffffff", .truncated),
            ("0000", .trailingBytes), ("a000", .trailingBytes),
            ("1c", .reserved), ("3d", .reserved), ("5e", .reserved), ("fc", .reserved),
            ("1817", .notShortest), ("1900ff", .notShortest), ("1a0000ffff", .notShortest),
            ("1b00000000ffffffff", .notShortest), ("3817", .notShortest), ("580141", .notShortest),
            ("780161", .notShortest), ("980101", .notShortest), ("b8010102", .notShortest),
            ("61ff", .invalidText), ("62c0af", .invalidText), ("63eda080", .invalidText),
            ("a201020103", .duplicateKey), ("a2616101616102", .duplicateKey),
            ("a203010102", .unsortedKeys), ("a2616101" + "0102", .unsortedKeys), ("a220010102", .unsortedKeys),
            ("a262616101" + "616201", .unsortedKeys), ("a2616201616101", .unsortedKeys),
            ("a218180117" + "01", .unsortedKeys),
            ("a1f401", .unsupported), ("a1f601", .unsupported), ("a18001", .tooDeep), ("a1a001", .tooDeep),
            ("81818181818181818101", .tooDeep),
        ] as [(String, CBORError)]
    )
    func refusesOthers(_ hex: String, _ error: CBORError) {
        #expect(throws: error) { try CBOR(Self.bytes(hex)) }
    }

    @Test("reads at most eight levels, and at most 64 KiB")
    func limit() throws {
        let longest = CBOR.bytes([UInt8](repeating: 0, count: 65_533))
        #expect(try CBOR(longest.encoded) == longest)
        #expect(try CBOR(Self.bytes("818181818181818101")).encoded.count == 9)
        #expect(throws: CBORError.tooLong) { try CBOR(longest.encoded + [0]) }
    }

    @Test("sorts keys as CTAP2 does: integers, then bytes, then texts, each by length and bytes")
    func order() throws {
        let map: CBOR = [1: 1, 23: 1, 24: 1, -1: 1, -24: 1, -25: 1, .bytes([1]): 1, "b": 1, "aa": 1]
        #expect(try CBOR(map.encoded) == map)
        #expect(map["aa"] == 1 && map[-25] == 1 && map["c"] == nil && map[2] == nil)
    }
}
