import Federation
import Testing

@Suite struct JSONValueTests {
    @Test(arguments: [
        #"{"b":1,"a":[true,false,null,"x"],"c":{"d":-0.5e+10}}"#, "[]", "{}", "\"\"", "0", "12345678901234567890123",
        "-1.5",
        #"{"é":"\"\\/\b"}"#, "[[[[]]]]",
    ])
    func comesBackAsItWas(_ text: String) throws {
        let value = try JSONValue(text)
        #expect(try JSONValue(value.text) == value)
    }

    @Test func keepsNumbersAndOrder() throws {
        #expect(try JSONValue(#"{"b":9007199254740993,"a":1.10}"#).text == #"{"b":9007199254740993,"a":1.10}"#)
    }

    @Test func readsEscapes() throws {
        #expect(try JSONValue(#""\u0041\ud83d\ude00\n\/""#) == .string("A😀\n/"))
        #expect(JSONValue.string("\u{1}\"\\\n\u{7f}é").text == "\"\\u0001\\\"\\\\\\n\u{7f}é\"")
    }

    @Test(
        arguments: [
            ("", .malformed), ("{", .malformed), ("[1,]", .malformed), ("{\"a\":1,}", .malformed), ("01", .malformed),
            ("1.", .malformed), (".5", .malformed), ("1e", .malformed), ("+1", .malformed), ("tru", .malformed),
            ("nullx", .malformed), ("{} {}", .malformed), ("\"\u{9}\"", .malformed), ("\"\\x\"", .malformed),
            ("\"\\u12\"", .malformed), ("\u{feff}1", .malformed), (#""\ud800""#, .invalidText),
            (#""\ud800\u0041""#, .invalidText),
            (#""\udc00""#, .invalidText), (#"{"a":1,"a":2}"#, .duplicateMember),
            (#"{"a":1,"\u0061":2}"#, .duplicateMember),
            (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), .tooDeep), ("// x\n1", .malformed),
        ] as [(String, JSONError)]
    )
    func refuses(_ text: String, _ error: JSONError) {
        #expect(throws: error) { try JSONValue(text) }
    }

    @Test func tellsNamesApartByTheirBytes() throws {
        let object = try #require(try JSONValue("{\"\\u00e9\":1,\"e\\u0301\":2}").object)
        #expect(object.members.count == 2)
        #expect(object["e\u{301}"] == .number("2"))
    }

    @Test func refusesBytesThatAreNoUTF8() {
        for bytes: [UInt8] in [[0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]] {
            #expect(throws: JSONError.invalidText) { try JSONValue(bytes) }
        }
    }

    @Test func followsPaths() throws {
        let value = try JSONValue(#"{"data":{"id":7,"a.b":{"c":1}},"x.y":2,"list":[1]}"#)
        #expect(value[path: "data.id"] == .number("7"))
        #expect(value[path: "data.a.b.c"] == nil)
        #expect(value[path: "x.y"] == .number("2"))
        #expect(value[path: "list.0"] == nil)
        #expect(value[path: "data.id.z"] == nil)
    }
}
