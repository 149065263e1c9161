/// What a client sends after a passkey was used (WebAuthn §5.2.2).
package struct AssertionResponse: Sendable {
    package let id: CredentialID
    package let clientData: ClientData
    package let authenticatorData: [UInt8]
    package let signature: [UInt8]
    /// Which account the authenticator means; discoverable credentials always have it.
    package let userHandle: [UInt8]?

    package init(
        id: CredentialID,
        clientData: ClientData,
        authenticatorData: [UInt8],
        signature: [UInt8],
        userHandle: [UInt8]?
    ) {
        self.id = id
        self.clientData = clientData
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }
}
