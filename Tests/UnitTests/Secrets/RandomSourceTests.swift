import Secrets
import Synchronization
import Testing

@Suite struct RandomSourceTests {
    /// All byte values in turn, however they are asked for.
    private static func counting() -> RandomSource {
        let counter = CountingBytes()
        return RandomSource { counter.next($0) }
    }

    @Test(arguments: ["ab", "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"])
    func drawsEachLetterEquallyOften(_ alphabet: String) {
        let letters = Array(alphabet.utf8)
        let whole = 256 / letters.count * letters.count  // of 256 bytes, those that are used
        let text = Array(Self.counting().text(whole * 4, of: alphabet).utf8)
        for letter in letters {
            #expect(text.count { $0 == letter } == 256 / letters.count * 4)
        }
        #expect(text.count == whole * 4)
    }

    @Test func drawsFromAlphabetsOfAllSizes() {
        let ascii = String(decoding: (33...126).map { UInt8($0) }, as: UTF8.self)
        #expect(Set(RandomSource.system.text(4000, of: ascii)) == Set(ascii))
        #expect(RandomSource.system.text(0, of: "ab") == "")
    }

    @Test func handlesHave256Bits() {
        let handles = (0..<200).map { _ in RandomSource.system.handle() }
        #expect(Set(handles).count == 200)
        #expect(handles.allSatisfy { $0.utf8.count == 43 && Base64URL.decode($0)?.count == 32 })
    }

    @Test func systemBytesCoverAllValues() {
        #expect(Set(RandomSource.system.bytes(16_384)).count == 256)
        #expect(RandomSource.system.bytes(32) != RandomSource.system.bytes(32))
    }

    @Test(arguments: [UInt8(0), 0xff])
    func uuidsHaveVersionAndVariant(_ filler: UInt8) {
        let uuid = RandomSource { [UInt8](repeating: filler, count: $0) }.uuid()
        let expected =
            filler == 0 ? "00000000-0000-4000-8000-000000000000" : "ffffffff-ffff-4fff-bfff-ffffffffffff"
        #expect(uuid == expected)
    }
}

private final class CountingBytes: Sendable {
    private let value = Mutex(UInt8(0))

    func next(_ count: Int) -> [UInt8] {
        value.withLock { value in
            (0..<count).map { _ in
                defer { value &+= 1 }
                return value
            }
        }
    }
}
