import Secrets
import Testing

@Suite struct SecretTests {
    @Test func showsItselfNowhere() {
        struct Holder { let inner: Secret }
        let secret = Secret("hunter2")
        var dumped = ""
        dump(Holder(inner: secret), to: &dumped)
        let shown = [
            "\(secret)", String(reflecting: secret), "\(Holder(inner: secret))", "\([secret])",
            "\(Optional(secret) as Any)", dumped,
        ]
        for text in shown { #expect(!text.contains("hunter2")) }
        #expect(secret.reveal() == "hunter2")
        #expect(!secret.isEmpty)
        #expect(Secret("").isEmpty)
    }

    @Test func comparesEveryByte() {
        let bytes = Array((0..<64).map { UInt8($0) })
        #expect(ConstantTime.equal(bytes, bytes))
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << bit
                #expect(!ConstantTime.equal(bytes, other))
            }
        }
        #expect(!ConstantTime.equal(bytes, Array(bytes.dropLast())))
        #expect(!ConstantTime.equal(bytes, bytes + [0]))
        #expect(ConstantTime.equal([UInt8](), []))
    }

    @Test func comparesTextByItsBytes() {
        #expect(ConstantTime.equal("é", "é"))
        #expect(!ConstantTime.equal("\u{e9}", "e\u{301}"))  // equal to `==`
        #expect(!ConstantTime.equal("a", "A"))
    }

    /// FIPS 180-2, appendix B.1.
    @Test func hashesWithSHA256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(SecureHash.sha256Hex("abc") == abc)
        #expect(SecureHash.sha256("abc").lowercaseHex == abc)
        #expect(SecureHash.sha256(Array("abc".utf8)).lowercaseHex == abc)
        #expect([UInt8(0), 9, 10, 255].lowercaseHex == "00090aff")
    }
}
