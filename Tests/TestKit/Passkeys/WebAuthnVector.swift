package import Passkeys

/// A credential of Web Authentication Level 3, §16 (`Tests/Passkeys/webauthn-level-3.txt`).
package struct WebAuthnVector: Sendable {
    package let registrationChallenge: Challenge
    package let registration: RegistrationResponse
    package let assertionChallenge: Challenge
    package let assertion: AssertionResponse

    package struct Missing: Error {}

    /// - Parameter name: the end of the section's anchor, `none-es256`.
    package init(_ name: String) throws {
        guard let block = try Self.blocks()[name] else { throw Missing() }
        func part(_ name: String) throws -> [UInt8] {
            guard let bytes = block[name] else { throw Missing() }
            return bytes
        }
        let object = try part("registration.attestationObject")
        guard let data = try CBOR(object)["authData"]?.bytes,
            let credential = try AuthenticatorData(data).credential, let id = CredentialID(bytes: credential.id)
        else { throw Missing() }
        registrationChallenge = Challenge(bytes: try part("registration.challenge"))
        registration = RegistrationResponse(
            id: id,
            clientData: try ClientData(part("registration.clientDataJSON")),
            attestationObject: object
        )
        assertionChallenge = Challenge(bytes: try part("authentication.challenge"))
        assertion = AssertionResponse(
            id: id,
            clientData: try ClientData(part("authentication.clientDataJSON")),
            authenticatorData: try part("authentication.authenticatorData"),
            signature: try part("authentication.signature"),
            userHandle: nil
        )
    }

    /// The certificate above all attestation certificates.
    package static func root() throws -> AttestationPolicy.Root {
        let certificate = try blocks()["attestation-root-cert"]?["certificate"]
        guard let certificate, let root = AttestationPolicy.Root(der: certificate) else { throw Missing() }
        return root
    }

    package static func names() throws -> Set<String> { Set(try blocks().keys).subtracting(["attestation-root-cert"]) }

    private static func blocks() throws -> [String: [String: [UInt8]]] {
        var blocks: [String: [String: [UInt8]]] = [:]
        var block = ""
        for line in try Repository.text("Tests/Passkeys/webauthn-level-3.txt").split(separator: "\n") {
            let words = line.split(separator: " ").map { String($0) }
            switch words.count {
            case 1: block = words[0]
            case 2: blocks[block, default: [:]][words[0]] = bytes(words[1])
            default: break  // a comment
            }
        }
        return blocks
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
