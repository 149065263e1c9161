/// A new credential with the statement about its authenticator (WebAuthn §6.5).
struct AttestationObject {
    /// A name of IANA's registry: `none`, `packed`.
    let format: String
    let statement: CBOR
    let authenticatorData: AuthenticatorData

    /// - Throws: `malformedAttestationObject`, or `malformedAuthenticatorData`.
    init(_ bytes: [UInt8]) throws(PasskeyError) {
        guard let object = try? CBOR(bytes), let format = object["fmt"]?.text, let statement = object["attStmt"],
            let authenticatorData = object["authData"]?.bytes
        else { throw .malformedAttestationObject }
        self.format = format
        self.statement = statement
        self.authenticatorData = try AuthenticatorData(authenticatorData)
    }
}
