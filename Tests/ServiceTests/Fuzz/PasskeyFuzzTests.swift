import Crypto
import Foundation
import Passkeys
import StrictJSON
import TestKit
import Testing

@Suite("Fuzzed: passkeys")
struct PasskeyFuzzTests {
    /// A byte order mark in UTF-8.
    private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    private static let relyingParty = RelyingParty(id: "example.org", origins: ["https://example.org"])

    @Test("CBOR that is read is written to the same bytes")
    func cbor() async throws {
        try await Fuzzer(name: "cbor", rounds: 8000).run { input in
            guard let value = try? CBOR(input) else { return false }
            try hold(value.encoded == input, "has another encoding")
            return true
        }
    }

    @Test("client data is read as Foundation reads it")
    func clientData() async throws {
        let words = [
            #""type":"webauthn.get""#, #""challenge":"AAAA""#, #""origin":"https://example.org""#, "true", "null", "{}",
            #""crossOrigin":"#, #""topOrigin":"#, #"\u0000"#, "\u{feff}",
        ]
        try await Fuzzer(name: "client-data", words: words).run { input in
            guard let data = try? ClientData(input) else { return false }
            // Foundation drops a byte order mark at the start of any text or name, unless it is escaped.
            let text = input.starts(with: Self.mark) ? input[3...] : input[...]
            let escaped = text.replacing(Self.mark, with: Array(#"\ufeff"#.utf8))
            // Foundation refuses numbers that no Double holds.
            let value = try? JSONSerialization.jsonObject(with: Data(escaped))
            guard let json = value as? [String: Any] else { return true }
            try hold(json["type"] as? String == data.type, "has another type")
            try hold(json["origin"] as? String == data.origin, "has another origin")
            try hold(json["topOrigin"] as? String == data.topOrigin, "has another page around it")
            try hold(json["crossOrigin"] as? Bool ?? false == data.isCrossOrigin, "is another frame")
            try hold(data.hash == Array(SHA256.hash(data: input)), "has another hash")
            return true
        }
    }

    @Test("no registration counts as attested but the one that was")
    func registration() async throws {
        let vector = try WebAuthnVector("packed-self-es256")
        let ceremony = RegistrationCeremony(relyingParty: Self.relyingParty, challenge: vector.registrationChallenge)
        let original = try await ceremony.verify(vector.registration, now: 1_800_000_000)
        try await Fuzzer(name: "attestation-object").run { input in
            guard let authData = try? CBOR(input)["authData"]?.bytes,
                let id = try? AuthenticatorData(authData).credential?.id, let id = CredentialID(bytes: id)
            else { return false }
            let response = RegistrationResponse(
                id: id,
                clientData: vector.registration.clientData,
                attestationObject: input
            )
            guard let record = try? await ceremony.verify(response, now: 1_800_000_000) else { return true }
            try hold([.none, .unverified].contains(record.attestation) || record == original, "is attested")
            return true
        }
    }

    @Test("no assertion is accepted but the one that was signed, to the byte")
    func assertion() async throws {
        let vector = try WebAuthnVector("packed-self-es256")
        let registration = RegistrationCeremony(
            relyingParty: Self.relyingParty,
            challenge: vector.registrationChallenge
        )
        let record = try await registration.verify(vector.registration, now: 1_800_000_000)
        let ceremony = AssertionCeremony(
            relyingParty: Self.relyingParty,
            challenge: vector.assertionChallenge,
            knowsUser: true
        )
        let original = vector.assertion
        try await Fuzzer(name: "assertion").run { input in
            let asData = AssertionResponse(
                id: original.id,
                clientData: original.clientData,
                authenticatorData: input,
                signature: original.signature,
                userHandle: nil
            )
            let asSignature = AssertionResponse(
                id: original.id,
                clientData: original.clientData,
                authenticatorData: original.authenticatorData,
                signature: input,
                userHandle: nil
            )
            let isData = (try? ceremony.verify(asData, of: record, userHandle: [])) != nil
            let isSignature = (try? ceremony.verify(asSignature, of: record, userHandle: [])) != nil
            try hold(isData == (input == original.authenticatorData), "is accepted as authenticator data")
            try hold(isSignature == (input == original.signature), "is accepted as a signature")
            return isData || isSignature || (try? AuthenticatorData(input)) != nil
        }
    }
}
