import Secrets
import Testing

@Suite struct KeyRingTests {
    private static func key(_ id: String, _ byte: UInt8) throws -> KeyRing.Key {
        try KeyRing.Key(id: id, bytes: [UInt8](repeating: byte, count: 32))
    }

    private let message = Array("a provider's refresh token".utf8)

    @Test func opensWhatItSealed() throws {
        let ring = try KeyRing(keys: [Self.key("2026", 1)])
        #expect(try ring.open(ring.seal(message, for: "t/1"), for: "t/1") == message)
        #expect(try ring.open(ring.seal([], for: "t/1"), for: "t/1") == [])
        #expect(try ring.openSecret(ring.seal(Secret("s€cret"), for: "t/1"), for: "t/1").reveal() == "s€cret")
    }

    @Test func sealsDifferentlyEachTimeAndHidesTheText() throws {
        let ring = try KeyRing(keys: [Self.key("2026", 1)])
        let first = try ring.seal(message, for: "t/1")
        #expect(try ring.seal(message, for: "t/1") != first)
        #expect(first.count == 2 + 4 + 12 + message.count + 16)
        #expect(!first.indices.contains { first[$0...].starts(with: message.prefix(4)) })
    }

    @Test func printsNothingOfItsKeys() throws {
        func printed(_ byte: UInt8) throws -> String {
            let ring = try KeyRing(keys: [Self.key("2026", byte)])
            var text = "\(ring) \(String(reflecting: ring))"
            dump(ring, to: &text)
            return text
        }
        #expect(try printed(1) == printed(2))
        #expect(try printed(1).contains("2026"))
    }

    @Test func refusesAnyByteThatWasTamperedWith() throws {
        let ring = try KeyRing(keys: [Self.key("2026", 1), Self.key("2027", 2)])
        let sealed = try ring.seal(message, for: "t/1")
        for index in sealed.indices {
            for bit in 0..<8 {
                var tampered = sealed
                tampered[index] ^= 1 << bit
                #expect(throws: KeyRingError.self) { try ring.open(tampered, for: "t/1") }
            }
        }
        for count in sealed.indices {
            #expect(throws: KeyRingError.self) { try ring.open(Array(sealed.prefix(count)), for: "t/1") }
        }
        #expect(throws: KeyRingError.self) { try ring.open(sealed + [0], for: "t/1") }
    }

    @Test(arguments: ["t/2", "", "t/1 ", "u/1"])
    func refusesAValueFromAnotherPlace(_ place: String) throws {
        let ring = try KeyRing(keys: [Self.key("2026", 1)])
        let sealed = try ring.seal(message, for: "t/1")
        #expect(throws: KeyRingError.cannotOpen) { try ring.open(sealed, for: place) }
    }

    @Test func namesTheKeyThatItLacks() throws {
        let sealed = try KeyRing(keys: [Self.key("2026", 1)]).seal(message, for: "t/1")
        let other = try KeyRing(keys: [Self.key("2027", 1)])
        #expect(throws: KeyRingError.unknownKey("2026")) { try other.open(sealed, for: "t/1") }
    }

    @Test func refusesAnotherKeyOfTheSameName() throws {
        let sealed = try KeyRing(keys: [Self.key("2026", 1)]).seal(message, for: "t/1")
        let other = try KeyRing(keys: [Self.key("2026", 2)])
        #expect(throws: KeyRingError.cannotOpen) { try other.open(sealed, for: "t/1") }
    }

    @Test func aNewKeyInFrontSealsWhileOldValuesStillOpen() throws {
        let old = try Self.key("2026", 1)
        let new = try Self.key("2027", 2)
        let before = try KeyRing(keys: [old]).seal(message, for: "t/1")
        let ring = try KeyRing(keys: [new, old])
        #expect(try ring.open(before, for: "t/1") == message)
        let after = try ring.seal(message, for: "t/1")
        #expect(try KeyRing(keys: [new]).open(after, for: "t/1") == message)
        #expect(throws: KeyRingError.unknownKey("2027")) { try KeyRing(keys: [old]).open(after, for: "t/1") }
    }

    @Test func refusesBadKeys() throws {
        #expect(throws: KeyRingError.self) { try KeyRing(keys: []) }
        #expect(throws: KeyRingError.self) { try KeyRing(keys: [Self.key("a", 1), Self.key("a", 2)]) }
        for id in ["", "with space", "ümlaut", String(repeating: "x", count: 65)] {
            #expect(throws: KeyRingError.self) { try Self.key(id, 1) }
        }
        for count in [0, 16, 31, 33] {
            #expect(throws: KeyRingError.self) { try KeyRing.Key(id: "a", bytes: [UInt8](repeating: 1, count: count)) }
        }
        #expect(throws: Never.self) { try Self.key(String(repeating: "x", count: 64), 1) }
    }
}
