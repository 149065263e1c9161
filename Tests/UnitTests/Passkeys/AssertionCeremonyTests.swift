import Passkeys
import Secrets
import StrictJSON
import TestKit
import Testing

@Suite("Use of a passkey")
struct AssertionCeremonyTests {
    /// What an assertion depends on; a case changes one thing after the registration.
    struct World {
        var authenticator: SoftwareAuthenticator
        var record: CredentialRecord
        var userHandle = Array("account".utf8)
        var asked = RandomSource.system.bytes(32)
        var answered: [UInt8]?
        var userVerification = UserVerification.required
        var allowed: [CredentialID] = []
        var knowsUser = false
        var damage: (inout SoftwareAuthenticator.Used) -> Void = { _ in }

        init(signCount: UInt32 = 0) async throws {
            var world = RegistrationCeremonyTests.World()
            world.authenticator.signCount = signCount
            authenticator = world.authenticator
            record = try await world.verify()
        }

        func verify() throws -> VerifiedAssertion {
            var used = authenticator.use(for: answered ?? asked)
            damage(&used)
            let ceremony = AssertionCeremony(
                relyingParty: RelyingParty(id: "example.com", origins: ["https://example.com"]),
                challenge: Challenge(bytes: asked),
                userVerification: userVerification,
                allowed: allowed,
                knowsUser: knowsUser
            )
            return try ceremony.verify(used.parsed(), of: record, userHandle: userHandle)
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

    private static let other = CredentialID(bytes: [1, 2, 3])

    static let cases = [
        Case("nothing changed", nil) { _ in },
        Case("an allowed credential", nil) { $0.allowed = [$0.record.id] + (other.map { [$0] } ?? []) },
        Case("without a user handle, of a known user", nil) {
            $0.knowsUser = true
            $0.authenticator.userHandle = nil
        },
        Case("not verified, where that is preferred", nil) {
            $0.userVerification = .preferred
            $0.authenticator.flags = 0x19
        },
        Case("no longer backed up", nil) { $0.authenticator.flags = 0x0d },
        Case("extensions that nobody asked for", nil) { $0.authenticator.extensions = ["a": .bool(true)] },

        Case("a credential that was not allowed", .credentialNotAllowed) { $0.allowed = other.map { [$0] } ?? [] },
        Case("another credential than the record's", .unacceptableCredentialID) { $0.damage = { $0.id[0] ^= 1 } },
        Case("another account's handle", .wrongUserHandle) { $0.userHandle = Array("other".utf8) },
        Case("another account's handle, of a known user", .wrongUserHandle) {
            $0.knowsUser = true
            $0.userHandle = Array("other".utf8)
        },
        Case("without a user handle", .wrongUserHandle) { $0.authenticator.userHandle = nil },
        Case("a registration", .wrongType) { $0.authenticator.type = "webauthn.create" },
        Case("another challenge", .wrongChallenge) { $0.answered = RandomSource.system.bytes(32) },
        Case("another origin", .wrongOrigin) { $0.authenticator.origin = "https://example.com.example.net" },
        Case("a frame", .crossOrigin) {
            $0.authenticator.members = [JSONObject.Member(name: "crossOrigin", value: .bool(true))]
        },
        Case("a frame of an unexpected page", .wrongTopOrigin) {
            $0.authenticator.members = [JSONObject.Member(name: "topOrigin", value: .string("https://example.net"))]
        },
        Case("data that is cut", .malformedAuthenticatorData) { $0.damage = { $0.authenticatorData.removeLast() } },
        Case("data with something left over", .malformedAuthenticatorData) {
            $0.damage = { $0.authenticatorData.append(0) }
        },
        Case("another RP ID", .wrongRelyingParty) { $0.authenticator.relyingParty = "app.example.com" },
        Case("not present", .userNotPresent) { $0.authenticator.flags = 0x1c },
        Case("not verified", .userNotVerified) { $0.authenticator.flags = 0x19 },
        Case("backed up, but not eligible", .invalidBackupState) { $0.authenticator.flags = 0x15 },
        Case("no longer eligible", .changedBackupEligibility) { $0.authenticator.flags = 0x05 },
        Case("signed by another key", .wrongSignature) {
            $0.authenticator.key = SoftwareAuthenticator(userHandle: []).key
        },
        Case("other client data than was signed", .wrongSignature) { $0.damage = { $0.clientDataJSON.append(0x20) } },
        Case("a counter that was not signed", .wrongSignature) { $0.damage = { $0.authenticatorData[36] ^= 1 } },
    ]

    @Test("is verified step by step", arguments: cases)
    func steps(_ test: Case) async throws {
        var world = try await World()
        test.change(&world)
        let result: PasskeyError?
        do {
            _ = try world.verify()
            result = nil
        } catch {
            result = error as? PasskeyError
        }
        #expect(result == test.error)
    }

    @Test(
        "suspects a clone if the counter does not increase",
        arguments: [
            (0, 0, false), (0, 1, false), (7, 8, false), (7, .max, false), (7, 7, true), (7, 6, true), (7, 0, true),
        ]
            as [(UInt32, UInt32, Bool)]
    )
    func counter(stored: UInt32, received: UInt32, isSuspected: Bool) async throws {
        var world = try await World(signCount: stored)
        world.authenticator.signCount = received
        let assertion = try world.verify()
        #expect(assertion.counter == (isSuspected ? .cloneSuspected : .plausible))
        #expect(assertion.record.signCount == max(stored, received))
    }

    @Test("returns the record's new state")
    func state() async throws {
        var world = try await World()
        world.userVerification = .preferred
        world.authenticator.flags = 0x09
        let once = try world.verify()
        #expect(!once.isUserVerified && !once.record.isBackedUp && once.record.hasVerifiedUser)
        world.authenticator.flags = 0x1d
        world.record.hasVerifiedUser = false
        let twice = try world.verify()
        #expect(twice.isUserVerified && twice.record.isBackedUp && twice.record.hasVerifiedUser)
        #expect(twice.record.id == world.record.id && twice.record.publicKey == world.record.publicKey)
    }

    @Test("every error is the result of a case, and says at which step")
    func errors() {
        let tested = Set(Self.cases.compactMap(\.error) + RegistrationCeremonyTests.cases.compactMap(\.error))
        // Certificates are left to PasskeyJudgeTests.
        #expect(Set(PasskeyError.allCases).subtracting(tested) == [.unacceptableAttestationCertificate])
        for error in PasskeyError.allCases { #expect(error.description.contains(" step ")) }
    }
}
