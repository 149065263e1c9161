import Foundation
import TestKit
import Testing

/// A password hash from elsewhere, as an upload describes it; by the vectors of whoever published the algorithm, which
/// `ImportedPasswordTests` names.
struct ImportedHash: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// `hashAlgorithm` and what belongs to it.
    var members: [String: JSON]
    var password: String
    var salt: String
    /// Base64.
    var hash: String

    init(_ algorithm: String, _ members: [String: JSON], _ password: String, _ salt: String, hex hash: String) {
        let digits = hash.compactMap(\.hexDigitValue)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(algorithm, members, password, salt, base64: Data(bytes).base64EncodedString())
    }

    init(_ algorithm: String, _ members: [String: JSON], _ password: String, _ salt: String, base64: String) {
        self.members = members.merging(["hashAlgorithm": .string(algorithm)]) { own, _ in own }
        self.password = password
        self.salt = salt
        hash = base64
        testDescription = "\(algorithm) \(JSON.object(members).text)"
    }

    /// An account of this password, or an upload of it alone.
    func account(_ localID: String = "ada", email: String = "ada@example.com") -> JSON {
        [
            "localId": .string(localID), "email": .string(email), "passwordHash": .string(hash),
            "salt": .string(Data(salt.utf8).base64EncodedString()),
        ]
    }

    func upload(_ users: [JSON]? = nil) -> JSON {
        .object(members.merging(["users": .array(users ?? [account()])]) { own, _ in own })
    }

    static let all: [ImportedHash] = derived + argon2 + digests

    static let firebase = ImportedHash(
        "SCRYPT",
        [
            "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
            "saltSeparator": "Bw==", "rounds": 8, "memoryCost": 14,
        ],
        "password",
        "NaCl",
        base64: "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw=="
    )
    static let md5 = ImportedHash("MD5", ["rounds": 0], "bc", "a", hex: "900150983cd24fb0d6963f7d28e17f72")

    private static let derived: [ImportedHash] = [
        firebase,
        ImportedHash(
            "STANDARD_SCRYPT",
            ["cpuMemCost": 1024, "blockSize": 8, "parallelization": 16, "dkLen": 64],
            "password",
            "NaCl",
            hex: """
                fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb9\
                4a83ee6d8360cbdfa2cc0640
                """
        ),
        ImportedHash(
            "BCRYPT",
            [:],
            "U*U*U",
            "",
            base64: Data("$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a".utf8).base64EncodedString()
        ),
        ImportedHash(
            "PBKDF_SHA1",
            ["rounds": 4096],
            "password",
            "salt",
            hex: "4b007901b765489abead49d926f721d065a429c1"
        ),
        ImportedHash(
            "PBKDF2_SHA256",
            ["rounds": 1],
            "passwd",
            "salt",
            hex: """
                55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845\
                b1e30bd509112041d3a19783
                """
        ),
        ImportedHash(
            "PBKDF2_SHA512",
            ["rounds": 4096],
            "password",
            "salt",
            hex: """
                d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5143f30602641b3d55cd335988cb36b84376060ec\
                d532e039b742a239434af2d5
                """
        ),
    ]

    private static let argon2: [ImportedHash] = [
        argon("ARGON2_ID", nil, "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
        argon("ARGON2_I", "VERSION_13", "89e9029f4637b295beb027056a7336c414fadd43f6b208645281cb214a56452f"),
        argon("ARGON2_I", "VERSION_10", "fd4dd83d762c49bdeaf57c47bdcd0c2f1babf863fdeb490df63ede9975fccf06"),
    ]

    private static func argon(_ type: String, _ version: String?, _ hash: String) -> ImportedHash {
        let parameters: JSON = [
            "hashType": .string(type), "version": JSON(version), "hashLengthBytes": 32, "parallelism": 1,
            "iterations": 2, "memoryCostKib": 256,
        ]
        return ImportedHash("ARGON2", ["argon2Parameters": parameters], "password", "somesalt", hex: hash)
    }

    /// Each in both orders, and in the one that is meant where none is said.
    private static let digests: [ImportedHash] =
        [
            ("MD5", 0, "900150983cd24fb0d6963f7d28e17f72"),
            ("MD5", 1, Data("900150983cd24fb0d6963f7d28e17f72".utf8).map { String($0, radix: 16) }.joined()),
            ("SHA1", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("SHA256", 3, "f2a778f1a6ed3d5bc59a5d79104c598f3f07093f240ca4e91333fb09ed4f36da"),
            (
                "SHA512", 1,
                """
                ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423\
                643ce80e2a9ac94fa54ca49f
                """
            ),
        ].flatMap { (algorithm: String, rounds: Int, hash: String) -> [ImportedHash] in
            let members: [String: JSON] = ["rounds": .number(Double(rounds))]
            return orders(algorithm, members, ("bc", "a"), ("ab", "c"), hash)
        }
        + [
            ("HMAC_MD5", "750c783e6ab0b503eaa86e310a5db738"),
            ("HMAC_SHA1", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            ("HMAC_SHA256", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                "HMAC_SHA512",
                """
                164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a3\
                4d4a6b4b636e070a38bce737
                """
            ),
        ].flatMap { (algorithm: String, hash: String) -> [ImportedHash] in
            // "Jefe"
            orders(
                algorithm,
                ["signerKey": "SmVmZQ=="],
                (" for nothing?", "what do ya want"),
                ("what do ya want", " for nothing?"),
                hash
            )
        }

    private static func orders(
        _ algorithm: String,
        _ members: [String: JSON],
        _ saltFirst: (password: String, salt: String),
        _ passwordFirst: (password: String, salt: String),
        _ hash: String
    ) -> [ImportedHash] {
        func one(_ order: JSON?, _ text: (password: String, salt: String)) -> ImportedHash {
            let members = members.merging(order.map { ["passwordHashOrder": $0] } ?? [:]) { own, _ in own }
            return ImportedHash(algorithm, members, text.password, text.salt, hex: hash)
        }
        return [
            one("SALT_AND_PASSWORD", saltFirst), one("PASSWORD_AND_SALT", passwordFirst),
            one(nil, algorithm.hasPrefix("HMAC") ? passwordFirst : saltFirst),
        ]
    }
}
