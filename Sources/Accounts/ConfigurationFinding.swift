package import Domain
package import Projects

/// An error or a warning about a project's configuration.
package struct ConfigurationFinding: Sendable, Hashable {
    package var id: ID
    package var project: ProjectID
    /// Nil for a finding about the project itself.
    package var provider: ProviderID?
    /// The problem and the fix.
    package var text: String

    package var level: Level { id.level }

    package enum Level: String, Sendable, Hashable {
        /// Users cannot sign in, or not with this method.
        case error
        /// It works, but should be reviewed.
        case warning
    }

    /// Stable names for scripts that filter findings, in the order of a report.
    package enum ID: String, Sendable, Hashable, CaseIterable {
        case providerInvalid = "provider-invalid"
        case noSignInMethod = "no-sign-in-method"
        case issuerUnknown = "issuer-unknown"
        case oauthURLMissing = "oauth-url-missing"
        case captchaVerifierMissing = "captcha-verifier-missing"
        case appleMissing = "apple-missing"
        case clientSecretMissing = "client-secret-missing"
        case clientSecretExpires = "client-secret-expires"
        case revocationImpossible = "revocation-impossible"
        case noticesUnreachable = "notices-unreachable"
        case codeUnbound = "code-unbound"
        case emailAlwaysTrusted = "email-always-trusted"
        case clientIDShared = "client-id-shared"
        case emailTrustNotStrict = "email-trust-not-strict"
        case enumerationPossible = "enumeration-possible"
        case duplicateEmails = "duplicate-emails"
        case lastMethodRemovable = "last-method-removable"
        case recentSignInUnneeded = "recent-sign-in-unneeded"
        case continueURLsByHost = "continue-urls-by-host"
        case publicURLMissing = "public-url-missing"
        case mailServerMissing = "mail-server-missing"
        case smsProviderMissing = "sms-provider-missing"
        case smsRegionsOpen = "sms-regions-open"
        case loopbackDomain = "loopback-domain"
        case publicSuffixDomain = "public-suffix-domain"
        case leakedPasswordsUnknown = "leaked-passwords-unknown"
        case captchaUnused = "captcha-unused"
        case passkeyHostForeign = "passkey-host-foreign"
        case rateLimitsOff = "rate-limits-off"

        package var level: Level {
            switch self {
            case .providerInvalid, .noSignInMethod, .issuerUnknown, .captchaVerifierMissing, .oauthURLMissing: .error
            default: .warning
            }
        }
    }
}
