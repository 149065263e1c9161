import Crypto
import CryptoExtras
import Foundation
import SystemCrypto
import TestKit
import Testing
import X509

/// Keys and certificates from outside: OpenSSL reads them before swift-crypto and swift-certificates do.
@Suite("Keys from outside")
struct KeyReaderTests {
    private static let rsa = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    private static let modulus = Result { try Self.rsa.get().publicKey.getKeyPrimitives().modulus.bytes }

    @Test("public keys of the accepted types are read, with and without a certificate around them")
    func publicKeys() throws {
        let rsa = try Self.rsa.get().publicKey.derRepresentation
        let keys: [(der: Data, isRead: (PublicKey) -> Bool)] = [
            (rsa, { if case .rsa(let key) = $0 { key.derRepresentation == rsa } else { false } }),
            (P256.Signing.PrivateKey().publicKey.derRepresentation, { if case .p256 = $0 { true } else { false } }),
            (P384.Signing.PrivateKey().publicKey.derRepresentation, { if case .p384 = $0 { true } else { false } }),
            (P521.Signing.PrivateKey().publicKey.derRepresentation, { if case .p521 = $0 { true } else { false } }),
            (
                Data(DER.ed25519(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation.bytes)),
                { if case .ed25519 = $0 { true } else { false } }
            ),
        ]
        for (der, isRead) in keys {
            let key = try #require(PublicKey(subjectPublicKeyInfo: der.bytes))
            #expect(isRead(key))
            let certificate = DER.certificate(of: der.bytes)
            #expect(Certificate(der: certificate) != nil)
            #expect(Certificate(der: certificate + [0]) == nil)
            #expect(Certificate(pem: DER.pem(certificate, "CERTIFICATE")) != nil)
            #expect(Certificate(pem: DER.pem(certificate, "PUBLIC KEY")) == nil)
            #expect(PublicKey(subjectPublicKeyInfo: der.bytes + [0]) == nil)
        }
    }

    @Test("RSA keys outside the limits are refused: by size, an even modulus or exponent, numbers that are not DER")
    func rsaLimits() throws {
        let modulus = try Self.modulus.get()
        func size(_ bytes: Int) -> [UInt8] { [0xc1] + [UInt8](repeating: 0x35, count: bytes - 1) }
        let accepted: [(n: [UInt8], e: [UInt8])] = [
            (modulus, [3]), (modulus, [1, 0, 1]), (modulus, [1, 0, 0, 0, 1]), (size(256), [3]), (size(1024), [3]),
        ]
        let refused: [(n: [UInt8], e: [UInt8])] = [
            (size(255), [3]), (size(1025), [3]), (size(2048), [3]), (modulus.dropLast() + [0x10], [3]), ([], [3]),
            (modulus, []), (modulus, [0]), (modulus, [1]), (modulus, [2]), (modulus, [1, 0, 0]), (modulus, size(8)),
            (modulus, modulus),
        ]
        for (n, e) in accepted {
            #expect(_RSA.Signing.PublicKey(modulus: n, exponent: e) != nil, "\(n.count) \(e)")
            #expect(PublicKey(subjectPublicKeyInfo: DER.rsa(n, e)) != nil, "\(n.count) \(e)")
            #expect(Certificate(der: DER.certificate(of: DER.rsa(n, e))) != nil, "\(n.count) \(e)")
        }
        for (n, e) in refused {
            #expect(_RSA.Signing.PublicKey(modulus: n, exponent: e) == nil, "\(n.count) \(e)")
            #expect(PublicKey(subjectPublicKeyInfo: DER.rsa(n, e)) == nil, "\(n.count) \(e)")
            #expect(Certificate(der: DER.certificate(of: DER.rsa(n, e))) == nil, "\(n.count) \(e)")
        }
        // Negative, and with a zero too many: OpenSSL reads them, others do not.
        for odd in [
            DER.rsa(raw: modulus, [3]), DER.rsa(raw: [0, 0] + modulus, [3]), DER.rsa(raw: [0] + modulus, [0, 3]),
        ] {
            #expect(Certificate(der: DER.certificate(of: odd)) == nil)
        }
    }

    @Test("private keys are read in each of their forms, and never ask for a passphrase")
    func privateKeys() throws {
        let (rsa, p256) = (try Self.rsa.get(), P256.Signing.PrivateKey())
        for pem in [rsa.pemRepresentation, rsa.pkcs8PEMRepresentation, "Bag Attributes\n" + rsa.pkcs8PEMRepresentation]
        {
            guard case .rsa(let key) = PrivateKey(pem: pem) else { throw Unread(text: pem) }
            #expect(key.derRepresentation == rsa.derRepresentation)
        }
        for text in [p256.pemRepresentation, p256.pemRepresentation.replacing("\n", with: "\r\n")] {
            guard case .p256(let key) = PrivateKey(pem: text) else { throw Unread(text: text) }
            #expect(key.rawRepresentation == p256.rawRepresentation)
        }
        guard case .p256 = PrivateKey(pkcs8DER: p256.derRepresentation.bytes) else { throw Unread(text: "p256") }
        let encrypted = DER.pem([0x30, 0], "ENCRYPTED PRIVATE KEY")
        let small = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
        let others = [
            "", "junk", encrypted, small.pemRepresentation, P384.Signing.PrivateKey().pemRepresentation,
            DER.pem(p256.publicKey.derRepresentation.bytes, "PRIVATE KEY"), p256.publicKey.pemRepresentation,
        ]
        for pem in others { #expect(PrivateKey(pem: pem) == nil, "\(pem)") }
    }

    private struct Unread: Error {
        let text: String
    }

    /// glibc's allocator ends a process that frees memory twice, or writes outside of its own.
    @Test("nothing that is read here frees memory twice", .timeLimit(.minutes(30)))
    func checkedHeap() async throws {
        let result = try await Program.run(
            FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            ["--testing-library", "swift-testing", "--filter", "KeyReaderTests/heap"],
            environment: [
                Self.rounds: "10000", "LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3",
                "GLIBC_TUNABLES": "glibc.malloc.check=3",
            ]
        )
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("1 test") || result.errors.contains("1 test"), "\(result)")
    }

