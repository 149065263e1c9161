/// A key of a back end's service account: its private half signs for the project's Admin SDK.
package struct ServiceAccountKey: Sendable, Hashable {
    /// 40 hexadecimal digits, the `private_key_id` of the account's file.
    package var id: String
    /// `client_email`: the issuer of everything that the account signs.
    package var email: String
    package var project: ProjectID
    package var scopes: Set<AdminScope>
    /// `SubjectPublicKeyInfo` in DER, of an RSA key.
    package var publicKey: [UInt8]
    /// Seconds since 1970; nil if it does not expire.
    package var expiresAt: Int64?

    package init(
        id: String,
        email: String,
        project: ProjectID,
        scopes: Set<AdminScope>,
        publicKey: [UInt8],
        expiresAt: Int64? = nil
    ) {
        self.id = id
        self.email = email
        self.project = project
        self.scopes = scopes
        self.publicKey = publicKey
        self.expiresAt = expiresAt
    }

    /// Whether it is valid at `now` (seconds since 1970).
    package func isCurrent(now: Int64) -> Bool { expiresAt.map { now < $0 } ?? true }

    /// The email of a service account, in Google's format.
    package static func email(name: String, project: ProjectID) -> String {
        "\(name)@\(project).iam.gserviceaccount.com"
    }

    /// A valid start of such an email: 6 to 30 of `a-z`, `0-9` and `-`, starting with a letter.
    package static func isName(_ text: String) -> Bool { ProjectID(rawValue: text) != nil }
}
