import Passkeys
import Projects

extension Setting {
    /// The path of the settings of passkeys, which are also a resource of their own.
    package static let passkeyConfig = "passkeyConfig"

    /// Firebase's `passkeyConfig`, and what it lacks: `rpName`, `userVerification`, `refuseClonedCredentials`.
    package static let passkeys: [Setting] = [
        text(
            "\(passkeyConfig).rpId",
            \.passkeys.relyingPartyID,
            TextRule("be a domain in lowercase, without scheme and port", PasskeySettings.isRelyingPartyID)
        ),
        texts(
            "\(passkeyConfig).expectedOrigins",
            \.passkeys.origins,
            atMost: 100,
            TextRule(
                "list https origins, http origins of this machine, or android:apk-key-hash: origins, without a path",
                PasskeySettings.isOrigin
            )
        ),
        text(
            "\(passkeyConfig).rpName",
            \.passkeys.relyingPartyName,
            TextRule("have at most 64 characters") { $0.count <= 64 && !$0.utf8.contains(0) }
        ),
        choice("\(passkeyConfig).userVerification", \.passkeys.userVerification),
        flag("\(passkeyConfig).refuseClonedCredentials", \.passkeys.refusesClones),
    ]
}
