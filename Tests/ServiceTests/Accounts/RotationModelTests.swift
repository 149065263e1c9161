import Domain
import Projects
import Storage
import Testing
import TestKit

/// Random uses of refresh tokens, many sessions at once over two nodes, held against a model that knows the rule alone:
/// a token is good until its successor is used, and for 60 seconds after that; its use later ends the session.
@Suite("Rotation of refresh tokens, against a model", .database)
struct RotationModelTests {
    private struct Model {
        /// The token of each generation.
        var tokens: [String]
        /// When each generation was first used.
        var firstUses: [Double] = []
        var isEnded = false

        var current: Int { tokens.count - 1 }

        enum Answer: Equatable {
            case successor(of: Int)
            case refused(String)
        }

        /// - Parameter time: in seconds.
        mutating func use(_ generation: Int, at time: Double) -> Answer {
            if isEnded { return .refused("TOKEN_EXPIRED") }
            if generation == current { firstUses.append(time) }
            guard firstUses.indices.contains(generation + 1), time >= firstUses[generation + 1] + 60 else {
                return .successor(of: generation)
            }
            isEnded = true
            return .refused("TOKEN_EXPIRED")
        }
    }

    private struct Move: Sendable {
        var session: Int
        var generation: Int?
        var token: String
        /// How many ask the same at once.
        var times: Int
    }

    @Test(
        "T-D3, T-D5: thousands of uses, in batches of every size and without, are answered as one by one",
        arguments: [(1, true), (2, false)]
    )
    func isAnsweredAsTheModel(seed: UInt64, batches: Bool) async throws {
        var options = RotationTests.options()
        options.batches = batches
        try await TestService.runPair(options) { first, second in
            var random = SplitMix(seed: seed)
            var models: [Model] = []
            for _ in 0..<64 {
                models.append(Model(tokens: [try #require(try await first.call("accounts:signUp").refreshToken)]))
            }
            var asked = 0
            for _ in 0..<60 {
                first.clock.advance(by: [0, 0, 1, 20, 59, 60, 3_000].randomElement(using: &random) ?? 0)
                let time = Double(first.clock.seconds)
                let sessions = (0..<models.count).shuffled(using: &random)
                    .prefix(Int.random(in: 1...64, using: &random))
                let moves = sessions.map { session in
                    let known = models[session].tokens
                    // Mostly the newest; else one of those before, an early one, or one that never was.
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0:
                        return Move(session: session, generation: nil, token: forged(known[0]), times: 1)
                    case 1...3:
                        let generation = Int.random(in: max(0, known.count - 5)..<known.count, using: &random)
                        return Move(session: session, generation: generation, token: known[generation], times: 1)
                    default:
                        let times = Int.random(in: 1...3, using: &random)
                        return Move(
                            session: session,
                            generation: known.count - 1,
                            token: known[known.count - 1],
                            times: times
                        )
                    }
                }
                let replies = try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
                    for (number, move) in moves.enumerated() {
                        for copy in 0..<move.times {
                            let node = copy.isMultiple(of: 2) ? first : second
                            group.addTask { (number, try await node.refresh(move.token)) }
                        }
                    }
                    return try await group.reduce(into: [(Int, Reply)]()) { $0.append($1) }
                }
                asked += replies.count
                for (number, move) in moves.enumerated() {
                    let got = replies.filter { $0.0 == number }.map(\.1)
                    guard let generation = move.generation else {
                        #expect(got.allSatisfy { $0.error == "INVALID_REFRESH_TOKEN" }, "\(got)")
                        continue
                    }
                    for _ in 0..<move.times {
                        switch models[move.session].use(generation, at: time) {
                        case .refused(let error):
                            #expect(got.allSatisfy { $0.error == error }, "\(got) \(models[move.session])")
                        case .successor(let generation):
                            let token = try #require(got.first?.refreshToken, "\(got) \(models[move.session])")
                            #expect(got.allSatisfy { $0.refreshToken == token }, "an identical successor")
                            if models[move.session].tokens.count == generation + 1 {
                                models[move.session].tokens.append(token)
                            }
                            #expect(models[move.session].tokens[generation + 1] == token)
                        }
                    }
                }
            }
            #expect(asked > 1_000)
        }
    }

    /// A token of the same session with a secret that nobody ever had.
    private func forged(_ token: String) -> String {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        var text = Array(token)
        // A place in the middle of the secret: the token stays canonical.
        let place = text.count - 20
        text[place] = letters.first { $0 != text[place] && $0.isLetter } ?? "A"
        return String(text)
    }
}
