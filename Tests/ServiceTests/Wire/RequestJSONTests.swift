import HTTPTypes
import IdentityService
import Logging
import NIOCore
import Testing

@Suite("JSON of requests")
struct RequestJSONTests {
    @Test(
        "T-C11: refuses what two readers could read differently, in production's words",
        arguments: [
            ("{", "Unexpected end of string."), ("{a", "Unexpected token."),
            (#"{"a":"\ud800"}"#, "Invalid UTF-8 or escape in a string."),
            (#"{"a":"\u0000"}"#, "A string contains the character U+0000."),
            (#"{"sub":1,"s\u0075b":2}"#, #"Duplicate name "sub"."#),
            (nested(33), "Message too deep. Max recursion depth reached."),
        ]
    )
    func refuses(_ body: String, _ problem: String) {
        let error = #expect(throws: WireError.self) { try read(body) }
        #expect(error?.message == "Invalid JSON payload received. \(problem)")
        #expect(error?.statusName == "INVALID_ARGUMENT")
    }

    @Test("takes 32 levels")
    func takesDepth() { #expect(throws: Never.self) { try read(Self.nested(32)) } }

    @Test("T-C11: refuses names of a map that Unicode calls equivalent")
    func refusesEquivalentNames() throws {
        let object = try read(#"{"customParameter":{"\u00e9":"a","e\u0301":"b"}}"#)
        #expect(throws: WireError.self) { try object.texts("customParameter") }
    }

    private func read(_ body: String) throws -> WireObject {
        try Call(method: .post, body: ByteBuffer(string: body), logger: Logger(label: "test")).json()
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
    }
}
