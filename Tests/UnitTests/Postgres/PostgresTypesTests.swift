import Foundation
import Postgres
import TestKit
import Testing

@Suite("PostgreSQL: values", .database)
struct PostgresTypesTests {
    private var client: PostgresClient { TestDatabase.current.client }

    private func roundTrip<T: PostgresEncodable & PostgresDecodable & Equatable>(_ values: [T]) async throws {
        for value in values {
            #expect(try await client.query("SELECT \(value)") { try $0.next(T.self) } == [value])
            #expect(try await client.query("SELECT \(value as T?)") { try $0.next(T?.self) } == [value])
        }
        #expect(try await client.query("SELECT \(nil as T?)") { try $0.next(T?.self) } == [nil])
    }

    @Test func textComesBackAsItWas() async throws {
        try await roundTrip([
            "", " ", "'; DROP TABLE accounts; --", "$1", "\\", "ünïcödé", "日本語", "👩‍👩‍👧‍👦", "e\u{301}",
            "\u{1}\u{7f}\u{10FFFF}",
            String(repeating: "x", count: 1_000_000),
        ])
    }

    @Test func numbersComeBackAsTheyWere() async throws {
        try await roundTrip([true, false])
        try await roundTrip([0, 1, -1, Int.max, Int.min])
        try await roundTrip([0, Int32.max, Int32.min])
        try await roundTrip([0, Int64.max, Int64.min])
        try await roundTrip([0, -1.5, .pi, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
        #expect(try await client.query("SELECT \(Double.nan)") { try $0.next(Double.self).isNaN } == [true])
    }

    @Test func bytesComeBackAsTheyWere() async throws {
        try await roundTrip([[], [0], Array(0...255), [UInt8](repeating: 0xAB, count: 3_000_000)])
    }

    @Test func datesKeepTheirMicroseconds() async throws {
        try await roundTrip(
            [0, 1, -1.5, 946_684_800, 1_700_000_000.25, 4_102_444_800, -62_000_000_000].map(
                Date.init(timeIntervalSince1970:)
            )
        )
        let date = Date(timeIntervalSince1970: 1_763_726_081.123456)
        let rows = try await client.query("SELECT \(date), \(date) = '2025-11-21T11:54:41.123456Z'::timestamptz") {
            (try $0.next(Date.self), try $0.next(Bool.self))
        }
        let (back, isSame) = try #require(rows.first)
        #expect(abs(back.timeIntervalSince(date)) < 0.000_001)
        #expect(isSame)
    }

    @Test func anEmptyValueIsNotNULL() async throws {
        let rows = try await client.query(
            "SELECT \("") IS NULL, \([UInt8]()) IS NULL, \([String]()) IS NULL, \(nil as String?) IS NULL"
        ) { row in [try row.next(Bool.self), try row.next(), try row.next(), try row.next()] }
        #expect(rows == [[false, false, false, true]])
    }

    @Test func arraysComeBackAsTheyWere() async throws {
        try await roundTrip([[], [""], ["a", "NULL", "{\"", "ü,"]])
        try await roundTrip([[], [Int64.min, 0, Int64.max]])
        try await roundTrip([[], [1, -1]])
        try await roundTrip([[], [Int32.min, Int32.max]])
        try await roundTrip([[], [true, false]])
        try await roundTrip([[], [1.5, -0.0]])
        try await roundTrip([[], [[]], [[0], [], [1, 2, 255]]] as [[[UInt8]]])
        try await roundTrip([[], [Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: -1)]])
        try await roundTrip([[], [nil], ["a", nil, ""]] as [[String?]])
    }

    @Test func arraysFeedUnnest() async throws {
        let rows = try await client.query(
            "SELECT k, n FROM unnest(\([[1], [2]] as [[UInt8]]), \(["a", nil] as [String?])) WITH ORDINALITY u (k, n, i) ORDER BY i"
        ) { (try $0.next([UInt8].self), try $0.next(String?.self)) }
        #expect(rows.map(\.0) == [[1], [2]])
        #expect(rows.map(\.1) == ["a", nil])
    }

    @Test func narrowerTypesAreRead() async throws {
        let rows = try await client.query(
            "SELECT 7::int2, 8::int4, 9::int2, 0.5::float4, 'a'::varchar, 'n'::name, '{\"a\": 1}'::jsonb::text, '[1]'::json"
        ) { row in
            #expect(try row.next(Int.self) == 7)
            #expect(try row.next(Int64.self) == 8)
            #expect(try row.next(Int32.self) == 9)
            #expect(try row.next(Double.self) == 0.5)
            return [try row.next(String.self), try row.next(), try row.next(), try row.next()]
        }
        #expect(rows == [["a", "n", "{\"a\": 1}", "[1]"]])
    }

    @Test func jsonGoesAsText() async throws {
        let json = #"{"a": "é\"", "b": [1, null]}"#
        #expect(try await client.query("SELECT (\(json)::jsonb)::text") { try $0.next() } == [json])
    }

    @Test(arguments: ["SELECT 1::int8", "SELECT NULL::text", "SELECT 'a'::text WHERE true", "SELECT now()"] as [SQL])
    func aColumnOfAnotherKindIsAnErrorOfTheStatementAlone(_ sql: SQL) async throws {
        await #expect(throws: PostgresError.self) {
            try await client.query(sql) { row in
                _ = try row.next(String.self)
                return try row.next(String.self)
            }
        }
        #expect(try await client.query("SELECT 1") { try $0.next() } == [1])
    }

