package import Secrets

/// An app's project: accounts, providers and settings of one project never meet those of another.
package struct Project: Sendable {
    package var id: ProjectID
    package var number: ProjectNumber
    package var settings: ProjectSettings
    /// The signer key of the project's password hashes (Firebase's modified scrypt), 64 bytes, base64.
    package var passwordSignerKey: Secret

    package init(id: ProjectID, number: ProjectNumber, settings: ProjectSettings, passwordSignerKey: Secret) {
        self.id = id
        self.number = number
        self.settings = settings
        self.passwordSignerKey = passwordSignerKey
    }
}
