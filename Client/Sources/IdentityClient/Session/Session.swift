import Foundation

/// A signed-in user's tokens and profile.
struct Session: Codable, Sendable, Equatable {
    /// Names the sign-in; a refresh keeps it.
    var id = UUID()
    var refreshToken: String
    var idToken: String
    /// How long the ID token is valid from `receivedAt` on, in seconds.
    var lifetime: Int
    /// Before the request was sent, so that a slow response cannot prolong the token.
    var receivedAt: Moment
    var profile: Profile

    /// Whether the ID token is valid for the given time; false if the machine has restarted since it was received.
    func isValid(for duration: Duration) -> Bool {
        guard let elapsed = receivedAt.elapsed else { return false }
        return elapsed + duration < .seconds(lifetime)
    }

    /// How long before its end an ID token is renewed.
    static let renewal = Duration.seconds(300)
}

/// What is known about a user.
struct Profile: Codable, Sendable, Hashable {
    var uid: String
    var email: String?
    var isEmailVerified = false
    var displayName: String?
    var photoURL: URL?
    var phoneNumber: String?
    var hasCustomSignIn = false
    var tenantID: String?
    var creationDate: Date?
    var lastSignInDate: Date?
    var providers: [UserInfo] = []
}

extension Profile {
    init(_ user: LookupResponse.User) {
        self.init(
            uid: user.localId,
            email: user.email,
            isEmailVerified: user.emailVerified ?? false,
            displayName: user.displayName,
            photoURL: user.photoUrl.flatMap { URL(string: $0) },
            phoneNumber: user.phoneNumber,
            hasCustomSignIn: user.customAuth ?? false,
            tenantID: user.tenantId,
            creationDate: Date(milliseconds: user.createdAt),
            lastSignInDate: Date(milliseconds: user.lastLoginAt),
            providers: (user.providerUserInfo ?? []).map {
                UserInfo(
                    providerID: $0.providerId,
                    uid: $0.rawId,
                    email: $0.email,
                    displayName: $0.displayName,
                    photoURL: $0.photoUrl.flatMap { URL(string: $0) },
                    phoneNumber: $0.phoneNumber
                )
            }
        )
    }
}

extension Date {
    /// Reads milliseconds since 1970, as the API writes them.
    init?(milliseconds text: String?) {
        guard let milliseconds = text.flatMap({ Double($0) }) else { return nil }
        self.init(timeIntervalSince1970: milliseconds / 1000)
    }
}
