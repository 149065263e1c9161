import Secrets
import Testing
import Text

@Suite struct CompactJWSTests {
    /// RFC 7515 appendix A.1.1.
    private static let header = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let signature = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    @Test("RFC 7515 §3.1") func reads() throws {
        let token = try #require(CompactJWS("\(Self.header).\(Self.payload).\(Self.signature)"))
        #expect(token.header == Array("{\"typ\":\"JWT\",\r\n \"alg\":\"HS256\"}".utf8))
        #expect(token.payload.starts(with: "{\"iss\":\"joe\",\r\n".utf8))
        #expect(
            token.signature
                == [UInt8](hexadecimal: "7418dfb49799e0254ffa607dd8adbbba16d4254d69d6bff05b58055853848d79".utf8)
        )
        #expect(token.signedBytes == Array("\(Self.header).\(Self.payload)".utf8))
        #expect(token.encodedHeader.elementsEqual(Self.header.utf8))
        #expect(try #require(CompactJWS("\(Self.header).\(Self.payload).")).signature.isEmpty)
    }

    @Test(
        "other texts are no JWS",
        arguments: ["", ".", "a.b", "e30.e30", "e30.e30.e30.e30", "e30.e3 .e30", "e30.e30.a=", "e30.e31.e30", "{}"]
    )
    func refuses(_ text: String) { #expect(CompactJWS(text) == nil) }

    @Test("the header is decoded when it is read") func readsTheHeaderLate() throws {
        #expect(try #require(CompactJWS("=.e30.e30")).header == nil)
    }

    @Test(arguments: ["", "00", "0aFf", "ff"]) func readsHexadecimal(_ text: String) throws {
        #expect(try #require([UInt8](hexadecimal: text.utf8)).lowercaseHex == text.lowercased())
    }

    @Test(arguments: ["0", "0g", " 00", "+1", "é0", "0x00"]) func isNotHexadecimal(_ text: String) {
        #expect([UInt8](hexadecimal: text.utf8) == nil)
    }
}
