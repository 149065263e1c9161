import Foundation
import Passwords
import Secrets
import Synchronization
import SystemCrypto
import Testing

/// Hashes that come from elsewhere, by the test vectors of whoever published the algorithms.
@Suite("Imported password hashes")
struct ImportedPasswordTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var algorithm: PasswordAlgorithm
        var key: [UInt8] = []
        var password: [UInt8]
        var salt: [UInt8] = []
        var hash: [UInt8]

        /// - Parameter hash: hexadecimal.
        init(
            _ name: String,
            _ algorithm: PasswordAlgorithm,
            key: [UInt8] = [],
            _ password: String,
            _ salt: String,
            _ hash: String
        ) {
            self.name = name
            self.algorithm = algorithm
            self.key = key
            self.password = Array(password.utf8)
            self.salt = Array(salt.utf8)
            self.hash = bytes(hash)
        }

        /// A hash as bcrypt writes it.
        init(bcrypt hash: String, _ password: [UInt8]) {
            name = "bcrypt \(hash)"
            algorithm = .bcrypt
            self.password = password
            self.hash = Array(hash.utf8)
        }

        var testDescription: String { name }
        var configuration: PasswordConfiguration {
            get throws { try PasswordConfiguration(algorithm, key: key, signerKey: [1]) }
        }
    }

    private static let long = ("passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt")

    static let cases: [Case] = scrypts + pbkdf2 + argon2 + bcrypt + digests + hmacs

    /// RFC 7914 §12; Firebase's of the integration tests of its Admin SDKs.
    private static let scrypts: [Case] = [
        Case(
            "RFC 7914, no password",
            .scrypt(parameters: StandardScryptParameters(cost: 16, blockSize: 1, parallelization: 1, length: 64)),
            "",
            "",
            """
            77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d\
            3628cf35e20c38d18906
            """
        ),
        Case(
            "RFC 7914, 1024, 8, 16",
            .scrypt(parameters: StandardScryptParameters(cost: 1024, blockSize: 8, parallelization: 16, length: 64)),
            "password",
            "NaCl",
            """
            fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83\
            ee6d8360cbdfa2cc0640
            """
        ),
        Case(
            "RFC 7914, 16384, 8, 1",
            .scrypt(parameters: StandardScryptParameters(cost: 16384, blockSize: 8, parallelization: 1, length: 64)),
            "pleaseletmein",
            "SodiumChloride",
            """
            7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d65\
            1e40dfcf017b45575887
            """
        ),
        Case(
            "Firebase's",
            .firebaseScrypt(parameters: .standard),
            key: base64("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="),
            "password",
            "NaCl",
            base64("V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==")
                .lowercaseHex
        ),
    ]

    /// RFC 6070; RFC 7914 §11; those for SHA-512 are OpenSSL's.
    private static let pbkdf2: [Case] = [
        sha1(1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"), sha1(2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
        sha1(0, "0c60c80f961f0e71f3a9b524af6012062fe037a6"), sha1(4096, "4b007901b765489abead49d926f721d065a429c1"),
        Case(
            "RFC 6070, long",
            .pbkdf2(digest: .sha1, rounds: 4096),
            long.0,
            long.1,
            "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
        ),
        Case(
            "RFC 6070, NUL",
            .pbkdf2(digest: .sha1, rounds: 4096),
            "pass\0word",
            "sa\0lt",
            "56fa6aa75548099dcc37d7f03425e0c3"
        ),
        Case(
            "RFC 7914, SHA-256, 1",
            .pbkdf2(digest: .sha256, rounds: 1),
            "passwd",
            "salt",
            """
            55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e3\
            0bd509112041d3a19783
            """
        ),
        Case(
            "RFC 7914, SHA-256, 80000",
            .pbkdf2(digest: .sha256, rounds: 80_000),
            "Password",
            "NaCl",
            """
            4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1\
            d078478f62b397f33c8d
            """
        ),
        Case(
            "SHA-512, 4096",
            .pbkdf2(digest: .sha512, rounds: 4096),
            "password",
            "salt",
            """
            d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5143f30602641b3d55cd335988cb36b84376060ecd532\
            e039b742a239434af2d5
            """
        ),
    ]

    private static func sha1(_ rounds: Int, _ hash: String) -> Case {
        Case("RFC 6070, \(rounds)", .pbkdf2(digest: .sha1, rounds: rounds), "password", "salt", hash)
    }

    /// Of the reference implementation, `test.c`.
    private static let argon2: [Case] = [
        argon(.i, .v10, lanes: 1, "fd4dd83d762c49bdeaf57c47bdcd0c2f1babf863fdeb490df63ede9975fccf06"),
        argon(.i, .v13, lanes: 1, "89e9029f4637b295beb027056a7336c414fadd43f6b208645281cb214a56452f"),
        argon(.id, .v13, lanes: 1, "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
        argon(.id, .v13, lanes: 2, "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037"),
    ]

    private static func argon(_ variant: Argon2.Variant, _ version: Argon2.Version, lanes: Int, _ hash: String) -> Case
    {
        let parameters = Argon2(variant, version: version, memory: 256, iterations: 2, lanes: lanes, length: 32)
        return Case(
            "Argon2\(variant) \(version), \(lanes) lanes",
            .argon2(parameters: parameters),
            "password",
            "somesalt",
            hash
        )
    }

    /// Of crypt_blowfish, `wrapper.c`.
    private static let bcrypt: [Case] = [
        Case(bcrypt: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", Array("U*U".utf8)),
        Case(bcrypt: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", Array("U*U*".utf8)),
        Case(bcrypt: "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a", Array("U*U*U".utf8)),
        Case(bcrypt: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy", []),
        Case(bcrypt: "$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e", [0xff, 0xff, 0xa3]),
        Case(
            bcrypt: "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui",
            Array(
                """
                0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored
                """.utf8
            )
        ),
    ]

    /// RFC 1321, FIPS 180-4; either order of "a" and "bc" is read once as "abc".
    ///
    /// MD5 also as Firebase takes it, in hexadecimal.
    private static let digests: [Case] =
        [
            (.md5, 0, "900150983cd24fb0d6963f7d28e17f72"), (.md5, 1, "900150983cd24fb0d6963f7d28e17f72"),
            (.md5, 0, Array("900150983cd24fb0d6963f7d28e17f72".utf8).lowercaseHex),
            (.md5, 0, Array("900150983CD24FB0D6963F7D28E17F72".utf8).lowercaseHex),
            (.sha1, 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha256, 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha256, 3, "f2a778f1a6ed3d5bc59a5d79104c598f3f07093f240ca4e91333fb09ed4f36da"),
            (
                .sha512, 1,
                """
                ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423\
                643ce80e2a9ac94fa54ca49f
                """
            ),
        ].flatMap { (digest: PasswordAlgorithm.Digest, rounds: Int, hash: String) in
            [
                Case(
                    "\(digest), \(rounds), salt first",
                    .digest(digest, rounds: rounds, order: .saltAndPassword),
                    "bc",
                    "a",
                    hash
                ),
                Case(
                    "\(digest), \(rounds), password first",
                    .digest(digest, rounds: rounds, order: .passwordAndSalt),
                    "ab",
                    "c",
                    hash
                ),
            ]
        }

    /// RFC 2202 and RFC 4231, their second cases: the text is password and salt.
    private static let hmacs: [Case] = [
        (.md5, "750c783e6ab0b503eaa86e310a5db738"), (.sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            .sha512,
            """
            164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a\
            6b4b636e070a38bce737
            """
        ),
    ].flatMap { (digest: PasswordAlgorithm.Digest, hash: String) in
        let key = Array("Jefe".utf8)
        return [
            Case(
                "HMAC \(digest), password first",
                .hmac(digest, order: .passwordAndSalt),
                key: key,
                "what do ya want",
                " for nothing?",
                hash
            ),
            Case(
                "HMAC \(digest), salt first",
                .hmac(digest, order: .saltAndPassword),
                key: key,
                " for nothing?",
                "what do ya want",
                hash
            ),
        ]
    }

    @Test("match the password that was hashed, and no other hash of it does", arguments: cases)
    func matches(_ each: Case) throws {
        let configuration = try each.configuration
        #expect(configuration.fits(hash: each.hash, salt: each.salt))
        #expect(try configuration.matches(each.password, hash: each.hash, salt: each.salt))
        #expect(try !configuration.matches([0x78] + each.password, hash: each.hash, salt: each.salt))
        for index in [each.hash.count - 31, each.hash.count - 1].map({ max(0, $0) }) {
            var other = each.hash
            other[index] = other[index] == 0x31 ? 0x32 : 0x31
            if other[index] == each.hash[index] { continue }
            #expect(try !configuration.matches(each.password, hash: other, salt: each.salt), "\(index)")
        }
        for other in [[], Array(each.hash.dropLast()), each.hash + [0]] {
            // What PBKDF2 makes is cut to the length that is asked for.
            if case .pbkdf2 = each.algorithm, other.count == each.hash.count - 1 { continue }
            #expect(try !configuration.matches(each.password, hash: other, salt: each.salt))
        }
        if each.algorithm != .bcrypt {
            #expect(try !configuration.matches(each.password, hash: each.hash, salt: each.salt + [0x79]))
        }
    }

    @Test("a password with NUL inside is no password of bcrypt, where C would end it")
    func bcryptAndNUL() throws {
        let each = Self.bcrypt[0]
        #expect(try !each.configuration.matches(each.password + [0], hash: each.hash, salt: []))
    }

    @Test(
        "only bcrypt hashes reach libcrypt, which knows other algorithms",
        arguments: [
            "$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/", "$6$rounds=1000$salt$", "ab01FAX.bQRSU", "",
            "$2x$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e",
            "$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2a$5$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeWxx",
            "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe:",
        ]
    )
    func onlyBcrypt(_ hash: String) throws {
        let configuration = try PasswordConfiguration(.bcrypt, signerKey: [1])
        #expect(!configuration.fits(hash: Array(hash.utf8), salt: []))
        #expect(try !configuration.matches(Array("U*U".utf8), hash: Array(hash.utf8), salt: []))
    }

    @Test(
        "parameters out of their ranges are refused by name",
        arguments: [
            (.digest(.md5, rounds: -1, order: .saltAndPassword), 0, "rounds must be 0 to 8192"),
            (.digest(.md5, rounds: 8193, order: .saltAndPassword), 0, "rounds must be 0 to 8192"),
            (.digest(.sha256, rounds: 0, order: .saltAndPassword), 0, "rounds must be 1 to 8192"),
            (.pbkdf2(digest: .sha1, rounds: 120_001), 0, "rounds must be 0 to 120000"),
            (.pbkdf2(digest: .sha256, rounds: -1), 0, "rounds must be 0 to 120000"),
            (.firebaseScrypt(parameters: .standard), 63, "signerKey must be 64 bytes"),
            (.hmac(.sha256, order: .saltAndPassword), 0, "signerKey must be 1 to 1024 bytes"),
            (scrypt(3, 8, 1, 64), 0, "cpuMemCost must be a power of two, 2 to 262144"),
            (scrypt(1 << 30, 8, 1, 64), 0, "cpuMemCost must be a power of two, 2 to 262144"),
            (scrypt(1 << 16, 8, 1, 64), 0, "cpuMemCost · blockSize must be at most 262144"),
            (scrypt(1 << 15, 8, 8, 64), 0, "cpuMemCost · blockSize · parallelization must be at most 1048576"),
            (scrypt(1024, 0, 1, 64), 0, "blockSize must be 1 to 64"),
            (scrypt(1024, 8, 0, 64), 0, "parallelization must be 1 to 64"),
            (scrypt(1024, 8, 1, 1), 0, "dkLen must be 16 to 1024"),
            (argon2(32_769, 1, 1, 32), 0, "argon2Parameters.memoryCostKib must be 8 for each lane to 32768"),
            (argon2(31, 1, 4, 32), 0, "argon2Parameters.memoryCostKib must be 8 for each lane to 32768"),
            (argon2(64, 17, 1, 32), 0, "argon2Parameters.iterations must be 1 to 16"),
            (argon2(1024, 1, 17, 32), 0, "argon2Parameters.parallelism must be 1 to 16"),
            (argon2(64, 1, 0, 32), 0, "argon2Parameters.parallelism must be 1 to 16"),
            (argon2(64, 1, 1, 3), 0, "argon2Parameters.hashLengthBytes must be 4 to 1024"),
            (argon2(64, 1, 1, 1025), 0, "argon2Parameters.hashLengthBytes must be 4 to 1024"),
        ] as [(PasswordAlgorithm, Int, String)]
    )
    func ranges(_ algorithm: PasswordAlgorithm, _ keyLength: Int, _ message: String) {
        do throws(PasswordParameterError) {
            _ = try PasswordConfiguration(algorithm, key: [UInt8](repeating: 1, count: keyLength), signerKey: [1])
            Issue.record("\(algorithm) is accepted")
        } catch {
            #expect(error.description == message)
        }
    }

    private static func scrypt(_ n: Int, _ r: Int, _ p: Int, _ length: Int) -> PasswordAlgorithm {
        .scrypt(parameters: StandardScryptParameters(cost: n, blockSize: r, parallelization: p, length: length))
    }

    private static func argon2(_ memory: Int, _ iterations: Int, _ lanes: Int, _ length: Int) -> PasswordAlgorithm {
        .argon2(parameters: Argon2(.id, memory: memory, iterations: iterations, lanes: lanes, length: length))
    }

    @Test("a configuration has the same id each time, another one with any other parameter, key or project")
    func ids() throws {
        let ids = try Self.cases.map { try $0.configuration.id }
        #expect(try Self.cases.map { try $0.configuration.id } == ids)
        #expect(Set(ids).count == Set(Self.cases.map(\.algorithm)).count)
        let algorithm = PasswordAlgorithm.hmac(.sha256, order: .passwordAndSalt)
        let others = try [([1], [1]), ([2], [1]), ([1], [2])].map { key, signerKey in
            try PasswordConfiguration(algorithm, key: key, signerKey: signerKey).id
        }
        #expect(Set(others).count == 3)
    }

    @Test("print nothing of their keys")
    func printsNoKey() throws {
        let configuration = try PasswordConfiguration(
            .hmac(.sha256, order: .passwordAndSalt),
            key: Array("secret".utf8),
            signerKey: [1]
        )
        let hash = PasswordHash(salt: [201], hash: [202], origin: .imported(configuration))
        for text in ["\(configuration)", String(reflecting: configuration), "\(hash)", String(reflecting: hash)] {
            #expect(!text.contains("115") && !text.contains("secret") && !text.contains("20"), "\(text)")
        }
    }

    @Test("T-E1: a wrong password of a fast hash costs as much as an unknown address, which costs the project's")
    func costsTheSame() async throws {
        let calls = Mutex<[ScryptParameters]>([])
        let hasher = PasswordHasher(workers: 1, queueLimit: 8) { _, _, parameters, _ in
            calls.withLock { $0.append(parameters) }
            return [UInt8](repeating: 0, count: 64)
        }
        let cheap = try #require(ScryptParameters(rounds: 8, memoryCost: 12, saltSeparator: [7]))
        let each = Self.digests[0]
        let stored = PasswordHash(salt: each.salt, hash: each.hash, origin: .imported(try each.configuration))
        let key = [UInt8](repeating: 9, count: 64)
        #expect(try await !hasher.verify(Secret("wrong"), against: stored, parameters: cheap, signerKey: key))
        #expect(try await !hasher.verify(Secret("wrong"), against: nil, parameters: cheap, signerKey: key))
        #expect(calls.withLock { $0 } == [cheap, cheap])
        // The right one costs the hash that takes its place.
        #expect(try await hasher.verify(Secret("bc"), against: stored, parameters: cheap, signerKey: key))
        #expect(calls.withLock { $0.count } == 2)
        await hasher.shutdown()
    }
}

/// RFC 9106 §5: with a secret, which no import has.
@Suite struct Argon2Tests {
    @Test(
        arguments: [
            (.d, "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb"),
            (.i, "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8"),
            (.id, "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"),
        ] as [(Argon2.Variant, String)]
    )
    func vectors(_ variant: Argon2.Variant, _ tag: String) throws {
        let argon2 = Argon2(variant, memory: 32, iterations: 3, lanes: 4, length: 32)
        let hash = try argon2.hash(
            [UInt8](repeating: 1, count: 32),
            salt: [UInt8](repeating: 2, count: 16),
            secret: [UInt8](repeating: 3, count: 8),
            associatedData: [UInt8](repeating: 4, count: 12)
        )
        #expect(hash == bytes(tag))
    }
}

private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

private func base64(_ text: String) -> [UInt8] { [UInt8](Data(base64Encoded: text) ?? Data()) }