    private static let rounds = "KEY_READER_ROUNDS"

    @Test("wrong types, malformed, huge and tiny numbers, and any other bytes are read or refused")
    func heap() throws {
        let rounds = ProcessInfo.processInfo.environment[Self.rounds].flatMap { Int($0) } ?? 50
        let inputs = try Self.inputs()
        var random = SplitMix(seed: 7)
        for round in 0..<rounds {
            var der = inputs[round % inputs.count]
            if round >= inputs.count, !der.isEmpty {
                switch round % 4 {
                case 0: break
                case 1: der[Int.random(in: 0..<der.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                case 2: der.removeLast(Int.random(in: 0..<der.count, using: &random))
                default: der.append(contentsOf: der.prefix(Int.random(in: 0..<der.count, using: &random)))
                }
            }
            let certificate = DER.certificate(of: der)
            _ = PublicKey(subjectPublicKeyInfo: der)
            _ = try? RSAPublicKey(subjectPublicKeyInfo: der)
            _ = Certificate(der: der)
            _ = Certificate(der: certificate)
            _ = Certificate(pem: DER.pem(certificate, "CERTIFICATE"))
            _ = PrivateKey(pkcs8DER: der)
            for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "PUBLIC KEY"] {
                _ = PrivateKey(pem: DER.pem(der, label))
            }
            _ = _RSA.Signing.PublicKey(modulus: der, exponent: der.suffix(1 + round % 5))
        }
    }

    private static func inputs() throws -> [[UInt8]] {
        let (rsa, p256) = (try rsa.get(), P256.Signing.PrivateKey())
        let modulus = try modulus.get()
        func number(_ bytes: Int) -> [UInt8] { [UInt8](repeating: 0xc5, count: bytes) }
        let numbers = [
            [], [0], [1], [2], [3], [0xff], number(64), number(256), number(1024), number(1025), number(4096),
        ]
        return [
            [], [0x30], Array("junk".utf8), rsa.publicKey.derRepresentation.bytes,
            rsa.publicKey.pkcs1DERRepresentation.bytes,
            p256.publicKey.derRepresentation.bytes, P384.Signing.PrivateKey().publicKey.derRepresentation.bytes,
            P521.Signing.PrivateKey().publicKey.derRepresentation.bytes, rsa.derRepresentation.bytes,
            rsa.pkcs8DERRepresentation.bytes, p256.derRepresentation.bytes, DER.ed25519(number(32)),
            DER.ed25519(number(31)),
            DER.rsa(modulus.dropLast() + [0x10], [1, 0, 1]), DER.rsa(raw: modulus, [3]),
            DER.rsa(raw: [0, 0] + modulus, [3]),
        ] + numbers.flatMap { [DER.rsa($0, [3]), DER.rsa(modulus, $0), DER.rsa(raw: $0, $0)] }
    }
}

/// Just enough DER (X.690) to write keys and certificates that no library would.
private enum DER {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }

    /// A positive number.
    private static func number(_ bytes: [UInt8]) -> [UInt8] {
        let significant = Array(bytes.drop { $0 == 0 })
        return value(2, (significant.first ?? 0x80) >= 0x80 ? [0] + significant : significant)
    }

    private static let rsaEncryption: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 0x05, 0]

    static func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
        key(sequence(rsaEncryption), sequence(number(modulus), number(exponent)))
    }

    /// The contents of both INTEGERs as they are.
    static func rsa(raw modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
        key(sequence(rsaEncryption), sequence(value(2, modulus), value(2, exponent)))
    }

    static func ed25519(_ point: [UInt8]) -> [UInt8] { key(sequence([0x06, 3, 0x2b, 0x65, 0x70]), point) }

    private static func key(_ algorithm: [UInt8], _ content: [UInt8]) -> [UInt8] {
        sequence(algorithm, value(3, [0] + content))
    }

    /// A certificate with the key, whose signature is worth nothing.
    static func certificate(of key: [UInt8]) -> [UInt8] {
        let ecdsa = sequence([0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2])
        let name = sequence(value(0x31, sequence([0x06, 3, 0x55, 4, 3], value(0x0c, Array("x".utf8)))))
        let time = value(0x17, Array("260101000000Z".utf8))
        let content = sequence(
            value(0xa0, [2, 1, 2]),
            [2, 1, 1],
            ecdsa,
            name,
            sequence(time, time),
            name,
            key
        )
        return sequence(content, ecdsa, value(3, [0] + sequence([2, 1, 1], [2, 1, 1])))
    }

    static func pem(_ der: [UInt8], _ label: String) -> String {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }
}

extension Data {
    fileprivate var bytes: [UInt8] { [UInt8](self) }
}
