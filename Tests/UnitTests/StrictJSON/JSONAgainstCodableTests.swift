import Foundation
import StrictJSON
import TestKit
import Testing

/// Foundation's Codable as the judge of what the hot paths read and write by hand.
@Suite("JSON against Codable")
struct JSONAgainstCodableTests {
    private struct OtherNumber: Error {}

    /// Any JSON with whole numbers, as Codable sees it.
    private indirect enum Judged: Codable, Equatable {
        case null
        case bool(Bool)
        case integer(Int64)
        case string(String)
        case array([Judged])
        case object([String: Judged])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .integer(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Judged].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: Judged].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .null: try container.encodeNil()
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .array(let values): try container.encode(values)
            case .object(let members): try container.encode(members)
            }
        }

        init(_ value: JSONValue) throws {
            switch value {
            case .null: self = .null
            case .bool(let flag): self = .bool(flag)
            case .number(let text):
                guard let number = Int64(text) else { throw OtherNumber() }
                self = .integer(number)
            case .string(let text): self = .string(text)
            case .array(let values): self = .array(try values.map(Judged.init))
            case .object(let object):
                self = .object(
                    Dictionary(uniqueKeysWithValues: try object.members.map { ($0.name, try Judged($0.value)) })
                )
            }
        }
    }

    private static func value(_ random: inout SplitMix, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .number(String(Int64.random(in: .min ... .max, using: &random)))
        case 3: return .string(random.text(upTo: 24))
        case 4: return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in value(&random, depth: depth - 1) })
        default:
            var members: [JSONObject.Member] = []
            for number in 0..<Int.random(in: 0..<20, using: &random) {
                members.append(
                    JSONObject.Member(
                        name: "\(number)" + random.text(upTo: 8),
                        value: value(&random, depth: depth - 1)
                    )
                )
            }
            return .object(JSONObject(members))
        }
    }

    @Test("Codable reads our output, and we read Codable's", arguments: [1, 2, 3, 4] as [UInt64])
    func agrees(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        for _ in 0..<500 {
            let value = Self.value(&random, depth: 4)
            let judged = try Judged(value)
            #expect(try JSONDecoder().decode(Judged.self, from: Data(value.jsonText.utf8)) == judged)
            #expect(try Judged(JSONValue(parsing: try JSONEncoder().encode(judged))) == judged)
        }
    }

    @Test("refuses everything that Codable refuses", arguments: [5, 6] as [UInt64])
    func refuses(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var broken = 0
        for _ in 0..<2_000 {
            var bytes = Array(Self.value(&random, depth: 3).jsonText.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes.remove(at: place)
            case 1: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
            }
            guard (try? JSONDecoder().decode(Judged.self, from: Data(bytes))) == nil else { continue }
            // Numbers of other kinds are refused by the judge alone.
            guard let ours = try? JSONValue(parsing: bytes), (try? Judged(ours)) != nil else {
                broken += 1
                continue
            }
            Issue.record("\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(broken > 500)
    }
}
