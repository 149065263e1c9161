import Domain
import Federation
import Foundation
import Projects
import Sessions
import Storage
import StrictJSON

/// The input of a blocking function, as the claims of the JWT that it receives.
struct BlockingEvent {
    var event: BlockingFunctions.Event
    var url: String
    var id: String
    var account: Account
    var signIn: SignIn
    /// Seconds since 1970.
    var issuedAt: Int64

    /// The sign-in, or the link that counts as one.
    struct SignIn: Sendable {
        var method: ProviderID
        /// The kind of the second factor that was proved.
        var secondFactor: String?
        /// The provider's other claims, a JSON object as text.
        var attributes: String?
        /// The credential of the sign-in's provider; nil without one.
        var credential: FederatedCredential?
        /// The claims of its session, which a function can add to.
        var claims: String?
    }

    /// The lifetime of the JWT in seconds.
    private static let lifetime: Int64 = 300

    /// Firebase's SDKs for functions read `ip_address`, `user_agent` and most of `user_record` without a default, so
    /// these are always present.
    ///
    /// - Parameter issuer: as in the project's ID tokens.
    func claims(_ caller: Caller, issuer: String) -> [UInt8] {
        var json = JSONText(capacity: 2048)
        json.openObject()
        json.member("iss", issuer)
        json.member("aud", caller.project.settings.blockingFunctions[audienceOf: event] ?? url)
        json.member("iat", issuedAt)
        json.member("exp", issuedAt + Self.lifetime)
        json.member("event_id", id)
        json.member("event_type", event.rawValue)
        json.member("sub", account.id.rawValue)
        json.member("sign_in_method", signIn.method.rawValue)
        json.member("ip_address", caller.address ?? "")
        json.member("user_agent", caller.userAgent ?? "")
        json.member("locale", caller.language ?? "")
        if caller.tenant != .none { json.member("tenant_id", caller.tenant.rawValue) }
        if let factor = signIn.secondFactor { json.member("sign_in_second_factor", factor) }
        if let credential = signIn.credential {
            write(credential, caller.project.settings.blockingFunctions, to: &json)
        }
        writeUserRecord(caller, to: &json)
        json.closeObject()
        return json.bytes
    }

    private func write(
        _ credential: FederatedCredential,
        _ functions: BlockingFunctions,
        to json: inout JSONText
    ) {
        json.member("raw_user_info", credential.rawUserInfo)
        if let attributes = signIn.attributes {
            json.name("sign_in_attributes")
            json.raw(attributes)
        }
        let tokens = credential.tokens
        if functions.forwardsIDToken, let token = tokens.idToken { json.member("oauth_id_token", token) }
        if functions.forwardsAccessToken {
            if let token = tokens.accessToken { json.member("oauth_access_token", token) }
            if let secret = tokens.tokenSecret { json.member("oauth_token_secret", secret) }
            if let seconds = tokens.expiresIn { json.member("oauth_expires_in", Int64(seconds)) }
        }
        if functions.forwardsRefreshToken, let token = tokens.refreshToken { json.member("oauth_refresh_token", token) }
    }

    /// The members of `users[]` under Firebase's names for functions, as in `accounts:lookup`.
    ///
    /// Contains no secrets with which the function could act as the user.
    private func writeUserRecord(_ caller: Caller, to json: inout JSONText) {
        json.openObject("user_record")
        json.member("uid", account.id.rawValue)
        if let email = account.email { json.member("email", email.canonical) }
        json.member("email_verified", account.email != nil && account.emailVerified)
        if let name = account.displayName { json.member("display_name", name) }
        if let url = account.photoURL { json.member("photo_url", url) }
        if let number = account.phoneNumber { json.member("phone_number", number) }
        json.member("disabled", account.isDisabled)
        json.name("custom_claims")
        json.raw(account.customAttributes ?? "{}")
        if caller.tenant != .none { json.member("tenant_id", caller.tenant.rawValue) }
        json.member("tokens_valid_after_time", account.validSince)
        json.openObject("metadata")
        json.member("creation_time", Self.milliseconds(account.createdAt))
        if let date = account.lastSignInAt {
            json.member("last_sign_in_time", Self.milliseconds(date))
        }
        json.closeObject()
        writeProviders(to: &json)
        writeSecondFactors(to: &json)
        json.closeObject()
    }

    /// Rounded as in `accounts:lookup`.
    private static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    private func writeProviders(to json: inout JSONText) {
        json.name("provider_data")
        json.openArray()
        for linked in account.linked {
            write(
                provider: linked.provider,
                uid: linked.subject,
                email: linked.email,
                displayName: linked.displayName,
                photoURL: linked.photoURL,
                to: &json
            )
        }
        if let number = account.phoneNumber { write(provider: .phone, uid: number, phoneNumber: number, to: &json) }
        if account.hasPassword || account.emailLinkSignIn, let email = account.email {
            write(
                provider: .password,
                uid: email.canonical,
                email: email.canonical,
                displayName: account.displayName,
                photoURL: account.photoURL,
                to: &json
            )
        }
        for passkey in account.passkeys { write(provider: .passkey, uid: passkey.id, to: &json) }
        json.closeArray()
    }

    private func writeSecondFactors(to json: inout JSONText) {
        guard !account.secondFactors.isEmpty else { return }
        json.openObject("multi_factor")
        json.name("enrolled_factors")
        json.openArray()
        for factor in account.secondFactors {
            json.openObject()
            json.member("uid", factor.id)
            json.member("factor_id", factor.isTOTP ? "totp" : "phone")
            if let name = factor.displayName { json.member("display_name", name) }
            // The SDK for Python reads the offset `Z` only since Python 3.11.
            let time = factor.enrolledAt.formatted(.iso8601).replacing("Z", with: "+00:00")
            json.member("enrollment_time", time)
            if let number = factor.phoneNumber { json.member("phone_number", number) }
            json.closeObject()
        }
        json.closeArray()
        json.closeObject()
    }

    private func write(
        provider: ProviderID,
        uid: String,
        email: String? = nil,
        displayName: String? = nil,
        photoURL: String? = nil,
        phoneNumber: String? = nil,
        to json: inout JSONText
    ) {
        json.openObject()
        json.member("provider_id", provider.rawValue)
        json.member("uid", uid)
        if let email { json.member("email", email) }
        if let displayName { json.member("display_name", displayName) }
        if let photoURL { json.member("photo_url", photoURL) }
        if let phoneNumber { json.member("phone_number", phoneNumber) }
        json.closeObject()
    }
}
