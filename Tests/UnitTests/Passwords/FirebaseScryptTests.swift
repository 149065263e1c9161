import Foundation
import Passwords
import Testing

/// The sample of github.com/firebase/scrypt.
@Suite struct FirebaseScryptTests {
    private let salt: [UInt8]
    private let signerKey: [UInt8]
    private let expected: [UInt8]

    init() throws {
        func bytes(_ base64: String) throws -> [UInt8] { [UInt8](try #require(Data(base64Encoded: base64))) }
        salt = try bytes("42xEC+ixf3L2lw==")
        signerKey = try bytes(
            "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
        )
        expected = try bytes("lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==")
    }

    private func hash(
        _ password: String = "user1password",
        salt: [UInt8]? = nil,
        parameters: ScryptParameters = .standard,
        signerKey: [UInt8]? = nil
    ) throws -> [UInt8] {
        try FirebaseScrypt.hash(
            Array(password.utf8),
            salt: salt ?? self.salt,
            parameters: parameters,
            signerKey: signerKey ?? self.signerKey
        )
    }

    @Test func givesThePublishedHash() throws {
        #expect(try hash() == expected)
        let parameters = try #require(ScryptParameters(rounds: 8, memoryCost: 14, saltSeparator: [7]))
        #expect(parameters == .standard)
    }

    @Test func everyInputMatters() throws {
        var otherKey = signerKey
        otherKey[63] ^= 1
        let parameters = [(7, 14, [7]), (8, 13, [7]), (8, 14, [8]), (8, 14, [])] as [(Int, Int, [UInt8])]
        let others =
            try [hash("user1passwore"), hash("user1password "), hash(salt: salt + [0]), hash(signerKey: otherKey)]
            + parameters.map {
                try hash(
                    parameters: #require(ScryptParameters(rounds: $0.0, memoryCost: $0.1, saltSeparator: $0.2))
                )
            }
        for other in others { #expect(other != expected) }
        #expect(Set(others).count == others.count)
    }

    @Test func takesAnyText() throws {
        let cheap = try #require(ScryptParameters(rounds: 1, memoryCost: 1, saltSeparator: []))
        let passwords = ["", "пароль", "🔑🔑🔑", "nul\0inside", "nul", String(repeating: "x", count: 4096)]
        let hashes = try passwords.map { try hash($0, parameters: cheap) }
        #expect(hashes.allSatisfy { $0.count == 64 })
        #expect(Set(hashes).count == passwords.count)
    }

    @Test(arguments: [0, 1, 32, 63, 65]) func refusesASignerKeyOfAnotherLength(_ count: Int) {
        #expect(throws: PasswordError.hashingFailed) { try hash(signerKey: [UInt8](repeating: 1, count: count)) }
    }

    @Test func parametersHaveLimits() {
        for (rounds, memoryCost, separator) in [(0, 14, 1), (9, 14, 1), (8, 0, 1), (8, 15, 1), (8, 63, 1), (8, 14, 65)]
        {
            let separator = [UInt8](repeating: 7, count: separator)
            #expect(ScryptParameters(rounds: rounds, memoryCost: memoryCost, saltSeparator: separator) == nil)
        }
        #expect(ScryptParameters(rounds: 1, memoryCost: 1, saltSeparator: []) != nil)
    }
}
