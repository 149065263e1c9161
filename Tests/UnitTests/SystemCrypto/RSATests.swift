import Crypto
import CryptoExtras
import Foundation
import SystemCrypto
import Testing

/// swift-crypto, which has a library of its own inside, judges what libcrypto makes.
@Suite struct RSATests {
    private static let made = Result { try RSAPrivateKey.generate() }
    private let key: RSAPrivateKey
    private let message = Array("header.payload".utf8)

    init() throws { key = try Self.made.get() }

    @Test func generatesKeysOf2048Bits() throws {
        #expect(key.publicKey.modulus.count == 256)
        #expect(key.publicKey.modulus[0] >= 0x80)
        #expect(key.publicKey.exponent == [1, 0, 1])
        #expect(try RSAPrivateKey.generate().publicKey.modulus != key.publicKey.modulus)
    }

    @Test func signaturesAreThoseOfRS256() throws {
        let signature = try key.sign(message)
        let judge = try _RSA.Signing.PublicKey(derRepresentation: key.publicKey.subjectPublicKeyInfo)
        let judged = _RSA.Signing.RSASignature(rawRepresentation: signature)
        #expect(signature.count == 256)
        #expect(judge.isValidSignature(judged, for: message, padding: .insecurePKCS1v1_5))
        #expect(!judge.isValidSignature(judged, for: message + [0], padding: .insecurePKCS1v1_5))
        #expect(try key.sign(message) == signature)  // PKCS #1 v1.5 is deterministic
    }

    @Test func verifiesWhatOthersSigned() throws {
        let other = try _RSA.Signing.PrivateKey(derRepresentation: key.pkcs8DER())
        let signature = try other.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation
        let pss = try other.signature(for: message, padding: .PSS).rawRepresentation
        #expect(key.publicKey.verifies([UInt8](signature), of: message))
        #expect(!key.publicKey.verifies([UInt8](pss), of: message))
    }

    @Test func refusesEveryTamperedByte() throws {
        let signature = try key.sign(message)
        #expect(key.publicKey.verifies(signature, of: message))
        for index in signature.indices {
            var tampered = signature
            tampered[index] ^= 1
            #expect(!key.publicKey.verifies(tampered, of: message))
        }
        for index in message.indices {
            var tampered = message
            tampered[index] ^= 1
            #expect(!key.publicKey.verifies(signature, of: tampered))
        }
        for other in [[], Array(signature.dropLast()), signature + [0], [0] + signature] {
            #expect(!key.publicKey.verifies(other, of: message))
        }
        #expect(!key.publicKey.verifies(signature, of: []))
        #expect(try !RSAPrivateKey.generate().publicKey.verifies(signature, of: message))
        #expect(key.publicKey.verifies(signature, of: message))  // failures leave nothing behind
    }

    @Test func survivesExportAndImport() throws {
        let der = try key.pkcs8DER()
        let back = try RSAPrivateKey(pkcs8DER: der)
        #expect(try back.pkcs8DER() == der)
        #expect(back.publicKey.subjectPublicKeyInfo == key.publicKey.subjectPublicKeyInfo)
        #expect(try key.publicKey.verifies(back.sign(message), of: message))
        let publicKey = try RSAPublicKey(subjectPublicKeyInfo: key.publicKey.subjectPublicKeyInfo)
        #expect(publicKey.modulus == key.publicKey.modulus)
        #expect(try publicKey.verifies(key.sign([]), of: []))
        let judge = try _RSA.Signing.PrivateKey(derRepresentation: der)
        #expect([UInt8](judge.publicKey.derRepresentation) == key.publicKey.subjectPublicKeyInfo)
    }

    @Test func refusesWhatIsNoRSAKeyOfEnoughBits() throws {
        let small = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
        let elliptic = P256.Signing.PrivateKey()
        for der in [
            [], [0x30], Array("junk".utf8), [UInt8](small.pkcs8DERRepresentation), [UInt8](elliptic.derRepresentation),
        ] {
            #expect(throws: SystemCryptoError.invalidKey) { try RSAPrivateKey(pkcs8DER: der) }
        }
        let publicKeys = [
            [], [UInt8](small.publicKey.derRepresentation), [UInt8](elliptic.publicKey.derRepresentation),
        ]
        for der in publicKeys {
            #expect(throws: SystemCryptoError.invalidKey) { try RSAPublicKey(subjectPublicKeyInfo: der) }
        }
    }

    @Test func damagedKeysAreRefusedOrSignRightly() throws {
        let der = try key.pkcs8DER()
        let spki = key.publicKey.subjectPublicKeyInfo
        #expect(throws: SystemCryptoError.invalidKey) { try RSAPrivateKey(pkcs8DER: der + [0]) }
        #expect(throws: SystemCryptoError.invalidKey) { try RSAPrivateKey(pkcs8DER: Array(der.dropLast())) }
        #expect(throws: SystemCryptoError.invalidKey) { try RSAPublicKey(subjectPublicKeyInfo: spki + [0]) }
        #expect(throws: SystemCryptoError.invalidKey) { try RSAPublicKey(subjectPublicKeyInfo: Array(spki.dropLast())) }
        // Within n, d, p, q, dP, dQ and qInv, in the order of RFC 8017 A.1.2: where d is whole, or all after it, libcrypto
        // signs rightly by that.
        let message = Array("message".utf8)
        for (indices, mayBeTaken) in [
            ([200], false), ([500], true), ([650], true), ([780], true), ([910], true), ([1040], true), ([1170], true),
            ([500, 650], false), ([500, 780], false), ([500, 910], false), ([500, 1040], false), ([500, 1170], false),
        ] {
            var damaged = der
            for index in indices { damaged[index] ^= 4 }
            guard let taken = try? RSAPrivateKey(pkcs8DER: damaged) else { continue }
            let signature = try taken.sign(message)
            #expect(mayBeTaken && key.publicKey.verifies(signature, of: message), "bytes \(indices)")
        }
    }

    @Test func manyTasksSignAtOnce() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask { [key] in
                    let message = Array("message \(number)".utf8)
                    return key.publicKey.verifies(try key.sign(message), of: message)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
