import Crypto
import Foundation
import Passwords
import Secrets
import TestKit
import Testing

@Suite struct LeakedPasswordFilterTests {
    /// Makes a filter of a list in a folder of its own.
    private func filter(_ list: String, minimumCount: UInt64 = 1) throws -> LeakedPasswordFilter {
        try inFolder { folder in
            try list.write(toFile: folder + "/list", atomically: true, encoding: .utf8)
            let path = folder + "/filter"
            let count = try LeakedPasswordFilter.build(from: [folder + "/list"], minimumCount: minimumCount, at: path)
            let filter = try LeakedPasswordFilter(path: path)
            #expect(filter.count == count)
            return filter
        }
    }

    private func inFolder<R>(_ body: (String) throws -> R) throws -> R {
        let folder = FileManager.default.temporaryDirectory.appending(path: "identity-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(folder)
    }

    private func contains(_ password: String, _ filter: LeakedPasswordFilter) -> Bool {
        (try? filter.contains(Secret(password), share: "")) ?? false
    }

    private func line(_ password: String) -> String {
        Insecure.SHA1.hash(data: Array(password.utf8)).map { String(format: "%02X", $0) }.joined()
    }

    @Test("reads the published format: upper and lower case, with and without counts, either line end")
    func readsLists() throws {
        // The hashes of `password` and `123456` as Have I Been Pwned lists them.
        let list = """
            5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:52256179\r
            7c4a8d09ca3762af61e59520943dc26494f8941b
            \(line("rare")):3
            """
        let all = try filter(list)
        #expect(all.count == 3 && contains("password", all) && contains("123456", all) && contains("rare", all))
        #expect(!contains("correct horse battery staple", all))
        let some = try filter(list, minimumCount: 4)
        #expect(some.count == 1 && contains("password", some) && !contains("123456", some))
    }

    @Test("finds every password of its list, in two bytes each, and takes few others for leaked")
    func countsMistakes() throws {
        let (listed, others) = ((0..<20_000).map { "leaked \($0)" }, (0..<50_000).map { "other \($0)" })
        try inFolder { folder in
            try listed.map(line).joined(separator: "\n").write(
                toFile: folder + "/list",
                atomically: true,
                encoding: .utf8
            )
            _ = try LeakedPasswordFilter.build(from: [folder + "/list"], at: folder + "/filter")
            let size = try FileManager.default.attributesOfItem(atPath: folder + "/filter")[.size] as? Int
            #expect(try #require(size) <= 2 * listed.count + 64)
            let filter = try LeakedPasswordFilter(path: folder + "/filter")
            #expect(listed.allSatisfy { contains($0, filter) })
            let mistaken = others.count { contains($0, filter) }
            #expect(mistaken < others.count / 400, "\(mistaken) of \(others.count)")
        }
    }

    @Test("a file that gets shorter under a running node is an error, and not its end")
    func gotShorter() throws {
        try inFolder { folder in
            try line("password").write(toFile: folder + "/list", atomically: true, encoding: .utf8)
            _ = try LeakedPasswordFilter.build(from: [folder + "/list"], at: folder + "/filter")
            let filter = try LeakedPasswordFilter(path: folder + "/filter")
            let file = try #require(FileHandle(forWritingAtPath: folder + "/filter"))
            try file.truncate(atOffset: 64)
            #expect(throws: LeakedPasswordFilter.Unusable.cut) { try filter.contains(Secret("password"), share: "") }
            try file.truncate(atOffset: 0)
            #expect(throws: LeakedPasswordFilter.Unusable.cut) { try filter.contains(Secret("password"), share: "") }
        }
    }

    @Test("an empty list has no password") func isEmpty() throws {
        let none = try filter("")
        #expect(none.count == 0 && !contains("password", none))
    }

    @Test(
        "says in which line a list is wrong, and writes nothing",
        arguments: ["x", "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FDG", "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:", "é"]
    )
    func refusesLists(_ wrong: String) throws {
        try inFolder { folder in
            try (line("good") + "\n" + wrong).write(toFile: folder + "/list", atomically: true, encoding: .utf8)
            let error = #expect(throws: LeakedPasswordFilter.InvalidList.self) {
                try LeakedPasswordFilter.build(from: [folder + "/list"], at: folder + "/filter")
            }
            #expect(error?.line == 2)
            #expect(!FileManager.default.fileExists(atPath: folder + "/filter"))
        }
    }

    @Test("refuses a file that is missing, of another kind, or cut")
    func refusesFiles() throws {
        try inFolder { folder in
            func reason(_ content: Data?) throws -> LeakedPasswordFilter.Unusable? {
                let path = folder + "/\(UUID().uuidString)"
                if let content { try content.write(to: URL(fileURLWithPath: path)) }
                return #expect(throws: LeakedPasswordFilter.Unusable.self) { try LeakedPasswordFilter(path: path) }
            }
            try line("good").write(toFile: folder + "/list", atomically: true, encoding: .utf8)
            _ = try LeakedPasswordFilter.build(from: [folder + "/list"], at: folder + "/filter")
            let good = try Data(contentsOf: URL(fileURLWithPath: folder + "/filter"))
            #expect(try reason(nil) == .unreadable)
            #expect(try reason(Data("-----BEGIN".utf8)) == .foreign)
            #expect(try reason(Data()) == .foreign)
            #expect(try reason(good.dropLast()) == .cut)
            #expect(try reason(good + [0]) == .cut)
        }
    }
}