    @Test(arguments: ["SELECT 'infinity'::timestamptz", "SELECT '-infinity'::timestamptz"] as [SQL])
    func anInfiniteDateIsRefused(_ sql: SQL) async throws {
        let error = await #expect(throws: PostgresError.self) { try await client.query(sql) { try $0.next(Date.self) } }
        #expect(error?.code == .decoding)
    }

    @Test func textWithNULIsRefusedBeforeItIsSent() async throws {
        for sql in ["SELECT \("a\0b")", "SELECT \(["a", "\0"])", "SELECT 1 AS \(identifier: "a\0")"] as [SQL] {
            let error = await #expect(throws: PostgresError.self) { try await client.execute(sql) }
            #expect(error?.code == .invalidParameter)
        }
    }

    @Test func statementsComposeWithTheirValues() async throws {
        let inner: SQL = "b = \(2) AND c = \("x")"
        let sql: SQL =
            "SELECT a FROM (VALUES (1, 2, 'x'), (3, 2, 'y')) t (a, b, c) WHERE a = \(1) AND \(sql: inner) AND \(raw: "b > 0")"
        #expect(sql.text.hasSuffix("WHERE a = $1 AND b = $2 AND c = $3 AND b > 0"))
        #expect(try await client.query(sql) { try $0.next() } == [1])
        let outer: SQL = "\(sql: sql) OR \(sql: inner) AND a = \(3)"
        #expect(outer.text.hasSuffix("OR b = $4 AND c = $5 AND a = $6"))
    }

    @Test func identifiersAreQuoted() async throws {
        let name = "odd \" name; --"
        try await client.execute("CREATE TABLE \(identifier: name) (a INT)")
        #expect(try await client.query("SELECT count(*) FROM \(identifier: name)") { try $0.next() } == [0])
    }

    @Test func oneTextWithOtherTypesIsAnotherStatement() async throws {
        func echo<T: PostgresEncodable & PostgresDecodable>(_ value: T) async throws -> [T] {
            try await client.query("SELECT \(value)") { try $0.next() }
        }
        for _ in 0..<3 {
            #expect(try await echo(1) == [1])
            #expect(try await echo("1") == ["1"])
            #expect(try await echo([1] as [UInt8]) == [[1]])
        }
    }
}
