/// A key of a back end's service account: its private half signs for the project's Admin SDK.
@dynamicMemberLookup
package struct ServiceAccountKey: Sendable, Hashable {
    /// Its ID is 40 hexadecimal digits, the `private_key_id` of the account's file; its name begins the email.
    package var credential: AdminCredential
    /// `client_email`: the issuer of everything that the account signs.
    package var email: String
    /// `SubjectPublicKeyInfo` in DER, of an RSA key.
    package var publicKey: [UInt8]

    package init(credential: AdminCredential, email: String, publicKey: [UInt8]) {
        (self.credential, self.email, self.publicKey) = (credential, email, publicKey)
    }

    package init(
        id: String,
        name: String,
        project: ProjectID,
        scopes: Set<AdminScope>,
        publicKey: [UInt8],
        expiresAt: Int64? = nil
    ) {
        self.init(
            credential: AdminCredential(id: id, name: name, project: project, scopes: scopes, expiresAt: expiresAt),
            // In Google's format.
            email: "\(name)@\(project).iam.gserviceaccount.com",
            publicKey: publicKey
        )
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<AdminCredential, Value>) -> Value {
        get { credential[keyPath: path] }
        set { credential[keyPath: path] = newValue }
    }

    /// A valid start of an email: 6 to 30 of `a-z`, `0-9` and `-`, starting with a letter.
    package static func isName(_ text: String) -> Bool { ProjectID(rawValue: text) != nil }
}
