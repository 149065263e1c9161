package import Crypto
package import Passkeys
import Secrets
package import StrictJSON

/// An authenticator with one ES256 passkey, and the browser in front of it.
///
/// Its fields are what an honest one says; a test changes them, and what is signed changes with them.
package struct SoftwareAuthenticator: Sendable {
    /// What a browser sends after `navigator.credentials.create()`.
    package struct Created: Sendable {
        package var id: [UInt8]
        package var clientDataJSON: [UInt8]
        package var attestationObject: [UInt8]
    }

    /// What a browser sends after `navigator.credentials.get()`.
    package struct Used: Sendable {
        package var id: [UInt8]
        package var clientDataJSON: [UInt8]
        package var authenticatorData: [UInt8]
        package var signature: [UInt8]
        package var userHandle: [UInt8]?
    }

    package var key = P256.Signing.PrivateKey()
    package var id = RandomSource.system.bytes(32)
    package var userHandle: [UInt8]?
    package var relyingParty = "example.com"
    package var origin = "https://example.com"
    package var type: String?
    /// Further members of the client data.
    package var members: [JSONObject.Member] = []
    /// UP, UV, BE and BS: a passkey that is synchronized.
    package var flags: UInt8 = 0x1d
    package var signCount: UInt32 = 0
    package var aaguid = [UInt8](repeating: 0, count: 16)
    /// Instead of the key's own.
    package var publicKey: CBOR?
    package var extensions: CBOR?
    package var format = "none"
    /// Of the message that an attestation signs.
    package var statement: @Sendable (_ message: [UInt8]) -> CBOR = { _ in [:] }

    package init(userHandle: [UInt8]) { self.userHandle = userHandle }

    package func create(for challenge: [UInt8]) -> Created {
        let clientDataJSON = clientData("webauthn.create", challenge)
        let point = [UInt8](key.publicKey.x963Representation)
        let publicKey =
            publicKey ?? [1: 2, 3: -7, -1: 1, -2: .bytes(Array(point[1..<33])), -3: .bytes(Array(point[33...]))]
        let length = [UInt8(id.count >> 8), UInt8(id.count & 0xff)]
        let data = authenticatorData(0x40, aaguid + length + id + publicKey.encoded)
        let message = data + SHA256.hash(data: clientDataJSON)
        let object: CBOR = ["fmt": .text(format), "attStmt": statement(message), "authData": .bytes(data)]
        return Created(id: id, clientDataJSON: clientDataJSON, attestationObject: object.encoded)
    }

    package func use(for challenge: [UInt8]) -> Used {
        let clientDataJSON = clientData("webauthn.get", challenge)
        let data = authenticatorData(0, [])
        return Used(
            id: id,
            clientDataJSON: clientDataJSON,
            authenticatorData: data,
            signature: signature(of: data + SHA256.hash(data: clientDataJSON)),
            userHandle: userHandle
        )
    }

    package func signature(of message: [UInt8]) -> [UInt8] {
        (try? key.signature(for: message)).map { [UInt8]($0.derRepresentation) } ?? []
    }

    private func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        var json = JSONText()
        json.openObject()
        json.member("type", self.type ?? type)
        json.member("challenge", Base64URL.encode(challenge))
        json.member("origin", origin)
        for member in members { json.member(member.name, member.value) }
        json.closeObject()
        return json.bytes
    }

    private func authenticatorData(_ flag: UInt8, _ credential: [UInt8]) -> [UInt8] {
        let count = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: signCount >> $0) }
        let flags = flags | flag | (extensions == nil ? 0 : 0x80)
        return SHA256.hash(data: Array(relyingParty.utf8)) + [flags] + count + credential + (extensions?.encoded ?? [])
    }
}

extension SoftwareAuthenticator.Created {
    package func parsed() throws -> RegistrationResponse {
        guard let id = CredentialID(bytes: id) else { throw PasskeyError.unacceptableCredentialID }
        return RegistrationResponse(
            id: id,
            clientData: try ClientData(clientDataJSON),
            attestationObject: attestationObject,
            transports: ["internal", "hybrid"]
        )
    }
}

extension SoftwareAuthenticator.Used {
    package func parsed() throws -> AssertionResponse {
        guard let id = CredentialID(bytes: id) else { throw PasskeyError.unacceptableCredentialID }
        return AssertionResponse(
            id: id,
            clientData: try ClientData(clientDataJSON),
            authenticatorData: authenticatorData,
            signature: signature,
            userHandle: userHandle
        )
    }
}
