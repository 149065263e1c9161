import Logging
import Passwords
import Secrets
import ServiceLifecycle
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct PasswordHasherTests {
    private let signerKey = [UInt8](repeating: 9, count: 64)
    private let password = Secret("correct horse")

    @Test func verifiesThePasswordThatWasHashedAndNoOther() async throws {
        let hasher = PasswordHasher(workers: 2, queueLimit: 8)
        let stored = try await hasher.hash(password, signerKey: signerKey)
        #expect(stored.parameters == .standard && stored.salt.count == 16 && stored.hash.count == 64)
        #expect(try await hasher.verify(password, against: stored, signerKey: signerKey))
        #expect(try await !hasher.verify(Secret("correct horsf"), against: stored, signerKey: signerKey))
        #expect(try await !hasher.verify(password, against: stored, signerKey: [UInt8](repeating: 8, count: 64)))
        #expect(try await !hasher.verify(password, against: nil, signerKey: signerKey))
        #expect(try await hasher.hash(password, signerKey: signerKey) != stored)  // another salt
        await hasher.shutdown()
    }

    @Test func hashesWithTheParametersThatItIsGivenAndVerifiesWithThoseOfTheHash() async throws {
        let hasher = PasswordHasher(workers: 1, queueLimit: 8)
        let cheap = try #require(ScryptParameters(rounds: 4, memoryCost: 12, saltSeparator: [7]))
        let stored = try await hasher.hash(password, parameters: cheap, signerKey: signerKey)
        #expect(stored.parameters == cheap)
        #expect(try await hasher.verify(password, against: stored, signerKey: signerKey))
        let mixed = PasswordHash(salt: stored.salt, hash: stored.hash, parameters: .standard)
        #expect(try await !hasher.verify(password, against: mixed, signerKey: signerKey))
        await hasher.shutdown()
    }

    @Test func comparesEveryByteOfTheHash() async throws {
        let hasher = PasswordHasher(workers: 1, queueLimit: 8) { password, _, _, _ in
            password + [UInt8](repeating: 0, count: 64 - password.count)
        }
        let stored = try await hasher.hash(password, signerKey: signerKey)
        #expect(try await hasher.verify(password, against: stored, signerKey: signerKey))
        for index in stored.hash.indices {
            var hash = stored.hash
            hash[index] ^= 0x80
            let other = PasswordHash(salt: stored.salt, hash: hash, parameters: .standard)
            #expect(try await !hasher.verify(password, against: other, signerKey: signerKey))
        }
        for hash in [[], Array(stored.hash.dropLast()), stored.hash + [0]] {
            let other = PasswordHash(salt: stored.salt, hash: hash, parameters: .standard)
            #expect(try await !hasher.verify(password, against: other, signerKey: signerKey))
        }
        await hasher.shutdown()
    }

    @Test("T-E1: an account without a password costs the same work as a wrong password", arguments: [12, 14])
    func nobodyCostsTheSame(memoryCost: Int) async throws {
        let parameters = try #require(ScryptParameters(rounds: 8, memoryCost: memoryCost, saltSeparator: [7]))
        let calls = Mutex<[Call]>([])
        let hasher = PasswordHasher(workers: 1, queueLimit: 8) { password, salt, parameters, signerKey in
            calls.withLock { $0.append(Call(password, salt.count, parameters, signerKey)) }
            return [UInt8](repeating: 0, count: 64)
        }
        let stored = PasswordHash(
            salt: [UInt8](repeating: 1, count: 16),
            hash: [UInt8](repeating: 1, count: 64),
            parameters: parameters
        )
        #expect(try await !hasher.verify(password, against: stored, parameters: parameters, signerKey: signerKey))
        // This function even gives the hash that stands in for none.
        #expect(try await !hasher.verify(password, against: nil, parameters: parameters, signerKey: signerKey))
        let made = calls.withLock { $0 }
        #expect(made.count == 2)
        #expect(made.first == made.last)
        await hasher.shutdown()
    }

    @Test(
        "T-E1: a wrong password of a hash with an earlier, lower cost costs as much as an unknown address",
        arguments: [(8, 12), (8, 13), (3, 14), (5, 11), (8, 14), (1, 1)]
    )
    func earlierCost(_ rounds: Int, _ memoryCost: Int) async throws {
        let earlier = try #require(ScryptParameters(rounds: rounds, memoryCost: memoryCost, saltSeparator: [1]))
        let work = Mutex(0)
        let hasher = PasswordHasher(workers: 1, queueLimit: 8) { _, _, parameters, _ in
            work.withLock { $0 += parameters.rounds << parameters.memoryCost }
            return [UInt8](repeating: 0, count: 64)
        }
        let stored = PasswordHash(
            salt: [UInt8](repeating: 1, count: 16),
            hash: [UInt8](repeating: 1, count: 64),
            parameters: earlier
        )
        #expect(try await !hasher.verify(password, against: stored, parameters: .standard, signerKey: signerKey))
        #expect(work.withLock { $0 } == 8 << 14)
        await hasher.shutdown()
    }

    private struct Call: Equatable {
        let password: [UInt8]
        let saltCount: Int
        let parameters: ScryptParameters
        let signerKey: [UInt8]

        init(_ password: [UInt8], _ saltCount: Int, _ parameters: ScryptParameters, _ signerKey: [UInt8]) {
            self.password = password
            self.saltCount = saltCount
            self.parameters = parameters
            self.signerKey = signerKey
        }
    }

    @Test("T-E9: a full queue answers at once, while all workers are busy")
    func fullQueue() async throws {
        let gate = Gate()
        let hasher = PasswordHasher(workers: 2, queueLimit: 3) { _, _, _, _ in
            gate.wait()
            return [UInt8](repeating: 0, count: 64)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask { _ = try await hasher.hash(password, signerKey: signerKey) }
            }
            while !Task.isCancelled, hasher.load < 5 { await Task.yield() }
            let refused = Counter()
            for _ in 0..<3 {
                group.addTask {
                    do throws(PasswordError) {
                        _ = try await hasher.verify(password, against: nil, signerKey: signerKey)
                    } catch .overloaded {
                        refused.increment()
                    }
                }
            }
            while !Task.isCancelled, refused.value < 3, hasher.load == 5 { await Task.yield() }
            #expect(refused.value == 3)
            #expect(gate.entered <= 2)
            gate.open()
            try await group.waitForAll()
        }
        #expect(hasher.load == 0)
        _ = try await hasher.hash(password, signerKey: signerKey)  // there is room again
        await hasher.shutdown()
    }

    @Test(
        """
        T-E35: a project, or a network in all projects, has a quarter of the places, a network in one project a quarter of
        that, and each runs after another's that waits
        """,
        arguments: [
            Flood(of: ["flooded"], network: nil, places: 16, other: HashShare(project: "other"), latest: 1),
            Flood(
                of: ["one", "two", "three", "four"],
                network: "198.18.0.1",
                places: 16,
                other: HashShare(project: "one", network: "198.18.0.2"),
                latest: 13
            ),
            Flood(
                of: ["one"],
                network: "198.18.0.1",
                places: 4,
                other: HashShare(project: "one", network: "198.18.0.2"),
                latest: 1
            ),
        ]
    )
    func shares(_ flood: Flood) async throws {
        let gate = Gate()
        let order = Order()
        let hasher = PasswordHasher(workers: 1, queueLimit: 63) { password, _, _, _ in
            gate.wait()
            order.append(String(decoding: password, as: UTF8.self))
            return [UInt8](repeating: 0, count: 64)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<flood.places {
                group.addTask {
                    let share = flood.shares[number % flood.shares.count]
                    _ = try await hasher.hash(Secret("flood"), signerKey: signerKey, for: share)
                }
                while !Task.isCancelled, hasher.load < number + 1 { await Task.yield() }
            }
            await #expect(throws: PasswordError.overloaded) {
                try await hasher.hash(Secret("flood"), signerKey: signerKey, for: flood.shares[0])
            }
            group.addTask { _ = try await hasher.hash(Secret("other"), signerKey: signerKey, for: flood.other) }
            while !Task.isCancelled, hasher.load < flood.places + 1 { await Task.yield() }
            while !Task.isCancelled, gate.entered < 1 { await Task.yield() }
            gate.open()
            try await group.waitForAll()
        }
        // The first ran already when the other one came; then each project has its turn.
        #expect(order.values.firstIndex(of: "other") ?? .max <= flood.latest, "\(order.values)")
        await hasher.shutdown()
    }

    /// Hashes that fill the places of a network or project.
    struct Flood: Sendable {
        let shares: [HashShare]
        let places: Int
        let other: HashShare
        /// How many run before the other one, at most.
        let latest: Int

        init(of projects: [String], network: String?, places: Int, other: HashShare, latest: Int) {
            shares = projects.map { HashShare(project: $0, network: network) }
            (self.places, self.other, self.latest) = (places, other, latest)
        }
    }

    private final class Order: Sendable {
        private let list = Mutex<[String]>([])

        var values: [String] { list.withLock { $0 } }
        func append(_ value: String) { list.withLock { $0.append(value) } }
    }

    @Test func aFailureMakesRoomAgain() async throws {
        let hasher = PasswordHasher(workers: 1, queueLimit: 0)
        for _ in 0..<3 {
            await #expect(throws: PasswordError.hashingFailed) { try await hasher.hash(password, signerKey: []) }
        }
        #expect(hasher.load == 0)
        await hasher.shutdown()
    }

    @Test func whoeverGaveUpWaitingIsNotWorkedFor() async throws {
        let gate = Gate()
        let hasher = PasswordHasher(workers: 1, queueLimit: 3) { _, _, _, _ in
            gate.wait()
            return [UInt8](repeating: 0, count: 64)
        }
        async let first = hasher.hash(password, signerKey: signerKey)
        while !Task.isCancelled, gate.entered < 1 { await Task.yield() }
        let outcome = try await withThrowingTaskGroup(of: PasswordError?.self) { group in
            group.addTask {
                do throws(PasswordError) {
                    _ = try await hasher.hash(password, signerKey: signerKey)
                    return nil
                } catch {
                    return error
                }
            }
            while !Task.isCancelled, hasher.load < 2 { await Task.yield() }
            group.cancelAll()
            gate.open()
            return try await group.next()
        }
        #expect(outcome == .cancelled)
        _ = try await first
        #expect(gate.entered == 1)
        await hasher.shutdown()
    }

    @Test func stopsWithItsServiceGroup() async throws {
        let hasher = PasswordHasher(workers: 1, queueLimit: 1)
        let group = ServiceGroup(services: [hasher], logger: Logger(label: "test"))
        async let running: Void = group.run()
        _ = try await hasher.hash(password, signerKey: signerKey)
        await group.triggerGracefulShutdown()
        try await running
        await #expect(throws: PasswordError.stopped) { try await hasher.hash(password, signerKey: signerKey) }
        #expect(hasher.load == 0)
    }

    @Test func printsNothingOfAHash() {
        let hash = PasswordHash(salt: [201, 202], hash: [203, 204], parameters: .standard)
        var dumped = ""
        dump(hash, to: &dumped)
        for text in ["\(hash)", String(reflecting: hash), "\([hash])", dumped] { #expect(!text.contains("20")) }
    }
}
