import Foundation
import IdentityService
import Passwords
import TestKit
import Testing
import Transfer

@Suite("Files of users, row by row")
struct UserFileTests {
    private struct Read {
        var rows: [UserRow] = []
        var error: UserFileError?

        var ids: [String?] { rows.map { row in (try? row.user.get()).flatMap { try? $0.string("localId") } } }
        var reasons: [String?] {
            rows.map { row in
                if case .failure(let error) = row.user { error.reason } else { nil }
            }
        }
    }

    private func read(
        _ text: String,
        _ format: UserFileFormat,
        from start: UInt64 = 0,
        after rows: Int = 0
    ) async throws
        -> Read
    {
        try await withUserFiles { folder in
            let file = "\(folder)/users.\(format.rawValue)"
            try Data(text.utf8).write(to: URL(filePath: file))
            var reader = try format.reader(of: file, from: start, after: rows)
            var read = Read()
            do {
                while let row = try reader.next() { read.rows.append(row) }
            } catch let error as UserFileError {
                read.error = error
            }
            return read
        }
    }

    @Test("JSON: what stands beside users is passed over, and a broken row is refused alone")
    func json() async throws {
        let text = """
            {"kind":"identitytoolkit#DownloadAccountResponse", "n": 1, "more": {"users": [1]}, "users" : [
            {"localId": "a", "displayName": "} ] \\" \\\\"},{"localId":"b","customAttributes":"{\\"x\\":[1]}"}
            , 7, {"localId":"c",}, {"localId": "d", "localId": "e"}, {"localId":"f","lastSignedInAt":"12"}
            ], "nextPageToken": ["x"], "z": null }
            """
        let read = try await read(text, .json)
        #expect(read.error == nil, "\(String(describing: read.error))")
        #expect(read.ids == ["a", "b", nil, nil, nil, "f"])
        #expect(read.reasons.map { $0 == nil } == [true, true, false, false, false, true], "\(read.reasons)")
        #expect(read.rows.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(try read.rows[0].user.get().string("displayName") == "} ] \" \\")
        #expect(try read.rows[5].user.get().int64("lastLoginAt") == 12)
        for row in read.rows {
            let rest = try await self.read(text, .json, from: row.end, after: row.number)
            #expect(rest.error == nil && rest.ids == Array(read.ids.dropFirst(row.number)), "after \(row.number)")
            #expect(rest.rows.map(\.number) == read.rows.map(\.number).filter { $0 > row.number })
        }
        #expect(try await self.read(#"{"users":[]}"#, .json).rows.isEmpty)
    }

    @Test(
        "JSON that ends early, or is none, says where; what came before it is read",
        arguments: [
            ("", 0), ("[]", 0), ("{}", 0), (#"{"users":{}}"#, 0), (#"{"a":1}"#, 0), (#"{"users":["#, 0),
            (#"{"users":[{"localId":"a"}"#, 1), (#"{"users":[{"localId":"a"} {"localId":"b"}]}"#, 1),
            (#"{"users":[{"localId":"a"},{"loc"#, 1), (#"{"users":[{"localId":"a"},"#, 1),
            (#"{"users":[{"localId":"a"}]"#, 1),
            (#"{"users":[{"localId":"a"}]} x"#, 1), (#"{"users":[{"localId":"a"}],}"#, 1),
        ] as [(String, Int)]
    )
    func brokenJSON(_ text: String, _ rows: Int) async throws {
        let read = try await read(text, .json)
        #expect(read.error?.reason.contains("at byte ") == true, "\(text): \(String(describing: read.error))")
        #expect(read.rows.count == rows)
    }

    @Test("a row that is too long is refused alone")
    func long() async throws {
        let long = String(repeating: "x", count: 1 << 20)
        let json = try await read(#"{"users":[{"localId":"\#(long)"},{"localId":"b"}]}"#, .json)
        #expect(json.ids == [nil, "b"] && json.error == nil && json.reasons[0]?.contains("longer") == true)
        let csv = try await read("a,\(long),,,,,\nb,,,,,,\n", .csv)
        #expect(csv.ids == [nil, "b"] && csv.error == nil && csv.reasons[0]?.contains("longer") == true)
    }

    @Test("CSV: quotes as Firebase writes them, providers, empty columns")
    func csv() async throws {
        let ada =
            #"ada,ada@example.com,true,aGFzaA==,c2FsdA==,"Love"lace, A.",https://x/p,g1,g@example.com,"A, L",,,,,,,,,,42,,,,1476235905000,1476235906000,+15555550101,false,"{""admin"":true}","#
        let text = ada + "\r\nbob,,maybe,,,,\n\n\"c\nd\",,false,,,,\ne,f\ng,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"
        let read = try await read(text, .csv)
        #expect(read.error == nil)
        #expect(read.ids == ["ada", nil, "c\nd", nil, nil], "\(read.reasons)")
        #expect(read.reasons[1]?.contains("emailVerified") == true)
        let user = try read.rows[0].user.get()
        #expect(try user.string("displayName") == #"Love"lace, A."#)
        #expect(try user.bool("emailVerified") == true && user.bool("disabled") == false)
        #expect(try user.string("customAttributes") == #"{"admin":true}"#)
        #expect(try user.int64("createdAt") == 1_476_235_905_000)
        let linked = try user.objects("providerUserInfo")
        #expect(try linked.map { try $0.string("providerId") } == ["google.com", "github.com"])
        #expect(try linked.map { try $0.string("rawId") } == ["g1", "42"])
        #expect(try linked[0].string("displayName") == "A, L")
        for row in read.rows {
            let rest = try await self.read(text, .csv, from: row.end, after: row.number)
            #expect(rest.ids == Array(read.ids.dropFirst(row.number)), "after \(row.number)")
        }
        #expect(try await self.read("a,\"b", .csv).reasons == ["a quote is not closed"])
    }

    @Test("how passwords were hashed is read as Firebase's console shows it, and as uploads say it")
    func hashing() throws {
        let shown = """
            hash_config {
              algorithm: SCRYPT,
              base64_signer_key: \(ImportedHash.firebase.members["signerKey"]?.string ?? ""),
              base64_salt_separator: Bw==,
              rounds: 8,
              mem_cost: 14,
            }
            """
        let json = JSON.object(ImportedHash.firebase.members).text
        let read = try [shown, json].map { try PasswordHashing($0, file: "x") }
        #expect(read[0] == read[1] && read[0].key.count == 64)
        #expect(try PasswordHashing(read[0].text, file: "x") == read[0])
        #expect(!"\(read[0]) \(String(reflecting: read[0]))".contains("jxspr8"))
        for text in ["", "{}", "[]", "nonsense", #"{"hashAlgorithm":"ROT13"}"#, #"{"hashAlgorithm":"HMAC_SHA256"}"#] {
            #expect(throws: UserFileError.self) { try PasswordHashing(text, file: "x") }
        }
    }
}

/// A folder that is there, and gone afterwards.
func withUserFiles<R>(_ body: (String) async throws -> R) async throws -> R {
    try await withTemporaryFolder { folder in
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        return try await body(folder)
    }
}
