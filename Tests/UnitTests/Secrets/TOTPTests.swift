import Secrets
import Testing

@Suite("Time-based one-time passwords")
struct TOTPTests {
    private let totp = TOTP(secret: Array("12345678901234567890".utf8))

    @Test(
        "RFC 6238, appendix B, with six digits",
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)]
    )
    func vectors(seconds: Int64, code: String) {
        #expect(totp.code(of: TOTP.step(at: seconds)) == code)
        #expect(totp.step(of: code, at: seconds, adjacent: 0, after: 0) == seconds / 30)
    }

    @Test("a code counts within its window, and not up to the last step that was taken")
    func window() {
        let now: Int64 = 1_234_567_890
        let step = TOTP.step(at: now)
        for offset in -3...3 as ClosedRange<Int64> {
            let found = totp.step(of: totp.code(of: step + offset), at: now, adjacent: 2, after: 0)
            #expect(found == (abs(offset) <= 2 ? step + offset : nil))
        }
        #expect(totp.step(of: totp.code(of: step), at: now, adjacent: 2, after: step) == nil)
        #expect(totp.step(of: totp.code(of: step), at: now, adjacent: 2, after: step - 1) == step)
    }

    @Test(
        "RFC 4648 §10, without padding",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ]
    )
    func base32(text: String, encoded: String) {
        #expect(Base32.encode(Array(text.utf8)) == encoded)
    }
}
