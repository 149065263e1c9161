public import Foundation

/// A user who signed in.
///
/// A handle: its properties are those of the session now, and change after ``reload()`` or a link. After the user has
/// signed out, they keep the values that they had when you got the handle.
public struct User: Sendable, Identifiable, Equatable {
    /// The account's ID at the service.
    public let uid: String
    let auth: Auth
    private let snapshot: Profile

    init(_ profile: Profile, auth: Auth) {
        self.uid = profile.uid
        self.snapshot = profile
        self.auth = auth
    }

    private var profile: Profile {
        guard let profile = auth.keeper.session?.profile, profile.uid == uid else { return snapshot }
        return profile
    }

    public var id: String { uid }
    public var email: String? { profile.email }
    public var isEmailVerified: Bool { profile.isEmailVerified }
    public var displayName: String? { profile.displayName }
    public var photoURL: URL? { profile.photoURL }
    /// In E.164 format.
    public var phoneNumber: String? { profile.phoneNumber }
    public var tenantID: String? { profile.tenantID }
    /// The linked sign-in methods, `password` included.
    public var providerData: [UserInfo] { profile.providers }
    public var creationDate: Date? { profile.creationDate }
    public var lastSignInDate: Date? { profile.lastSignInDate }
    /// Whether the account has no sign-in method: it is lost when its last session ends.
    public var isAnonymous: Bool {
        profile.providers.isEmpty && profile.email == nil && !profile.hasCustomSignIn
    }

    /// Whether both are the same user, with the same properties at the time when you got the handles.
    public static func == (one: User, other: User) -> Bool { one.snapshot == other.snapshot && one.auth === other.auth }
}

/// A user's identity at one provider.
public struct UserInfo: Codable, Sendable, Hashable {
    /// Such as `google.com`, `password` or `phone`.
    public var providerID: String
    /// The user's ID at the provider.
    public var uid: String
    public var email: String?
    public var displayName: String?
    public var photoURL: URL?
    public var phoneNumber: String?
}
