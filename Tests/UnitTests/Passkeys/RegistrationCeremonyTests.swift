import Passkeys
import Secrets
import StrictJSON
import TestKit
import Testing

@Suite("Registration of a passkey")
struct RegistrationCeremonyTests {
    /// What a registration depends on; a case changes one thing.
    struct World {
        var authenticator = SoftwareAuthenticator(userHandle: Array("account".utf8))
        var asked = RandomSource.system.bytes(32)
        var answered: [UInt8]?
        var topOrigins: [String] = []
        var algorithms = COSEAlgorithm.allCases
        var userVerification = UserVerification.required
        var isConditional = false
        var attestation = AttestationPolicy()
        var damage: (inout SoftwareAuthenticator.Created) -> Void = { _ in }

        func verify() async throws -> CredentialRecord {
            var created = authenticator.create(for: answered ?? asked)
            damage(&created)
            let ceremony = RegistrationCeremony(
                relyingParty: RelyingParty(
                    id: "example.com",
                    origins: ["https://example.com", "android:apk-key-hash:AA"],
                    topOrigins: topOrigins
                ),
                challenge: Challenge(bytes: asked),
                algorithms: algorithms,
                userVerification: userVerification,
                isConditional: isConditional,
                attestation: attestation
            )
            return try await ceremony.verify(created.parsed(), now: 1_800_000_000)
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Nil if it is to be accepted.
        let error: PasskeyError?
        let change: @Sendable (inout World) -> Void

        init(_ label: String, _ error: PasskeyError?, _ change: @escaping @Sendable (inout World) -> Void) {
            self.testDescription = label
            self.error = error
            self.change = change
        }
    }

    private static func member(_ name: String, _ value: JSONValue) -> @Sendable (inout World) -> Void {
        { $0.authenticator.members.append(JSONObject.Member(name: name, value: value)) }
    }

    static let cases = [
        Case("nothing changed", nil) { _ in },
        Case("an app's origin", nil) { $0.authenticator.origin = "android:apk-key-hash:AA" },
        Case("a frame of an expected page", nil) {
            $0.topOrigins = ["https://shop.example"]
            member("crossOrigin", .bool(true))(&$0)
            member("topOrigin", .string("https://shop.example"))(&$0)
        },
        Case("a frame, from a browser that does not name the page", nil) {
            $0.topOrigins = ["https://shop.example"]
            member("crossOrigin", .bool(true))(&$0)
        },
        Case("not verified, where that is preferred", nil) {
            $0.userVerification = .preferred
            $0.authenticator.flags = 0x01
        },
        Case("not present, as the browser created it by itself", nil) {
            $0.isConditional = true
            $0.authenticator.flags = 0x0c
        },
        Case("extensions that nobody asked for", nil) { $0.authenticator.extensions = ["credProtect": 2] },
        Case("a byte order mark", nil) {
            $0.damage = { $0.clientDataJSON.insert(contentsOf: [0xef, 0xbb, 0xbf], at: 0) }
        },
        Case("a format that is not verified", nil) { $0.authenticator.format = "tpm" },
        Case("the longest ID", nil) { $0.authenticator.id = [UInt8](repeating: 7, count: 1023) },

        Case("client data that is no JSON", .malformedClientData) { $0.damage = { $0.clientDataJSON.removeLast() } },
        Case("client data of more than 64 KiB", .malformedClientData) {
            member("a", .string(String(repeating: "a", count: 70_000)))(&$0)
        },
        Case("a repeated member", .malformedClientData, member("origin", .string("https://example.com"))),
        Case("a flag that is a text", .malformedClientData, member("crossOrigin", .string("true"))),
        Case("a page that is a number", .malformedClientData, member("topOrigin", .number("1"))),
        Case("an assertion", .wrongType) { $0.authenticator.type = "webauthn.get" },
        Case("another challenge", .wrongChallenge) { $0.answered = RandomSource.system.bytes(32) },
        Case("part of the challenge", .wrongChallenge) { $0.answered = Array($0.asked.dropLast()) },
        Case("another origin", .wrongOrigin) { $0.authenticator.origin = "https://example.net" },
        Case("an origin with a path", .wrongOrigin) { $0.authenticator.origin = "https://example.com/" },
        Case("a frame", .crossOrigin, member("crossOrigin", .bool(true))),
        Case("a frame of another page", .wrongTopOrigin) {
            $0.topOrigins = ["https://shop.example"]
            member("topOrigin", .string("https://example.net"))(&$0)
        },

        Case("an object that is no CBOR", .malformedAttestationObject) {
            $0.damage = { $0.attestationObject.removeLast() }
        },
        Case("an object of more than 64 KiB", .malformedAttestationObject) {
            $0.authenticator.format = "tpm"
            $0.authenticator.statement = { _ in ["a": .bytes([UInt8](repeating: 0, count: 70_000))] }
        },
        Case("an object without a format", .malformedAttestationObject) {
            $0.damage = { $0.attestationObject = [0xa0] }
        },
        Case("data that is cut", .malformedAuthenticatorData) {
            $0.damage = {
                $0.attestationObject = (["fmt": "none", "attStmt": [:], "authData": .bytes([1])] as CBOR).encoded
            }
        },
        Case("extensions that are no map", .malformedAuthenticatorData) { $0.authenticator.extensions = 1 },
        Case("extensions with numbers for names", .malformedAuthenticatorData) { $0.authenticator.extensions = [1: 2] },
        Case("no credential", .missingCredential) {
            let data = [UInt8](repeating: 0, count: 37)
            $0.damage = {
                $0.attestationObject = (["fmt": "none", "attStmt": [:], "authData": .bytes(data)] as CBOR).encoded
            }
        },
        Case("another RP ID", .wrongRelyingParty) { $0.authenticator.relyingParty = "example.net" },
        Case("not present", .userNotPresent) { $0.authenticator.flags = 0x0c },
        Case("not verified", .userNotVerified) { $0.authenticator.flags = 0x09 },
        Case("backed up, but not eligible", .invalidBackupState) { $0.authenticator.flags = 0x15 },

        Case("a key without an algorithm", .malformedPublicKey) { $0.authenticator.publicKey = [1: 2] },
        Case("a point that is not on the curve", .malformedPublicKey) {
            let coordinate = CBOR.bytes([UInt8](repeating: 1, count: 32))
            $0.authenticator.publicKey = [1: 2, 3: -7, -1: 1, -2: coordinate, -3: coordinate]
        },
        Case("an algorithm that we do not have", .unsupportedAlgorithm) {
            $0.authenticator.publicKey = [1: 2, 3: -35]
        },
        Case("an algorithm that was not asked for", .unsupportedAlgorithm) { $0.algorithms = [.edDSA, .rs256] },
        Case("another ID than the client says", .unacceptableCredentialID) { $0.damage = { $0.id[0] ^= 1 } },
        Case("an ID that is too long", .unacceptableCredentialID) {
            $0.authenticator.id = [UInt8](repeating: 7, count: 1024)
            $0.damage = { $0.id = [7] }
        },

        Case("a statement where there is none", .malformedAttestationStatement) {
            $0.authenticator.statement = { _ in ["alg": -7] }
        },
        Case("packed without a signature", .malformedAttestationStatement) { $0.authenticator.format = "packed" },
        Case("packed with an empty chain", .malformedAttestationStatement) {
            $0.authenticator.format = "packed"
            $0.authenticator.statement = { _ in ["alg": -7, "sig": .bytes([]), "x5c": .array([])] }
        },
        Case("packed by another algorithm than the key's", .malformedAttestationStatement) {
            $0.authenticator.format = "packed"
            $0.authenticator.statement = { _ in ["alg": -8, "sig": .bytes([])] }
        },
        Case("packed by an unknown algorithm", .unsupportedAttestationAlgorithm) {
            $0.authenticator.format = "packed"
            $0.authenticator.statement = { _ in ["alg": -35, "sig": .bytes([])] }
        },
        Case("packed, signed by another key", .wrongAttestationSignature) {
            let other = SoftwareAuthenticator(userHandle: [])
            $0.authenticator.format = "packed"
            $0.authenticator.statement = { ["alg": -7, "sig": .bytes(other.signature(of: $0))] }
        },
        Case("no attestation, where the project wants one", .unacceptableAttestation) {
            $0.attestation.accepted = [.selfSigned, .certified]
        },
        Case("a format that is not verified, where the project does not accept it", .unacceptableAttestation) {
            $0.authenticator.format = "tpm"
            $0.attestation.accepted = [.none, .selfSigned, .certified]
        },
    ]

