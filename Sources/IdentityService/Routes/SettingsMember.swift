import Accounts
import Linking
import Projects

/// One member of `projects/{p}/config`: its path, and how a request sets it.
package struct SettingsMember: Sendable {
    package let path: String
    let set: @Sendable (WireObject, String, inout ProjectSettings) throws -> Void

    /// Sets the member from a config object; absent values become the default.
    func apply(_ config: WireObject, to settings: inout ProjectSettings) throws {
        var object = config
        var names = path.split(separator: ".").map { String($0) }
        let last = names.removeLast()
        for name in names { object = try object.object(name) ?? WireObject() }
        try set(object, last, &settings)
    }

    /// All members: Firebase's where it has them, others under `identity`.
    package static let all =
        general + secondFactors + mail + pages + phone + delivery + rateLimits + blockingFunctions + tenants

    /// The path of ``ProjectSettings/tokenIssuer``.
    static let tokenIssuer = "identity.tokenIssuer"

    private static let general: [SettingsMember] = [
        domains("authorizedDomains"),
        flag("signIn.email.enabled", \.passwordSignIn),
        SettingsMember(path: "signIn.email.passwordRequired") { object, name, settings in
            settings.allowsEmailLink = try object.bool(name) == false
        },
        number("signIn.hashConfig.rounds", \.passwordCost.rounds, in: PasswordCost.allowedRounds),
        number("signIn.hashConfig.memoryCost", \.passwordCost.memoryCost, in: PasswordCost.allowedMemoryCosts),
        flag("signIn.anonymous.enabled", \.anonymousSignIn),
        flag("signIn.allowDuplicateEmails", \.allowDuplicateEmails),
        flag("client.permissions.disabledUserSignup", \.disabledUserSignup),
        flag("client.permissions.disabledUserDeletion", \.disabledUserDeletion),
        flag("emailPrivacyConfig.enableImprovedEmailPrivacy", \.emailEnumerationProtection),
        SettingsMember(path: "passwordPolicyConfig.passwordPolicyEnforcementState") { object, name, settings in
            settings.passwordPolicy.isEnforced = try object.choice(name, of: ["OFF", "ENFORCE"]) == "ENFORCE"
        },
        flag("passwordPolicyConfig.forceUpgradeOnSignin", \.passwordPolicy.forcesUpgradeAtSignIn),
        SettingsMember(path: "passwordPolicyConfig.passwordPolicyVersions") { object, name, settings in
            try settings.passwordPolicy.setStrength(object.objects(name), path: "passwordPolicyConfig.\(name)")
        },
        seconds("identity.recentSignInSeconds", \.recentSignInSeconds, in: 0...31_536_000),
        seconds("identity.sessionCookieSignInSeconds", \.sessionCookieSignInSeconds, in: 0...31_536_000),
        SettingsMember(path: "identity.continueURLs") { object, name, settings in
            let urls = try object.has(name) ? object.strings(name) : []
            guard urls.count <= 100, urls.allSatisfy({ ContinueURI($0)?.isRegistrable ?? false }) else {
                throw WireError(
                    "INVALID_CONFIG",
                    "identity.continueURLs must list https URLs, or http URLs of this machine, without a query."
                )
            }
            settings.continueURLs = urls
        },
        SettingsMember(path: "identity.methodChanges") { object, name, settings in
            let policy = try object.choice(name, of: MethodChangePolicy.allCases.map(\.rawValue)).flatMap(
                MethodChangePolicy.init(rawValue:)
            )
            settings.methodChanges = policy ?? ProjectSettings().methodChanges
        },
        flag("identity.keepLastSignInMethod", \.keepLastSignInMethod),
        choice("identity.emailTrust", \.strictEmailTrust, off: "default", on: "strict"),
        SettingsMember(path: "identity.linking") { object, name, settings in
            let mode = try object.choice(name, of: LinkingMode.allCases.map(\.rawValue)).flatMap(
                LinkingMode.init(rawValue:)
            )
            settings.linking = mode ?? ProjectSettings().linking
        },
        SettingsMember(path: tokenIssuer) { object, name, settings in
            let issuer = try object.choice(name, of: TokenIssuer.allCases.map(\.rawValue)).flatMap(
                TokenIssuer.init(rawValue:)
            )
            settings.tokenIssuer = issuer ?? ProjectSettings().tokenIssuer
        },
        choice("identity.signingAlgorithm", \.signWithES256, off: "RS256", on: "ES256"),
        flag("identity.rotateRefreshTokens", \.rotateRefreshTokens),
        number("identity.sessionIdleDays", \.sessionIdleDays, in: 0...3650),
        flag("identity.deleteAccountsDeletedAtProvider", \.deleteAccountsDeletedAtProvider),
        flag("identity.googleLoader", \.googleLoader),
        flag("identity.signInPage", \.signInPage),
    ]

    typealias Path<Value> = any WritableKeyPath<ProjectSettings, Value> & Sendable

    static func flag(_ path: String, _ value: Path<Bool>) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            settings[keyPath: value] = try object.bool(name) ?? ProjectSettings()[keyPath: value]
        }
    }

    private static func seconds(_ path: String, _ value: Path<Int64>, in range: ClosedRange<Int64>) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            let seconds = try object.int64(name) ?? ProjectSettings()[keyPath: value]
            guard range.contains(seconds) else {
                throw WireError(
                    "INVALID_CONFIG",
                    "\(path) must be between \(range.lowerBound) and \(range.upperBound) seconds."
                )
            }
            settings[keyPath: value] = seconds
        }
    }

    private static func number(_ path: String, _ value: Path<Int>, in range: ClosedRange<Int64>) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            let number = try object.int64(name) ?? Int64(ProjectSettings()[keyPath: value])
            guard range.contains(number) else {
                throw WireError(
                    "INVALID_CONFIG",
                    "\(path) must be between \(range.lowerBound) and \(range.upperBound)."
                )
            }
            settings[keyPath: value] = Int(number)
        }
    }

    private static func choice(_ path: String, _ value: Path<Bool>, off: String, on: String) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            settings[keyPath: value] = try object.choice(name, of: [off, on]) == on
        }
    }

    private static func domains(_ path: String) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            let domains = try object.has(name) ? object.strings(name) : ProjectSettings().authorizedDomains
            guard domains.count <= 1000, domains.allSatisfy(isDomain) else {
                throw WireError("INVALID_CONFIG", "\(path) must list host names, without scheme and port.")
            }
            settings.authorizedDomains = domains.map { $0.lowercased() }
        }
    }

    private static func isDomain(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: "-.[:]".utf8.contains(byte)
                }
            }
    }
}
