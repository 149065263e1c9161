import StrictJSON
import Testing

@Suite("Strict JSON")
struct JSONValueTests {
    // MARK: What it takes

    @Test(
        "reads every kind of value, and writes it without white space",
        arguments: [
            (#"{"a":[1,-2.5e3,true,false,null,"x"],"b":{}}"#, #"{"a":[1,-2.5e3,true,false,null,"x"],"b":{}}"#),
            (" [ ] ", "[]"),
            (" \t\r\n{ \"a\" : [ 1 , 2 ] } \t\r\n", #"{"a":[1,2]}"#),
            (#""\"\\\/\b\f\n\r\té\ud83d\ude00""#, #""\"\\/\u0008\u000c\n\r\té😀""#),
            ("0", "0"),
            ("-0.5", "-0.5"),
        ]
    )
    func readsValues(_ text: String, _ expected: String) throws {
        #expect(try JSONValue(parsing: text).jsonText == expected)
    }

    @Test(
        "comes back as it was",
        arguments: [
            #"{"b":1,"a":[true,false,null,"x"],"c":{"d":-0.5e+10}}"#, "[]", "{}", "\"\"", "0",
            "12345678901234567890123", "-1.5", #"{"é":"\"\\/\b"}"#, "[[[[]]]]",
        ]
    )
    func comesBackAsItWas(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(try JSONValue(parsing: value.jsonText) == value)
    }

    @Test("keeps the text of numbers and the order of members")
    func keepsNumbersAndOrder() throws {
        #expect(
            try JSONValue(parsing: #"{"b":9007199254740993,"a":1.10}"#).jsonText == #"{"b":9007199254740993,"a":1.10}"#
        )
    }

    @Test("reads and writes escapes")
    func readsEscapes() throws {
        #expect(try JSONValue(parsing: #""\u0041\ud83d\ude00\n\/""#) == .string("A😀\n/"))
        #expect(JSONValue.string("\u{1}\"\\\n\u{7f}é").jsonText == "\"\\u0001\\\"\\\\\\n\u{7f}é\"")
    }

    @Test("reads what the writer wrote, for every character")
    func readsBack() throws {
        let text = String(String.UnicodeScalarView((0..<0xd800).compactMap { Unicode.Scalar($0 as Int) }))
        let value = JSONValue.object(JSONObject([.init(name: text, value: .string(text))]))
        #expect(try JSONValue(parsing: value.jsonText, allowsNUL: true) == value)
    }

    @Test("tells names apart by their bytes")
    func tellsNamesApartByTheirBytes() throws {
        let object = try #require(try JSONValue(parsing: "{\"\\u00e9\":1,\"e\\u0301\":2}").object)
        #expect(object.members.count == 2)
        #expect(object["e\u{301}"] == .number("2"))
        let many = (0..<40).map { "\"m\($0)\":1" }.joined(separator: ",")
        #expect(try JSONValue(parsing: "{\(many),\"\\u00e9\":1,\"e\\u0301\":2}").object?.members.count == 42)
    }

    // MARK: What it refuses

    @Test(
        "T-C11: refuses input that is not JSON",
        arguments: [
            ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("{", .unexpectedEnd, 1), ("[1,]", .unexpectedToken, 3),
            ("{,}", .unexpectedToken, 1), (#"{"a"}"#, .unexpectedToken, 4), (#"{"a":}"#, .unexpectedToken, 5),
            (#"{"a":1,}"#, .unexpectedToken, 7), ("{a:1}", .unexpectedToken, 1), ("'a'", .unexpectedToken, 0),
            ("01", .unexpectedToken, 1), ("1.", .unexpectedEnd, 2), (".5", .unexpectedToken, 0),
            ("1e", .unexpectedEnd, 2), ("+1", .unexpectedToken, 0), ("--1", .unexpectedToken, 1),
            ("tru", .unexpectedEnd, 3), ("nulls", .unexpectedToken, 4), ("nullx", .unexpectedToken, 4),
            ("NaN", .unexpectedToken, 0), ("Infinity", .unexpectedToken, 0), ("1 2", .unexpectedToken, 2),
            ("{} {}", .unexpectedToken, 3), (#""\x""#, .invalidText, 3), (#""\u12""#, .unexpectedEnd, 3),
            (#""\u12g4""#, .invalidText, 3), (#""a"#, .unexpectedEnd, 2), ("\"a\nb\"", .invalidText, 2),
            ("\"\u{9}\"", .invalidText, 1), ("// x\n1", .unexpectedToken, 0), ("\u{feff}{}", .unexpectedToken, 0),
            ("\u{feff}1", .unexpectedToken, 0), ("0x10", .unexpectedToken, 1),
            (#"{"a":1 "b":2}"#, .unexpectedToken, 7),
        ] as [(String, JSONError.Reason, Int)]
    )
    func refusesBrokenText(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test("T-C11: refuses a repeated member, also among many and in other escapes")
    func refusesDuplicates() {
        func expectDuplicate(_ name: String, at offset: Int? = nil, _ text: String) {
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
            #expect(error?.reason == .duplicateMember)
            #expect(error?.duplicate == name)
            if let offset { #expect(error?.offset == offset) }
        }
        expectDuplicate("sub", at: 11, #"{"sub":"1","sub":"2"}"#)
        expectDuplicate("sub", at: 9, #"{"sub":1,"s\u0075b":2}"#)
        expectDuplicate("a", at: 13, #"[{"x":{"a":1,"a":1}}]"#)
        let many = (0..<40).map { "\"m\($0)\":1" }.joined(separator: ",")
        expectDuplicate("m7", "{\(many),\"m7\":2}")
        expectDuplicate("m39", "{\(many),\"m39\":2}")
        #expect(throws: Never.self) { try JSONValue(parsing: "{\(many)}") }
    }

    @Test("T-C11: refuses NUL, escaped and not", arguments: [#""a\u0000b""#, "\"a\u{0}b\"", #"{"a\u0000":1}"#])
    func refusesNUL(_ text: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.reason == .nul)
    }

    @Test("takes an escaped NUL where the caller allows it, and never a bare one")
    func takesNUL() throws {
        #expect(try JSONValue(parsing: #""a\u0000b""#, allowsNUL: true) == .string("a\u{0}b"))
        #expect(throws: JSONError.self) { try JSONValue(parsing: "\"a\u{0}b\"", allowsNUL: true) }
    }

    @Test(
        "T-C11: refuses bytes that are no UTF-8, and halves of a surrogate pair",
        arguments: [
            [0xff], [0xc0, 0xaf], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80],
            Array(#"\ud800"#.utf8), Array(#"\udc00"#.utf8), Array(#"\ud800A"#.utf8), Array(#"\ud800\u0041"#.utf8),
            Array(#"\ud800\ud800"#.utf8), Array(#"\n"#.utf8) + [0xff],
        ] as [[UInt8]]
    )
    func refusesBadText(_ bytes: [UInt8]) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
        #expect(error?.reason == .invalidText)
    }

    @Test("refuses more levels than the caller allows, whatever they are made of", arguments: [2, 32, 64])
    func refusesDepth(_ limit: Int) {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        func reason(_ text: String) -> JSONError.Reason? {
            #expect(throws: JSONError.self) { try JSONValue(parsing: text, depth: limit) }?.reason
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(limit), depth: limit) }
        #expect(throws: Never.self) {
            try JSONValue(
                parsing: "[" + Array(repeating: nested(limit - 1), count: 3).joined(separator: ",") + "]",
                depth: limit
            )
        }
        #expect(reason(nested(limit + 1)) == .tooDeep)
        #expect(reason(String(repeating: #"{"a":"#, count: 100_000)) == .tooDeep)
    }

    @Test("allows 64 levels when the caller says nothing")
    func defaultDepth() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(64)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(65)) }
    }

    @Test("says what is wrong and where, without a word of the text")
    func quotesNothing() throws {
        let error = try #require(throws: JSONError.self) { try JSONValue(parsing: #"{"secret":1,"secret":2}"#) }
        #expect("\(error)" == "a member is repeated (byte 12)")
        #expect(String(reflecting: error) == "\(error)")
        #expect("\(error.reason)" == "duplicateMember")
    }

    @Test("ends for every prefix of a text and for every changed byte")
    func ends() {
        let text = Array(#"{"idToken":"a\u00e9","n":[1.5e-3,true,null],"o":{"x":"\ud83d\ude00"}}"#.utf8)
        for length in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: text[..<length]) }
            for byte in [0, 0x22, 0x5c, 0x7b, 0x7d, 0x80, 0xff] as [UInt8] {
                var changed = text
                changed[length] = byte
                _ = try? JSONValue(parsing: changed)
            }
        }
    }

    // MARK: What its values say

    @Test("follows paths")
    func followsPaths() throws {
        let value = try JSONValue(parsing: #"{"data":{"id":7,"a.b":{"c":1}},"x.y":2,"list":[1]}"#)
        #expect(value[path: "data.id"] == .number("7"))
        #expect(value[path: "data.a.b.c"] == nil)
        #expect(value[path: "x.y"] == .number("2"))
        #expect(value[path: "list.0"] == nil)
        #expect(value[path: "data.id.z"] == nil)
    }

    @Test(
        "tells an integer from a whole number",
        arguments: [
            ("3600", 3600, 3600), ("3600.0", nil, 3600), ("3.6e3", nil, 3600), ("3600.5", nil, nil),
            ("1e300", nil, nil),
            ("9007199254740993", 9_007_199_254_740_993, 9_007_199_254_740_993), ("9223372036854775808", nil, nil),
            ("\"1\"", nil, nil), ("-0", 0, 0), ("1e400", nil, nil),
        ] as [(String, Int64?, Int64?)]
    )
    func integers(_ text: String, _ integer: Int64?, _ wholeNumber: Int64?) throws {
        let value = try JSONValue(parsing: text)
        #expect(value.integer == integer)
        #expect(value.wholeNumber == wholeNumber)
    }
}