    @Test("is verified step by step", arguments: cases)
    func steps(_ test: Case) async {
        var world = World()
        test.change(&world)
        let result: PasskeyError?
        do {
            _ = try await world.verify()
            result = nil
        } catch {
            result = error as? PasskeyError
        }
        #expect(result == test.error)
    }

    @Test("returns what is to be stored")
    func record() async throws {
        var world = World()
        world.authenticator.signCount = 0x0102_0304
        world.authenticator.aaguid = Array(1...16)
        let authenticator = world.authenticator
        world.authenticator.format = "packed"
        world.authenticator.statement = { ["alg": -7, "sig": .bytes(authenticator.signature(of: $0))] }
        let record = try await world.verify()
        #expect(record.id.bytes == authenticator.id)
        #expect(record.publicKey.algorithm == .es256)
        #expect(record.publicKey.verifies(authenticator.signature(of: [1, 2, 3]), of: [1, 2, 3]))
        #expect(try COSEKey(record.publicKey.bytes) == record.publicKey)
        #expect(record.signCount == 0x0102_0304)
        #expect(record.hasVerifiedUser && record.isBackupEligible && record.isBackedUp)
        #expect(record.transports == ["internal", "hybrid"])
        #expect(record.aaguid.description == "01020304-0506-0708-090a-0b0c0d0e0f10")
        #expect(record.attestation == .selfSigned)
        world.authenticator.flags = 0x05
        world.authenticator.format = "none"
        world.authenticator.statement = { _ in [:] }
        let device = try await world.verify()
        #expect(!device.isBackupEligible && !device.isBackedUp && device.attestation == .none)
    }

    @Test("names well-known authenticators")
    func names() throws {
        let zeros = try #require(AAGUID(bytes: [UInt8](repeating: 0, count: 16)))
        #expect(zeros.name == nil)
        let bitwarden = try #require(
            AAGUID(bytes: [
                0xd5, 0x48, 0x82, 0x6e, 0x79, 0xb4, 0xdb, 0x40, 0xa3, 0xd8, 0x11, 0x11, 0x6f, 0x7e, 0x83, 0x49,
            ])
        )
        #expect(bitwarden.name == "Bitwarden")
        #expect(AAGUID(bytes: [1]) == nil)
    }

    @Test("challenges are 256 random bits, and IDs have one spelling")
    func values() throws {
        let challenge = Challenge.random(from: RandomSource { [UInt8](repeating: 7, count: $0) })
        #expect(challenge.bytes == [UInt8](repeating: 7, count: 32))
        #expect(CredentialID(bytes: [0xfb, 0xff])?.description == "-_8")
        #expect(CredentialID(bytes: []) == nil)
    }
}
