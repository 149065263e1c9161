import Foundation

/// The members of every request that an app sends; the absent ones are left out of the JSON.
struct WireRequest: Encodable, Sendable {
    var authType: String?
    var autoCreate: Bool?
    var canHandleCodeInApp: Bool?
    var captchaResp: String?
    var captchaResponse: String?
    var continueUri: String?
    var continueUrl: String?
    var customParameter: [String: String]?
    var deleteAttribute: [String]?
    var deleteProvider: [String]?
    var displayName: String?
    var email: String?
    var idToken: String?
    var identifier: String?
    var mfaEnrollmentId: String?
    var mfaPendingCredential: String?
    var newEmail: String?
    var newPassword: String?
    var oauthScope: String?
    var oobCode: String?
    var password: String?
    var pendingToken: String?
    var photoUrl: String?
    var postBody: String?
    var providerId: String?
    var redirectUri: String?
    var requestType: String?
    var requestUri: String?
    var responseType: String?
    var returnIdpCredential: Bool?
    var returnRefreshToken: Bool?
    var returnSecureToken: Bool?
    var scope: String?
    var sessionId: String?
    var tenantId: String?
    var token: String?
    var tokenType: Int?
    var totpVerificationInfo: TOTP?

    struct TOTP: Encodable, Sendable { var verificationCode: String }
}
