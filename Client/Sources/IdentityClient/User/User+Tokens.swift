public import Foundation
import IdentityCore

extension User {
    /// Returns an ID token for a back end's `Authorization: Bearer` header, valid for at least five minutes.
    ///
    /// Calls from many tasks, and from processes that share the store, cause one refresh. While the service is
    /// unavailable, returns the present token as long as it is valid.
    /// - Parameter isForced: whether to get a new token even if the present one is valid, for example after a back end
    ///   changed custom claims.
    /// - Throws: ``AuthError/unavailable(_:)``, with the session continuing; ``AuthError/sessionEnded(_:)`` only after
    ///   the service has refused the stored refresh token.
    public func idToken(forcingRefresh isForced: Bool = false) async throws(AuthError) -> String {
        try await session(isForced: isForced).idToken
    }

    /// Returns an ID token and what it says.
    public func idTokenResult(forcingRefresh isForced: Bool = false) async throws(AuthError) -> IDTokenResult {
        let token = try await idToken(forcingRefresh: isForced)
        guard let result = IDTokenResult(token) else { throw .refused(Refusal(message: "INVALID_ID_TOKEN")) }
        return result
    }

    /// Loads the user's profile.
    public func reload() async throws(AuthError) {
        let users = try await call("v1/accounts:lookup", returning: LookupResponse.self) { _ in }.users
        guard let user = users?.first else { throw .refused(Refusal(message: "USER_NOT_FOUND")) }
        try await auth.keeper.update(Profile(user))
    }

    func session(isForced: Bool = false) async throws(AuthError) -> Session {
        guard auth.keeper.session?.profile.uid == uid else { throw .notSignedIn }
        let session = try await auth.keeper.refreshed(isForced: isForced)
        guard session.profile.uid == uid else { throw .notSignedIn }
        return session
    }

    /// Calls an operation of the signed-in user.
    ///
    /// If the service refuses the ID token, a refresh decides whether the session has ended.
    func call<Response: Decodable & Sendable>(
        _ operation: String,
        returning type: Response.Type = Response.self,
        _ fill: @Sendable (inout WireRequest) -> Void
    ) async throws(AuthError) -> Response {
        let idToken = try await idToken()
        do throws(AuthError) {
            return try await auth.api.call(operation, returning: type) {
                $0.idToken = idToken
                fill(&$0)
            }
        } catch {
            guard case .refused(let refusal) = error, Self.tokenErrors.contains(refusal.code) else { throw error }
            let renewed = try await self.idToken(forcingRefresh: true)
            return try await auth.api.call(operation, returning: type) {
                $0.idToken = renewed
                fill(&$0)
            }
        }
    }

    private static let tokenErrors: Set<AuthErrorCode> = [
        .userTokenExpired, .userDisabled, .userNotFound, .invalidIDToken,
    ]
}

/// An ID token and what it says.
///
/// The app trusts the service for it; a back end must verify tokens (IdentityServer).
public struct IDTokenResult: Sendable {
    public let token: String
    public let expirationDate: Date
    public let issuedAtDate: Date
    /// When the user last signed in; a refresh does not change it.
    public let authDate: Date
    /// Such as `password`, `google.com` or `anonymous`.
    public let signInProvider: String
    /// The ID of the session, as in ``UserSession/id``.
    public let sessionID: String?
    let uid: String
    private let payload: Data

    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])).map({ Data($0) }),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        else { return nil }
        self.token = token
        self.payload = payload
        self.uid = claims.sub
        self.expirationDate = Date(timeIntervalSince1970: claims.exp)
        self.issuedAtDate = Date(timeIntervalSince1970: claims.iat)
        self.authDate = Date(timeIntervalSince1970: claims.auth_time)
        self.signInProvider = claims.firebase.sign_in_provider
        self.sessionID = claims.firebase.sid
    }

    /// Decodes the claims, custom ones included: `try result.claims(as: MyClaims.self).role`.
    public func claims<Claims: Decodable>(as type: Claims.Type) throws -> Claims {
        try JSONDecoder().decode(type, from: payload)
    }

    private struct Claims: Decodable {
        struct Firebase: Decodable {
            var sign_in_provider: String
            var sid: String?
        }

        var sub: String
        var exp: Double
        var iat: Double
        var auth_time: Double
        var firebase: Firebase
    }
}
