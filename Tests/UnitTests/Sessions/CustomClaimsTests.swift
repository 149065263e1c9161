import Foundation
import Sessions
import Testing

enum JSONSamples {
    /// No JSON object that two readers are sure to read alike.
    static let refused: [String] = [
        "", " ", "null", "1", "\"x\"", "[]", "[{}]", "{", "}", "{}}", "{}{}", "{} x", "{,}", #"{"a":1,}"#, #"{"a"}"#,
        #"{"a":}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":1 "b":2}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#,
        #"{"x":{"a":1,"a":1}}"#, #"{"x":[{"a":1,"a":1}]}"#, #"{"a":01}"#, #"{"a":-}"#, #"{"a":+1}"#, #"{"a":.5}"#,
        #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":0x1}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":tru}"#, #"{"a":True}"#,
        #"{"a":nul"#, #"{"a":"b}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12G4"}"#, #"{"a":"\ud800"}"#,
        #"{"a":"\udc00"}"#, #"{"a":"\ud800\u0041"}"#, #"{"a":"\ud800x"}"#, "{\"a\":\"\n\"}", "{\"a\":\"\u{0}\"}",
        "\u{feff}{}", "{}\u{0}", "{\u{a0}}", "{/* */}", #"{"a":[1,]}"#, #"{"a":[,]}"#, #"{"a":[1 2]}"#, #"{"a":[}"#,
        #"{"a":"# + String(repeating: "[", count: 100_000),
        #"{"a":"# + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}",
    ]

    static let taken: [(String, [String])] = [
        ("{}", []), (" \t\r\n{ \t\r\n} \t\r\n", []), (#"{"a":1}"#, ["a"]), (#"{"":0}"#, [""]),
        (#"{"b":-0.5e+10,"a":[[],{},"",null,true,false,1E-2,0]}"#, ["b", "a"]),
        (#"{"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00":{"a":1,"b":{"a":1}}}"#, ["\"\\/\u{8}\u{c}\n\r\té😀"]),
        ("{\"\u{e9}\":1,\"e\u{301}\":2}", ["\u{e9}", "e\u{301}"]),
        ("{\"\u{7f}\u{2028}\":\"\u{2028}\"}", ["\u{7f}\u{2028}"]),
        (#"{"a":"# + String(repeating: "[", count: 63) + String(repeating: "]", count: 63) + "}", ["a"]),
    ]
}

@Suite struct CustomClaimsTests {
    @Test func takesObjects() throws {
        for (text, names) in JSONSamples.taken {
            let read = try #require(CustomClaims.names(in: text), "\(text)")
            #expect(read.map { Array($0.utf8) } == names.map { Array($0.utf8) })
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
        }
    }

    @Test func refusesEverythingElse() {
        for text in JSONSamples.refused { #expect(CustomClaims.names(in: text) == nil, "\(text.prefix(60))") }
    }
}
