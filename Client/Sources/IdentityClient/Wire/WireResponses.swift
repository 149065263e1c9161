import Foundation

/// A response without members that matter.
struct EmptyResponse: Decodable, Sendable {}

/// The response of every operation that can return tokens.
struct SignInResponse: Decodable, Sendable {
    var email: String?
    var errorMessage: String?
    var expiresIn: String?
    var idToken: String?
    var isNewUser: Bool?
    var localId: String?
    var mfaInfo: [SecondFactor]?
    var mfaPendingCredential: String?
    var needConfirmation: Bool?
    var oauthAccessToken: String?
    var oauthExpireIn: Int?
    var oauthIdToken: String?
    var oauthRefreshToken: String?
    var oauthTokenSecret: String?
    var pendingToken: String?
    var providerId: String?
    var rawUserInfo: String?
    var refreshToken: String?
    var screenName: String?
    var verifiedProvider: [String]?

    struct SecondFactor: Decodable, Sendable {
        var mfaEnrollmentId: String
        var displayName: String?
        var phoneInfo: String?
        var totpInfo: EmptyResponse?
    }
}

/// The response of `v1/token`.
struct TokenResponse: Decodable, Sendable {
    var id_token: String
    var refresh_token: String
    var expires_in: String
    var user_id: String
}

/// The response of `accounts:lookup`.
struct LookupResponse: Decodable, Sendable {
    var users: [User]?

    struct User: Decodable, Sendable {
        var localId: String
        var email: String?
        var emailVerified: Bool?
        var displayName: String?
        var photoUrl: String?
        var phoneNumber: String?
        var createdAt: String?
        var lastLoginAt: String?
        var customAuth: Bool?
        var tenantId: String?
        var providerUserInfo: [Provider]?
    }

    struct Provider: Decodable, Sendable {
        var providerId: String
        var rawId: String
        var email: String?
        var displayName: String?
        var photoUrl: String?
        var phoneNumber: String?
    }
}

/// The response of `accounts:createAuthUri`.
struct AuthURIResponse: Decodable, Sendable {
    var authUri: String?
    var sessionId: String
    var signinMethods: [String]?
}

/// The response of `accounts:sendOobCode`.
struct OOBResponse: Decodable, Sendable {
    var email: String?
}

/// An error, as every operation returns it.
struct ErrorResponse: Decodable, Sendable {
    var error: Details

    struct Details: Decodable, Sendable {
        var message: String
    }
}
