import Foundation
import TestKit
import Testing

/// Feeds a parser with its corpus, and then with mutations of it.
///
/// A fixed number of inputs, the same each time; with `FUZZ_SECONDS` (`make fuzz`) others each time, for so long. An input
/// that breaks a rule is saved to the corpus. So is one that ends the process: it waits in `.build/fuzz` for the next run.
struct Fuzzer {
    /// Also of the file with the corpus.
    let name: String
    /// What mutations are made of besides bytes: what means something to the parser.
    var words: [String] = []
    var rounds = 4000
    var maximumLength = 4096

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    private static let seconds = ProcessInfo.processInfo.environment["FUZZ_SECONDS"].flatMap { Double($0) }

    /// - Parameter accepts: whether the parser took the input.
    ///   Throws ``Broken`` for what it must not have made of it.
    func run(_ accepts: ([UInt8]) async throws -> Bool) async throws {
        let corpus = Corpus(file: Self.root.appending(path: "Corpus/\(name).txt"))
        let last = try LastInput(named: name)
        if let input = last.ofDeadRun {
            try corpus.save(input)
            Issue.record("\(name): the last run died of \(Corpus.line(input)), which is in the corpus now")
        }
        var pool = try corpus.inputs()
        try #require(!pool.isEmpty, "\(name) has no corpus")
        let saved = pool.count
        var random = SplitMix(seed: Self.seconds == nil ? 7 : UInt64.random(in: 0 ... .max))
        let end = Self.seconds.map { ContinuousClock.now + .seconds($0) }
        var accepted = 0
        var broken = 0
        var round = 0
        while broken < 5, round < saved || (end.map { ContinuousClock.now < $0 } ?? (round < saved + rounds)) {
            // What was saved once, first.
            let input = round < saved ? pool[round] : random.mutation(of: pool, words, upTo: maximumLength)
            round += 1
            try last.write(input)
            do {
                guard try await accepts(input) else { continue }
                accepted += 1
                // What a parser takes leads to more of its kind.
                if round > saved, pool.count < saved + 500 { pool.append(input) }
            } catch {
                broken += 1
                try corpus.save(input)
                Issue.record("\(name): \(error), of \(Corpus.line(input)), which is in the corpus now")
            }
        }
        last.forget()
        #expect(accepted > saved / 4, "\(name): nearly everything is refused, which tests little")
        if Self.seconds != nil { print("\(name): \(round) inputs, \(accepted) of them taken, \(broken) broken") }
    }
}

/// A rule that an input broke.
struct Broken: Error, CustomStringConvertible {
    let description: String
}

func hold(_ rule: Bool, _ description: @autoclosure () -> String) throws {
    if !rule { throw Broken(description: description()) }
}

/// Inputs, one a line; `%XX` stands for a byte that is no visible ASCII.
private struct Corpus {
    let file: URL

    func inputs() throws -> [[UInt8]] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            var bytes: [UInt8] = []
            var rest = line.utf8[...]
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), let escaped = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
                    bytes.append(escaped)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return bytes
        }
    }

    func save(_ input: [UInt8]) throws {
        guard try !inputs().contains(input) else { return }
        var text = try String(contentsOf: file, encoding: .utf8)
        text += Self.line(input) + "\n"
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    static func line(_ input: [UInt8]) -> String {
        input.map { byte in
            let isVisible = (0x21..<0x7f).contains(byte) && byte != UInt8(ascii: "%")
            let digits = String(byte, radix: 16, uppercase: true)
            return isVisible ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }
}

/// The input under way, in a file that outlives the process.
private struct LastInput {
    /// The one that ended an earlier run.
    let ofDeadRun: [UInt8]?
    private let url: URL
    private let file: FileHandle

    init(named name: String) throws {
        let folder = URL(filePath: FileManager.default.currentDirectoryPath).appending(path: ".build/fuzz")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: name)
        ofDeadRun = (try? Data(contentsOf: url)).map { [UInt8]($0) }
        try Data().write(to: url)
        file = try FileHandle(forWritingTo: url)
    }

    func write(_ input: [UInt8]) throws {
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(input))
    }

    func forget() {
        try? file.close()
        try? FileManager.default.removeItem(at: url)
    }
}
