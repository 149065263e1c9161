import Federation
import Linking
import Projects
import Sessions
import Storage
import StrictJSON

import struct Foundation.Date

/// The input of a blocking function, as the claims of the JWT that it receives.
struct BlockingEvent {
    var event: BlockingFunctions.Event
    var url: String
    var id: String
    var account: Account
    var session: NewSession
    var method: ProviderID
    /// The credential of the sign-in's provider; nil without one.
    var credential: FederatedCredential?
    /// Seconds since 1970.
    var issuedAt: Int64

    /// The lifetime of the JWT in seconds.
    private static let lifetime: Int64 = 300

    /// - Parameter issuer: as in the project's ID tokens.
    func claims(_ caller: Caller, issuer: String) -> [UInt8] {
        var json = JSONText(capacity: 2048)
        json.openObject()
        json.member("iss", issuer)
        json.member("aud", url)
        json.member("iat", issuedAt)
        json.member("exp", issuedAt + Self.lifetime)
        json.member("event_id", id)
        json.member("event_type", event.rawValue)
        json.member("sub", account.id.rawValue)
        json.member("sign_in_method", method.rawValue)
        if let address = caller.address { json.member("ip_address", address) }
        if let agent = caller.userAgent { json.member("user_agent", agent) }
        if let language = caller.language { json.member("locale", language) }
        if caller.tenant != .none { json.member("tenant_id", caller.tenant.rawValue) }
        if let factor = session.secondFactor { json.member("sign_in_second_factor", factor.kind) }
        if let credential { write(credential, caller.project.settings.blockingFunctions, to: &json) }
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
        if let attributes = session.signInAttributes {
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

    /// Contains no secrets with which the function could act as the user.
    private func writeUserRecord(_ caller: Caller, to json: inout JSONText) {
        json.openObject("user_record")
        json.member("uid", account.id.rawValue)
        if let email = account.email {
            json.member("email", email.canonical)
            json.member("email_verified", account.emailVerified)
        }
        if let name = account.displayName { json.member("display_name", name) }
        if let url = account.photoURL { json.member("photo_url", url) }
        if let number = account.phoneNumber { json.member("phone_number", number) }
        json.member("disabled", account.isDisabled)
        if let claims = account.customAttributes {
            json.name("custom_claims")
            json.raw(claims)
        }
        if caller.tenant != .none { json.member("tenant_id", caller.tenant.rawValue) }
        json.member("tokens_valid_after_time", account.validSince)
        json.openObject("metadata")
        json.member("creation_time", Int64(account.createdAt.timeIntervalSince1970 * 1000))
        if let date = account.lastSignInAt {
            json.member("last_sign_in_time", Int64(date.timeIntervalSince1970 * 1000))
        }
        json.closeObject()
        json.name("provider_data")
        json.openArray()
        if account.hasPassword || account.emailLinkSignIn, let email = account.email {
            write(provider: .password, uid: email.canonical, email: email.canonical, to: &json)
        }
        if let number = account.phoneNumber { write(provider: .phone, uid: number, phoneNumber: number, to: &json) }
        for passkey in account.passkeys { write(provider: .passkey, uid: passkey.id, to: &json) }
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
