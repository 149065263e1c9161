import IdentityService
import StrictJSON
import Testing

@Suite("Request members")
struct WireObjectTests {
    private func object(_ text: String) throws -> WireObject { try WireObject(try JSONValue(parsing: text)) }

    @Test("takes camelCase and snake_case")
    func takesBothSpellings() throws {
        #expect(try object(#"{"idToken":"a"}"#).string("idToken") == "a")
        #expect(try object(#"{"id_token":"a"}"#).string("idToken") == "a")
        #expect(try object(#"{"return_idp_credential":true}"#).bool("returnIdpCredential") == true)
        #expect(try object(#"{"IDTOKEN":"a","idtoken":"b"}"#).string("idToken") == nil)
    }

    @Test("T-C11: refuses a member given in both spellings")
    func refusesBothSpellings() throws {
        let object = try object(#"{"idToken":"a","id_token":"b"}"#)
        #expect(throws: WireError.self) { try object.string("idToken") }
    }

    @Test("takes an explicit null as absent")
    func takesNullAsAbsent() throws {
        let object = try object(#"{"a":null,"b":null,"c":null,"d":null,"e":null}"#)
        #expect(try object.string("a") == nil)
        #expect(try object.bool("b") == nil)
        #expect(try object.int64("c") == nil)
        #expect(try object.strings("d") == [])
        #expect(try object.object("e") == nil)
        #expect(try !object.has("a"))
    }

    @Test(
        "takes 64-bit integers as numbers and as digits",
        arguments: [
            ("1", 1), ("-1", -1), (#""1800000000000""#, 1_800_000_000_000), ("1e3", 1000), ("5.0", 5),
            ("9223372036854775807", Int64.max), (#""-9223372036854775808""#, Int64.min),
        ]
    )
    func takesIntegers(_ text: String, _ expected: Int64) throws {
        #expect(try object("{\"validSince\":\(text)}").int64("validSince") == expected)
    }

    @Test(
        "refuses other integers in production's words",
        arguments: [
            #""yesterday""#, "1.5", "9223372036854775808", #""""#, #""+1""#, #"" 1""#, "true", "[]", "{}", "1e400",
        ]
    )
    func refusesOtherIntegers(_ text: String) throws {
        let body = try object(#"{"users":[{"createdAt":\#(text)}]}"#)
        let users = try body.objects("users")
        let error = #expect(throws: WireError.self) { try users[0].int64("createdAt") }
        let value = try JSONValue(parsing: text).jsonText
        #expect(error?.message == "Invalid value at 'users[0].created_at' (TYPE_INT64), \(value)")
        #expect(error?.statusName == "INVALID_ARGUMENT")
        #expect(error?.details.count == 1)
    }

    @Test("refuses values of another type", arguments: ["1", "true", "[]", "{}", #"["a"]"#])
    func refusesOtherTypes(_ text: String) throws {
        let object = try object("{\"email\":\(text)}")
        #expect(throws: WireError.self) { try object.string("email") }
        #expect(throws: WireError.self) { _ = try self.object(#"{"flag":"true"}"#).bool("flag") }
        #expect(try self.object(#"{"list":"a"}"#).strings("list") == ["a"])
        #expect(throws: WireError.self) { _ = try self.object(#"{"list":[1]}"#).strings("list") }
        #expect(throws: WireError.self) { _ = try self.object(#"{"o":"a"}"#).object("o") }
    }

    @Test("takes enum values by name, number and digits", arguments: [#""EMAIL""#, #""email""#, "1", #""1""#])
    func takesEnums(_ text: String) throws {
        let names = ["UNSPECIFIED", "EMAIL"]
        #expect(try object("{\"kind\":\(text)}").choice("kind", of: names) == "EMAIL")
        #expect(try object("{\"kind\":[\(text),\(text)]}").choices("kind", of: names) == ["EMAIL", "EMAIL"])
    }

    @Test("refuses unknown enum values", arguments: [#""OTHER""#, "2", "-1", #""""#, "1.5", "true"])
    func refusesUnknownEnums(_ text: String) throws {
        let object = try object("{\"kind\":\(text)}")
        #expect(throws: WireError.self) { try object.choice("kind", of: ["UNSPECIFIED", "EMAIL"]) }
    }

    @Test("keeps the names of a map as they are")
    func keepsMapNames() throws {
        let object = try object(#"{"customParameter":{"login_hint":"a","loginHint":"b","gone":null}}"#)
        #expect(try object.texts("customParameter") == ["login_hint": "a", "loginHint": "b"])
    }

    @Test("cuts and cleans what a message repeats")
    func cleansMessages() throws {
        let hostile = String(repeating: "x : y\\r\\nSet-Cookie: a\\u202e", count: 200)
        let object = try object("{\"email\":[\"\(hostile)\"]}")
        let error = try #require(throws: WireError.self) { try object.string("email") }
        #expect(error.message.unicodeScalars.count <= 512)
        #expect(!error.message.contains(" : "))
        #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202e })
    }
}
