import IdentityService
import NIOCore
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
    @Test(
        "reads every kind of value",
        arguments: [
            (#"{"a":[1,-2.5e3,true,false,null,"x"],"b":{}}"#, #"{"a":[1,-2.5e3,true,false,null,"x"],"b":{}}"#),
            (" [ ] ", "[]"),
            (#""\"\\\/\b\f\n\r\té\ud83d\ude00""#, #""\"\\/\u0008\u000c\n\r\té😀""#),
            ("0", "0"),
            ("-0.5", "-0.5"),
        ]
    )
    func readsValues(_ text: String, _ expected: String) throws {
        #expect(try JSONReader.read(text).jsonText == expected)
    }

    @Test(
        "T-C11: refuses what is no JSON",
        arguments: [
            "", " ", "{", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "'a'", "01", "1.", ".5", "1e",
            "+1",
            "--1", "tru", "nulls", "NaN", "Infinity", "1 2", "{} {}", #""\x""#, #""\u12""#, #""a"#, "\"a\nb\"",
            "// x\n1",
            "\u{feff}{}", "0x10", #"{"a":1 "b":2}"#,
        ]
    )
    func refusesBrokenText(_ text: String) {
        #expect(throws: JSONReader.Fault.self) { try JSONReader.read(text) }
    }

    @Test("T-C11: refuses a member that comes twice, also among many and in other escapes")
    func refusesDuplicates() {
        #expect(throws: JSONReader.Fault.duplicateName("sub")) { try JSONReader.read(#"{"sub":"1","sub":"2"}"#) }
        #expect(throws: JSONReader.Fault.duplicateName("sub")) { try JSONReader.read(#"{"sub":1,"s\u0075b":2}"#) }
        let many = (0..<40).map { "\"m\($0)\":1" }.joined(separator: ",")
        #expect(throws: JSONReader.Fault.duplicateName("m7")) { try JSONReader.read("{\(many),\"m7\":2}") }
        #expect(throws: JSONReader.Fault.duplicateName("m39")) { try JSONReader.read("{\(many),\"m39\":2}") }
        #expect(throws: Never.self) { try JSONReader.read("{\(many)}") }
    }

    @Test("T-C11: refuses NUL, escaped and not", arguments: [#""a\u0000b""#, "\"a\u{0}b\"", #"{"a\u0000":1}"#])
    func refusesNUL(_ text: String) {
        #expect(throws: JSONReader.Fault.nul) { try JSONReader.read(text) }
    }

    @Test(
        "refuses bytes that are no UTF-8, and halves of a surrogate pair",
        arguments: [
            [0xff], [0xc0, 0xaf], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80],
            Array(#"\ud800"#.utf8), Array(#"\udc00"#.utf8), Array(#"\ud800A"#.utf8), Array(#"\ud800\ud800"#.utf8),
            Array(#"\n"#.utf8) + [0xff],
        ] as [[UInt8]]
    )
    func refusesBadText(_ bytes: [UInt8]) {
        let text = [0x22] + bytes + [0x22]
        #expect(throws: JSONReader.Fault.self) { try JSONReader.read(ByteBuffer(bytes: text)) }
    }

    @Test("refuses more than 32 levels, whatever they are made of")
    func refusesDepth() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSONReader.read(nested(32)) }
        #expect(throws: JSONReader.Fault.tooDeep) { try JSONReader.read(nested(33)) }
        let objects = String(repeating: #"{"a":"#, count: 100_000)
        #expect(throws: JSONReader.Fault.tooDeep) { try JSONReader.read(objects) }
    }

    @Test("reads what the writer wrote, for every character")
    func readsBack() throws {
        let text = String(String.UnicodeScalarView((1..<0xd800).compactMap { Unicode.Scalar($0 as Int) }))
        var json = JSONWriter()
        json.string(text)
        #expect(try JSONReader.read(json.bytes) == .string(text))
    }

    @Test("ends for every prefix of a text and for every changed byte")
    func ends() {
        let text = Array(#"{"idToken":"a\u00e9","n":[1.5e-3,true,null],"o":{"x":"\ud83d\ude00"}}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: JSONReader.Fault.self) { try JSONReader.read(ByteBuffer(bytes: text[..<length])) }
            for byte in [0, 0x22, 0x5c, 0x7b, 0x7d, 0x80, 0xff] as [UInt8] {
                var changed = text
                changed[length] = byte
                _ = try? JSONReader.read(ByteBuffer(bytes: changed))
            }
        }
    }
}
