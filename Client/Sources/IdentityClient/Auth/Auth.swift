public import Foundation
import IdentityCore

/// Signs users in to a project of the service, and keeps them signed in.
///
/// ```swift
/// let auth = try Auth(
///     url: URL(string: "https://auth.example.com")!,
///     apiKey: "AIza…",
///     storage: KeychainSessionStorage(service: "com.example.app")
/// )
/// let result = try await auth.signIn(withEmail: "ada@example.com", password: "correct horse")
/// request.setValue("Bearer \(try await result.user.idToken())", forHTTPHeaderField: "Authorization")
/// ```
public final class Auth: Sendable {
    let api: API
    let keeper: SessionKeeper

    /// Restores the session from the store, without a request.
    ///
    /// - Parameters:
    ///   - url: the service: https, or http on this machine.
    ///   - apiKey: names the project (`identity projects create` prints it). It is public.
    ///   - tenantID: nil for the users of the project itself.
    ///   - languageCode: of emails and SMS, such as `ja`; nil for the project's default.
    ///   - storage: where the session is kept, for this project and tenant only.
    /// - Throws: ``AuthError/storage(_:)`` if the store cannot be read, for example before the device is first
    ///   unlocked. A user may be signed in; try again.
    public init(
        url: URL,
        apiKey: String,
        tenantID: String? = nil,
        languageCode: String? = nil,
        storage: any SessionStorage
    ) throws(AuthError) {
        guard HTTP.isSecure(url) else { throw .invalidArgument("url must be https, or http on this machine") }
        self.api = API(url: url, apiKey: apiKey, tenantID: tenantID, languageCode: languageCode)
        let project = [url.absoluteString, apiKey, tenantID ?? ""].joined(separator: " ")
        do {
            self.keeper = try SessionKeeper(storage: storage, project: project, api: api)
        } catch {
            throw .storage(error)
        }
    }

    /// The signed-in user.
    public var currentUser: User? { keeper.session.map { User($0.profile, auth: self) } }

    /// The signed-in user now, and after each sign-in, sign-out and change of the profile.
    ///
    /// A refresh sends nothing.
    ///
    /// Several loops can read at the same time, each with a stream of its own.
    public var authStateChanges: AsyncStream<User?> {
        let changes = keeper.changes()
        return AsyncStream { continuation in
            let task = Task {
                var last: User?? = .none
                for await session in changes {
                    let user = session.map { User($0.profile, auth: self) }
                    guard last != .some(user) else { continue }
                    last = .some(user)
                    continuation.yield(user)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Why the session is in memory only, or could not be compared with the store; nil if the last attempt succeeded.
    public var storageError: SessionStorageError? { keeper.state.withLock { $0.storageError } }

    /// Takes over a sign-in or sign-out of another process that shares the store.
    ///
    /// Call it when an app becomes active.
    public func synchronize() async throws(AuthError) { try await keeper.synchronize() }

    /// Signs out: removes the session from the store, and then asks the service to end it.
    ///
    /// Offline, the user is signed out too; the service's session then ends by itself (`identity.sessionIdleDays`).
    /// - Throws: ``AuthError/storage(_:)`` if the record cannot be removed. The user is then still signed in.
    public func signOut() async throws(AuthError) {
        guard let session = keeper.session else { return }
        try await keeper.end()
        let idToken =
            session.isValid(for: .seconds(30)) ? session.idToken : try? await api.refresh(session.refreshToken).id_token
        guard let idToken else { return }
        let _: EmptyResponse? = try? await api.call("v1/accounts:signOut") { $0.idToken = idToken }
    }

    // MARK: Responses

    /// Signs in with the tokens of a response, or throws what is needed before there are any.
    func signedIn(
        _ response: SignInResponse,
        sentAt: Moment,
        credential: OAuthCredential? = nil
    ) async throws(AuthError) -> AuthDataResult {
        if let pending = response.mfaPendingCredential {
            throw .secondFactorRequired(
                MultiFactorResolver(auth: self, pendingCredential: pending, response.mfaInfo ?? [])
            )
        }
        var session = try self.session(of: response, sentAt: sentAt)
        let users = try? await api.call("v1/accounts:lookup", returning: LookupResponse.self) {
            $0.idToken = session.idToken
        }
        // A lost response to the lookup fails no sign-in: reload() gets the rest of the profile later.
        if let user = users?.users?.first { session.profile = Profile(user) }
        await keeper.adopt(session)
        return AuthDataResult(
            user: User(session.profile, auth: self),
            credential: credential,
            additionalUserInfo: AdditionalUserInfo(response)
        )
    }

    /// Takes the new tokens of a changed account, if there are any, and its new profile.
    func replaceTokens(of user: User, with response: SignInResponse, sentAt: Moment) async throws(AuthError) {
        if response.idToken != nil {
            _ = try await signedIn(response, sentAt: sentAt)
        } else {
            try await user.reload()
        }
    }

    private func session(of response: SignInResponse, sentAt: Moment) throws(AuthError) -> Session {
        guard let idToken = response.idToken, let refreshToken = response.refreshToken,
            let claims = IDTokenResult(idToken)
        else { throw .unavailable(Unavailability(reason: .response(status: 200))) }
        let lifetime = claims.expirationDate.timeIntervalSince(claims.issuedAtDate)
        return Session(
            refreshToken: refreshToken,
            idToken: idToken,
            // Second factors' responses do not state it.
            lifetime: response.expiresIn.flatMap { Int($0) } ?? Int(lifetime),
            receivedAt: sentAt,
            profile: Profile(uid: claims.uid, email: response.email)
        )
    }
}
