import Accounts
package import Domain
import Foundation
package import Passwords
package import Projects
import Secrets
import Sessions
import Text

/// The reader of an account's members.
package enum AccountView: Sendable {
    /// The account's own user.
    case client
    case admin
    /// An admin's export, with the password's hash.
    case export(PasswordHash?)
}

extension JSONWriter {
    /// The members of a user object (`users[]`).
    package mutating func account(_ account: Account, for view: AccountView, in tenant: TenantID = .none) {
        member("localId", account.id.rawValue)
        member("email", account.email?.canonical)
        profile(account.profile, Profile.ofAccounts)
        if account.email != nil { member("emailVerified", account.emailVerified) }
        password(of: account, for: view)
        member("passwordUpdatedAt", number: account.passwordUpdatedAt?.milliseconds)
        providers(of: account)
        secondFactors(account.secondFactors)
        if case .export = view { passkeys(of: account, inFull: true) } else { passkeys(of: account) }
        member("validSince", int64: account.validSince > 0 ? account.validSince : nil)
        member("disabled", account.disabled)
        member("createdAt", int64: account.createdAt.milliseconds)
        member("lastLoginAt", int64: account.lastSignInAt?.milliseconds)
        member("lastRefreshAt", account.lastRefreshAt?.wireText)
        if case .client = view {} else { member("customAttributes", account.customAttributes) }
        member("customAuth", ifTrue: account.customAuth)
        member("emailLinkSignin", ifTrue: account.emailLinkSignIn)
        member("phoneNumber", account.phoneNumber)
        member("initialEmail", account.initialEmail)
        self.tenant(tenant)
    }

    /// `tenantId`; absent in the project itself.
    mutating func tenant(_ tenant: TenantID) {
        if tenant != .none { member("tenantId", tenant.rawValue) }
    }

    /// `passwordHash` for every reader except an export, if there is a password.
    mutating func redactedPassword(of account: Account) {
        member("passwordHash", account.hasPassword ? "UkVEQUNURUQ=" : nil)
    }

    private mutating func password(of account: Account, for view: AccountView) {
        guard case .export(let hash?) = view else { return redactedPassword(of: account) }
        guard hash.parameters != nil else {
            // As in Firebase: the project's parameters, which a reader would assume, do not describe the hash.
            member("passwordHash", "")
            member("salt", "")
            return
        }
        member("passwordHash", Self.webSafeBase64(hash.hash))
        member("salt", Self.webSafeBase64(hash.salt))
        member("version", number: 0)
    }

    /// Base64 with `-` and `_`, padded: the form that Firebase's tools expect in a download.
    private static func webSafeBase64(_ bytes: [UInt8]) -> String {
        Base64URL.encode(bytes) + String(repeating: "=", count: (3 - bytes.count % 3) % 3)
    }

    /// `providerUserInfo`: identity providers, then phone, with the password last; absent if there are none.
    mutating func providers(of account: Account) {
        let listsPassword = account.email != nil && (account.hasPassword || account.emailLinkSignIn)
        guard !account.linked.isEmpty || account.phoneNumber != nil || listsPassword else { return }
        array("providerUserInfo") { json in
            for credential in account.linked { json.object { $0.credential(credential) } }
            if let phoneNumber = account.phoneNumber {
                json.object { json in
                    json.member("providerId", ProviderID.phone.rawValue)
                    json.member("rawId", phoneNumber)
                    json.member("phoneNumber", phoneNumber)
                }
            }
            guard listsPassword, let email = account.email?.canonical else { return }
            json.object { json in
                json.member("providerId", ProviderID.password.rawValue)
                json.member("displayName", account.displayName)
                json.member("photoUrl", account.photoURL)
                json.member("federatedId", email)
                json.member("email", email)
                json.member("rawId", email)
            }
        }
    }

    private mutating func credential(_ credential: LinkedCredential) {
        member("providerId", credential.provider.rawValue)
        profile(credential.profile, Profile.ofIdentities)
        member("federatedId", credential.subject)
        member("email", credential.email)
        member("rawId", credential.subject)
    }

    package mutating func profile(_ profile: Profile, _ fields: [Profile.Field]) {
        for field in fields { member(field.wireName, profile[field]) }
    }

    /// The three members of a session's tokens.
    mutating func tokens(_ tokens: IssuedTokens) {
        member("idToken", tokens.idToken)
        member("refreshToken", tokens.refreshToken.reveal())
        member("expiresIn", int64: tokens.expiresIn)
    }

    mutating func kind(_ name: String) { member("kind", "identitytoolkit#\(name)") }

    /// `sessions[]`; times in milliseconds since 1970, as those of accounts.
    mutating func sessions(_ sessions: [SessionSummary]) {
        array("sessions") { json in
            for session in sessions {
                json.object { json in
                    json.member("sessionId", session.id.rawValue)
                    json.member("createdAt", int64: session.createdAt.milliseconds)
                    json.member("lastUsedAt", int64: session.lastUsedAt.milliseconds)
                    json.member("signInProvider", session.signInProvider.rawValue)
                    json.member("userAgent", session.userAgent)
                    json.member("addressPrefix", session.addressPrefix)
                    json.member("clientId", session.client)
                    json.member("current", session.current)
                }
            }
        }
    }
}

extension Date {
    /// Since 1970.
    package var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// RFC 3339 in UTC with milliseconds.
    package var wireText: String {
        let rest = (milliseconds % 1000 + 1000) % 1000
        return UTCTime(seconds: (milliseconds - rest) / 1000).text(fraction: Int(rest), 3)
    }

    /// RFC 3339 in UTC with microseconds.
    var microsecondText: String {
        let microseconds = Int64((timeIntervalSince1970 * 1_000_000).rounded())
        let rest = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        return UTCTime(seconds: (microseconds - rest) / 1_000_000).text(fraction: Int(rest), 6)
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
