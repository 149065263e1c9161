/// What a client sends after it created a passkey (WebAuthn §5.2.1).
package struct RegistrationResponse: Sendable {
    package let id: CredentialID
    package let clientData: ClientData
    package let attestationObject: [UInt8]
    package let transports: [String]

    package init(id: CredentialID, clientData: ClientData, attestationObject: [UInt8], transports: [String] = []) {
        self.id = id
        self.clientData = clientData
        self.attestationObject = attestationObject
        self.transports = transports
    }
}
