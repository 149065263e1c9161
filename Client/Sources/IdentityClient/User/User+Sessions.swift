public import Foundation

extension User {
    /// Lists the user's sessions, one for each signed-in device.
    ///
    /// Not part of Firebase.
    public func sessions() async throws(AuthError) -> [UserSession] {
        try await call("v1/accounts:listSessions", returning: SessionsResponse.self) { _ in }.sessions.map {
            UserSession(
                id: $0.sessionId,
                createdAt: Date(milliseconds: $0.createdAt) ?? .distantPast,
                lastUsedAt: Date(milliseconds: $0.lastUsedAt) ?? .distantPast,
                signInProvider: $0.signInProvider,
                userAgent: $0.userAgent,
                addressPrefix: $0.addressPrefix,
                isCurrent: $0.current
            )
        }
    }

    /// Ends one of the user's sessions.
    ///
    /// Not part of Firebase.
    ///
    /// The service refuses its tokens immediately; a back end does so after reading the revocation feed.
    ///
    /// - Throws: ``AuthErrorCode/requiresRecentLogin`` if it signed in later than this one.
    public func signOut(sessionID: UserSession.ID) async throws(AuthError) {
        let _: EmptyResponse = try await call("v1/accounts:signOut") { $0.sessionId = sessionID }
    }

    /// Ends all sessions of the user but this one.
    ///
    /// Not part of Firebase.
    ///
    /// - Throws: ``AuthErrorCode/requiresRecentLogin`` without a recent sign-in, or if another session signed in later.
    public func signOutOtherSessions() async throws(AuthError) {
        let _: EmptyResponse = try await call("v1/accounts:signOut") { $0.scope = "others" }
    }
}

/// A signed-in device of a user.
public struct UserSession: Sendable, Hashable, Identifiable {
    /// As `firebase.sid` in its ID tokens.
    public var id: String
    public var createdAt: Date
    /// To the minute.
    public var lastUsedAt: Date
    /// Such as `password` or `google.com`.
    public var signInProvider: String
    public var userAgent: String?
    /// The device's network, such as `192.0.2.0/24`.
    public var addressPrefix: String?
    /// Whether it is the session of this app.
    public var isCurrent: Bool
}

private struct SessionsResponse: Decodable, Sendable {
    var sessions: [Session]

    struct Session: Decodable, Sendable {
        var sessionId: String
        var createdAt: String
        var lastUsedAt: String
        var signInProvider: String
        var userAgent: String?
        var addressPrefix: String?
        var current: Bool
    }
}
