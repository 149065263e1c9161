import Passkeys
import TestKit
import Testing

/// Web Authentication Level 3, §16.
@Suite("WebAuthn's test vectors")
struct WebAuthnVectorTests {
    private static let attestations: [String: Attestation] = [
        "none-es256": .none, "none-es256-crossOrigin": .none, "none-es256-topOrigin": .none,
        "none-es256-long-credential-id": .none, "packed-self-es256": .selfSigned, "packed-es256": .certified,
        "packed-rs256": .certified, "packed-eddsa": .certified, "tpm-es256": .unverified,
        "android-key-es256": .unverified, "apple-es256": .unverified, "fido-u2f-es256": .unverified,
    ]

    private static func verify(_ vector: WebAuthnVector, _ name: String) async throws -> CredentialRecord {
        let relyingParty = RelyingParty(
            id: "example.org",
            origins: ["https://example.org"],
            topOrigins: name.hasSuffix("Origin") ? ["https://example.com"] : []
        )
        let registration = RegistrationCeremony(
            relyingParty: relyingParty,
            challenge: vector.registrationChallenge,
            attestation: AttestationPolicy(roots: [try WebAuthnVector.root()])
        )
        let record = try await registration.verify(vector.registration, now: 1_800_000_000)
        let assertion = AssertionCeremony(
            relyingParty: relyingParty,
            challenge: vector.assertionChallenge,
            knowsUser: true
        )
        #expect(try assertion.verify(vector.assertion, of: record, userHandle: []).counter == .plausible)
        return record
    }

    @Test("register and sign in", arguments: attestations.keys.sorted())
    func vector(_ name: String) async throws {
        let record = try await Self.verify(try WebAuthnVector(name), name)
        #expect(record.attestation == Self.attestations[name])
    }

    @Test("of other algorithms are refused", arguments: ["packed-es384", "packed-es512", "packed-ed448"])
    func otherAlgorithm(_ name: String) async throws {
        let vector = try WebAuthnVector(name)
        await #expect(throws: PasskeyError.unsupportedAlgorithm) { _ = try await Self.verify(vector, name) }
    }

    @Test("in a frame are refused where no frame is expected", arguments: ["none-es256-crossOrigin"])
    func frame(_ name: String) async throws {
        let vector = try WebAuthnVector(name)
        let relyingParty = RelyingParty(id: "example.org", origins: ["https://example.org"])
        let ceremony = RegistrationCeremony(relyingParty: relyingParty, challenge: vector.registrationChallenge)
        await #expect(throws: PasskeyError.crossOrigin) {
            _ = try await ceremony.verify(vector.registration, now: 1_800_000_000)
        }
    }

    @Test("with a certificate are unverified without its root, and after it expired")
    func roots() async throws {
        let vector = try WebAuthnVector("packed-es256")
        let relyingParty = RelyingParty(id: "example.org", origins: ["https://example.org"])
        for (roots, now, attestation) in [
            ([], 1_800_000_000, .unverified), ([try WebAuthnVector.root()], 1_800_000_000, .certified),
            ([try WebAuthnVector.root()], 1_600_000_000, .unverified),
            ([try WebAuthnVector.root()], 40_000_000_000, .unverified),
        ] as [([AttestationPolicy.Root], Int64, Attestation)] {
            let ceremony = RegistrationCeremony(
                relyingParty: relyingParty,
                challenge: vector.registrationChallenge,
                attestation: AttestationPolicy(roots: roots)
            )
            #expect(try await ceremony.verify(vector.registration, now: now).attestation == attestation)
        }
    }

    @Test("T-E37: with two certificates of one subject are unverified: nobody tries in which order they lead to a root")
    func ambiguousChain() async throws {
        let vector = try WebAuthnVector("packed-es256")
        let object = try CBOR(vector.registration.attestationObject)
        guard case .map(let members) = object else { throw PasskeyError.malformedAttestationObject }
        let changed = members.map { member -> CBOR.Entry in
            guard member.key == "attStmt", case .map(let statement) = member.value else { return member }
            let doubled = statement.map { part -> CBOR.Entry in
                guard part.key == "x5c", case .array(let chain) = part.value, var leaf = chain.first?.bytes else {
                    return part
                }
                // Another signature.
                leaf[leaf.count - 1] ^= 1
                return CBOR.Entry(key: part.key, value: .array(chain + [.bytes(leaf)]))
            }
            return CBOR.Entry(key: member.key, value: .map(doubled))
        }
        let ceremony = RegistrationCeremony(
            relyingParty: RelyingParty(id: "example.org", origins: ["https://example.org"]),
            challenge: vector.registrationChallenge,
            attestation: AttestationPolicy(roots: [try WebAuthnVector.root()])
        )
        let registration = RegistrationResponse(
            id: vector.registration.id,
            clientData: vector.registration.clientData,
            attestationObject: CBOR.map(changed).encoded
        )
        #expect(try await ceremony.verify(registration, now: 1_800_000_000).attestation == .unverified)
        #expect(try await ceremony.verify(vector.registration, now: 1_800_000_000).attestation == .certified)
    }

    @Test("are all tested")
    func all() throws {
        #expect(
            try WebAuthnVector.names()
                == Set(Self.attestations.keys).union(["packed-es384", "packed-es512", "packed-ed448"])
        )
    }
}
