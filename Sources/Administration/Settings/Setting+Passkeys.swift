import Passkeys
import Projects
import Text

extension Setting {
    /// The path of the settings of passkeys, which are also a resource of their own.
    package static let passkeyConfig = "passkeyConfig"

    /// Firebase's `passkeyConfig`, and what it lacks: the members from `rpName` on.
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
        flag("\(passkeyConfig).secondFactor", \.passkeys.isSecondFactor),
        flag("\(passkeyConfig).refuseClonedCredentials", \.passkeys.refusesClones),
        choice("\(passkeyConfig).attestation", \.passkeys.attestation),
        texts(
            "\(passkeyConfig).attestationRoots",
            \.passkeys.attestationRoots,
            atMost: 50,
            TextRule("list X.509 certificates in PEM, one in each text") {
                $0.utf8.count <= 16_384 && AttestationPolicy.Root(pem: $0) != nil
            }
        ),
        text(
            "\(passkeyConfig).managementUrl",
            \.passkeys.managementURL,
            TextRule("be an https URL") { $0.utf8.count <= 2048 && URLParts($0)?.scheme == "https" }
        ),
        text(
            "\(passkeyConfig).appleTeamId",
            \.passkeys.appleTeamID,
            TextRule("be ten letters and digits, as App Store Connect shows it") {
                $0.wholeMatch(of: /[A-Z0-9]{10}/) != nil
            }
        ),
    ]
}
