import Foundation
import HTTPTypes
import IdentityService
import NIOCore
import StrictJSON
import Testing

@Suite("Fuzzed: JSON")
struct JSONFuzzTests {
    private let words = [
        "null", "true", "false", "-0", "1e400", "9223372036854775808", #""idToken""#, #""id_token""#, #"\u0000"#,
        #"\ud83d\ude00"#, #"\ud800"#, "{}", "[]", ",", ":", #"{"a":"#, "[[[[[[[[",
    ]

    @Test("T-C11: JSON survives being read, written and read again")
    func text() async throws {
        try await Fuzzer(name: "json", words: words, rounds: 8000).run { input in
            guard let value = try? JSONValue(parsing: input, depth: 32) else { return false }
            let text = value.jsonText
            try hold(try JSONValue(parsing: text, depth: 32) == value, "\(text) reads otherwise")
            try hold(try JSONValue(parsing: text).jsonText == text, "\(text) is written otherwise")
            // Nothing that others would refuse is taken.
            let isKnown = (try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)) != nil
            try hold(isKnown || text.contains { $0.isNumber }, "Foundation refuses it")
            return true
        }
    }

    /// Every way in which routes read a member.
    private func readings(_ object: WireObject) -> [String] {
        let name = "idToken"
        func reading(_ read: () throws -> Any?) -> String {
            do { return try read().map { "\($0)" } ?? "absent" } catch { return "\(error)" }
        }
        return [
            reading { try object.string(name) }, reading { try object.bool(name) }, reading { try object.int64(name) },
            reading { try object.time(name) }, reading { try object.strings(name) },
            reading { try object.object(name)?.members }, reading { try object.objects(name).map(\.members) },
            reading { try object.texts(name).sorted { $0.key < $1.key } },
            reading { try object.choice(name, of: ["NONE", "CODE"]) },
            reading { try object.choices(name, of: ["NONE", "CODE"]) },
        ]
    }

    @Test("members read alike in both spellings, null as absent, and refusals are one line that is JSON")
    func members() async throws {
        try await Fuzzer(name: "members", words: words).run { input in
            guard let value = try? JSONValue(parsing: input, depth: 32) else { return false }
            let object: WireObject
            do { object = try WireObject(value) } catch {
                try hold(value.object == nil, "an object is refused")
                return false
            }
            let texts = readings(object)
            let snake = object.members.map {
                JSONObject.Member(name: $0.name == "idToken" ? "id_token" : $0.name, value: $0.value)
            }
            try hold(readings(WireObject(snake)) == texts, "snake_case reads otherwise")
            let named = object.members.filter { ["idToken", "id_token"].contains($0.name) }
            if named.count == 1, named[0].value.isNull {
                let others = object.members.filter { !["idToken", "id_token"].contains($0.name) }
                try hold(readings(WireObject(others)) == texts, "null is not absent")
            }
            do throws(WireError) { _ = try object.string("idToken") } catch {
                let response = error.response(in: .accounts)
                try hold(response.status == .badRequest, "\(response.status)")
                try hold(!error.message.utf8.contains { $0 < 0x20 }, "\(error.message) has control characters")
                _ = try JSONValue(parsing: Array(buffer: response.body))
            }
            return true
        }
    }
}
