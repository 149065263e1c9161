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
        // By hand: empty columns are missing at the ends.
        let byHand = "bob,,maybe,,,,\n\n\"c\nd\",,false,,,,\ng,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\ne,f"
        let short = try await self.read(byHand, .csv)
        #expect(short.ids == [nil, "c\nd", nil], "\(short.reasons)")
        #expect(short.reasons[0]?.contains("emailVerified") == true)
        #expect(short.error?.reason.hasPrefix("row 4 has only 2 columns: ") == true)
        let empty = String(repeating: ",", count: 28)
        let text = [ada, "", "cd,,false,,,\"c\nd\"" + empty.dropFirst(5), "f" + empty].joined(separator: "\r\n")
        let read = try await read(text, .csv)
        #expect(read.error == nil)
        #expect(read.ids == ["ada", "cd", "f"], "\(read.reasons)")
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

    @Test("CSV: the 52 columns of today, the 28 of before, and what spreadsheets make of them")
    func columns() async throws {
        func row(_ count: Int, _ fields: [Int: String]) -> String {
            (0..<count).map { fields[$0] ?? "" }.joined(separator: ",")
        }
        let old = [0: "old", 2: "TRUE", 26: "False", 7: "g"]
        let new = old.merging([0: "new", 28: "apple", 29: "a@example.com", 48: "yahoo"]) { $1 }
        let header = "UID,Email,Email Verified,Password Hash,Password Salt,Display Name,Photo URL,Google ID"
        for mark in ["", "\u{feff}"] {
            for end in ["\n", "\r\n"] {
                let text = [
                    header, row(28, old), row(29, old), row(52, new), row(53, new), row(52, [0: "ab", 5: "\"a\nb\""]),
                ].joined(separator: end)
                let read = try await read(mark + text, .csv)
                #expect(
                    read.error == nil && read.ids == ["old", "old", "new", "new", "ab"],
                    "\(read)"
                )
                #expect(read.rows.map(\.number) == [1, 2, 3, 4, 5], "a header is no row")
                let users = try read.rows.map { try $0.user.get() }
                #expect(try users[0].bool("emailVerified") == true && users[0].bool("disabled") == false)
                let linked = try users.map { try $0.objects("providerUserInfo").map { try $0.string("providerId") } }
                #expect(linked[0] == ["google.com"] && linked[2] == ["google.com", "apple.com", "yahoo.com"])
                #expect(try users[2].objects("providerUserInfo")[1].string("email") == "a@example.com")
            }
        }
        let trimmed = try await read([row(26, [0: "short"]), row(40, new)].joined(separator: "\n"), .csv)
        #expect(trimmed.ids == ["short", "new"], "a spreadsheet leaves out columns that no row has")
        // A comma that nobody quoted moves the columns after it.
        for broken in [row(30, old), row(29, [0: "a", 28: "x"]), row(54, new), row(53, [0: "a", 52: "x"])] {
            #expect(try await read(broken, .csv).reasons.first??.contains("columns instead of 52") == true, "\(broken)")
        }
        let other = try await read("localId,name,email\na,Ada,a@example.com", .csv)
        #expect(other.rows.isEmpty && other.error?.reason.contains("column 2 is not Firebase's email") == true)
    }

    /// A row of firebase-tools before 15.23, quotes and line breaks as they are; or of a file of ours.
    private func row(
        _ id: String,
        _ name: String,
        _ count: Int,
        _ more: [Int: String] = [:],
        isOurs: Bool = false
    ) -> String {
        let fields = more.merging([0: isOurs ? "\"\(id)\"" : id, 1: "\(id)@example.com", 2: "true", 5: name]) { $1 }
        return (0..<count).map { fields[$0] ?? "" }.joined(separator: ",") + ",\n"
    }

    @Test(
        "CSV of firebase-tools before 15.23 (3484, 3085, 3347, 3881): where a name may have become a row, nothing more is read",
        arguments: [28, 52]
    )
    func unescaped(_ count: Int) async throws {
        for (sent, name) in [
            ("John \"Zed\"", "John \"Zed\""), ("Bob\"", "Bob\""), ("\"Smith, \"Bob\" Jr\"", "Smith, \"Bob\" Jr"),
            ("\"a\"\"b\"", "a\"b"), ("\"a\nb\"", "a\nb"), ("\"\"", ""), ("日本\"", "日本\""),
        ] {
            let read = try await read(row("a", sent, count) + row("b", "Ben", count), .csv)
            #expect(read.ids == ["a", "b"] && read.error == nil, "\(sent): \(read)")
            #expect(try read.rows[0].user.get().string("displayName") ?? "" == name)
        }
        let forged = row("victim", "x", count, [7: "google"])
        for broken in [
            row("a", "\"Bob\" Smith", count), row("a", "Foo\nBar", count),
            row("a", "\"Bob", count) + row("b", "x\"", count),
            row("a", "\"", count), row("a", "x\n\(forged)", count), row("a", "\"\n\(forged)\"", count),
            row("a", "x", count, [27: #"{"riskScore":100,"admin":true}"#]), "a,b\n", "a\n", "\"a\n", row("a", "x", 20),
        ] {
            let read = try await read(row("z", "Zoe", count) + broken + row("c", "Cid", count), .csv)
            #expect(read.ids == ["z"], "\(broken): \(read)")
            #expect(read.error?.reason.hasPrefix("row 2 ") == true, "\(broken): \(String(describing: read.error))")
        }
        // A comma alone moves columns of its own row, and breaks none.
        let moved = try await read(row("a", "x, y", count) + row("b", "Ben", count), .csv)
        #expect(moved.ids == [nil, "b"] && moved.error == nil, "\(moved)")
    }

    @Test("T-A16: CSV: a name in a file of ours makes no account and costs none, whatever it says")
    func names() async throws {
        let victim = row("victim", "x", 52, [7: "google"])
        let commas = String(repeating: ",", count: 46)
        for name in [
            "x\n" + victim, "\"\n" + victim, "x\",\n" + victim, commas + "\n" + victim, commas + "\"\n" + victim + "\"",
            "\r\n\r\n" + victim, String(repeating: "\n", count: 5_000) + victim,
            String(repeating: "\"\n", count: 2_048),
            "\"", "\",", "x,\ny", "\r", "",
        ] {
            let quoted = "\"" + name.replacing("\"", with: "\"\"") + "\""
            let text = row("a", quoted, 52, isOurs: true) + row("b", "Ben", 52, isOurs: true)
            let read = try await read(text, .csv)
            #expect(
                read.ids == ["a", "b"] && read.error == nil,
                "\(name.prefix(80)): \(read.ids) \(String(describing: read.error))"
            )
            let users = try read.rows.map { try $0.user.get() }
            #expect(try users.first?.string("displayName") ?? "" == name)
            for user in users { #expect(try user.objects("providerUserInfo").isEmpty) }
        }
    }

    @Test("a byte order mark is no part of a file, and UTF-16 is refused by name", arguments: UserFileFormat.allCases)
    func byteOrderMarks(_ format: UserFileFormat) async throws {
        let text = format == .json ? #"{"users":[{"localId":"a"}]}"# : "a,,,,,,"
        let read = try await read("\u{feff}" + text, format)
        #expect(read.error == nil && read.ids == ["a"])
        try await withUserFiles { folder in
            for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
                let file = "\(folder)/users.\(format.rawValue)"
                try #require(("\u{feff}" + text).data(using: encoding)).write(to: URL(filePath: file))
                let error = #expect(throws: UserFileError.self) { try format.reader(of: file) }
                #expect(error?.reason == "is UTF-16: save it as UTF-8")
            }
        }
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
        #expect(try PasswordHashing("\u{feff}" + json, file: "x") == read[0])
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
